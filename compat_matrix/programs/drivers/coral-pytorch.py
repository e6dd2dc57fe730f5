"""Losses and layers for ordered classes."""

import torch
from coral_pytorch.dataset import corn_label_from_logits, levels_from_labelbatch, proba_to_label
from coral_pytorch.layers import CoralLayer
from coral_pytorch.losses import CoralLoss, CornLoss, coral_loss, corn_loss


def program():
    torch.set_default_dtype(torch.float64)
    x, y = torch.randn(8, 3), torch.randint(0, 5, (8,))
    levels = levels_from_labelbatch(y, 5, dtype=torch.float64)
    layer = CoralLayer(3, 5)
    logits = layer(x)
    weighted = coral_loss(logits, levels, importance_weights=torch.arange(1.0, 5), reduction="sum")
    for name, loss in (("coral", CoralLoss()(logits, levels)), ("weighted", weighted)):
        yield name, loss, *torch.autograd.grad(loss, layer.parameters(), retain_graph=True)
    yield "levels", levels, proba_to_label(logits.sigmoid())
    head = torch.nn.Linear(3, 4)
    out = head(x)
    yield "corn", corn_loss(out, y, 5), CornLoss(5)(out, y), *torch.autograd.grad(corn_loss(out, y, 5), head.parameters()), corn_label_from_logits(out)
