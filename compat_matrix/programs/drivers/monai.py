"""Losses and networks for medical images, and transforms that keep track of where they were."""

import numpy as np
import torch
from monai.losses import DiceCELoss, DiceLoss, FocalLoss, GeneralizedDiceLoss, TverskyLoss
from monai.metrics import DiceMetric
from monai.networks.nets import SegResNet, UNet, ViT
from monai.transforms import Compose, EnsureChannelFirst, NormalizeIntensity, RandFlip, RandGaussianNoise, Resize, ScaleIntensity


def program():
    answer, truth = torch.randn(2, 2, 6, 6, dtype=torch.float64, requires_grad=True), torch.randint(0, 2, (2, 1, 6, 6))
    for loss in (DiceLoss(to_onehot_y=True, softmax=True), GeneralizedDiceLoss(to_onehot_y=True, softmax=True), TverskyLoss(to_onehot_y=True, softmax=True),
                 FocalLoss(to_onehot_y=True), DiceCELoss(to_onehot_y=True, softmax=True)):
        value = loss(answer, truth)
        yield type(loss).__name__, value, torch.autograd.grad(value, answer)[0].abs().sum().float()  # a loss may be computed in float32
    metric = DiceMetric()
    metric((answer > 0).double(), torch.cat([1 - truth, truth], 1))
    yield "metric", metric.aggregate()
    change = Compose([EnsureChannelFirst(channel_dim="no_channel"), ScaleIntensity(), RandFlip(0.5, 0), RandGaussianNoise(0.5), NormalizeIntensity(),
                      Resize((6, 6))])
    change.set_random_state(0)
    out = change(np.arange(100.0, dtype=np.float32).reshape(10, 10))
    yield "transforms", type(out).__name__, out.as_tensor()
    torch.set_default_dtype(torch.float64)
    for name, make, size in (("unet", lambda: UNet(2, 1, 2, (2, 4), (2,), num_res_units=1), 8),
                             ("segresnet", lambda: SegResNet(2, init_filters=2, in_channels=1, blocks_down=(1, 1), blocks_up=(1,),
                                                              norm=("GROUP", {"num_groups": 2})), 8),
                             ("vit", lambda: ViT(1, (8, 8), (4, 4), hidden_size=12, mlp_dim=8, num_layers=1, num_heads=2, spatial_dims=2), 8)):
        torch.manual_seed(0)
        net = make()
        out = net(torch.randn(1, 1, size, size))
        out = out[0] if isinstance(out, tuple) else out
        out.pow(2).mean().backward()
        yield name, out.sum(), sum(p.grad.abs().sum() for p in net.parameters() if p.grad is not None)
