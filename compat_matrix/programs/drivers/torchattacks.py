"""Attacks on a small classifier: gradients of the inputs, projections, searches and an optimizer of its own."""

import torch
import torchattacks
from torch import nn

STEPS = {"PGD": {}, "BIM": {}, "CW": {}, "DeepFool": {}, "MIFGSM": {}, "NIFGSM": {}, "TPGD": {}, "PGDL2": {}, "APGD": {}, "EOTPGD": {}, "Jitter": {},
         "VMIFGSM": {"N": 2}, "DIFGSM": {}, "SINIFGSM": {}, "FAB": {"n_classes": 5}, "APGDT": {"n_classes": 5}, "RFGSM": {}}


def program():
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64, 5)).eval()
    x, y = torch.rand(3, 3, 8, 8), torch.tensor([0, 3, 1])
    for name, more in STEPS.items():
        torch.manual_seed(1)
        attack = getattr(torchattacks, name)(net, steps=2, **more)
        found = attack(x, y)
        yield name, str(attack), found, net(found).argmax(1)
    for name in ("FGSM", "FFGSM", "GN"):
        torch.manual_seed(1)
        attack = getattr(torchattacks, name)(net)
        yield name, attack(x, y)
    both = torchattacks.MultiAttack([torchattacks.FGSM(net), torchattacks.PGD(net, steps=2, random_start=False)])
    yield "one after the other", both(x, y)
    attack = torchattacks.PGD(net, steps=2, random_start=False)
    attack.set_mode_targeted_by_label()
    yield "targeted", attack(x, (y + 1) % 5)
    attack.set_normalization_used(mean=[0.4, 0.5, 0.6], std=[0.2, 0.2, 0.3])
    yield "normalized", attack(x, y), attack.get_mode()
