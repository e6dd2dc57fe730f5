"""Losses and miners over embeddings."""

import torch
from pytorch_metric_learning import losses, miners

LOSSES = ["TripletMarginLoss", "ContrastiveLoss", "NTXentLoss", "MultiSimilarityLoss", "CircleLoss", "SupConLoss", "AngularLoss",
          "NPairsLoss", "LiftedStructureLoss", "FastAPLoss", "MarginLoss", "GeneralizedLiftedStructureLoss",
          "IntraPairVarianceLoss", "SignalToNoiseRatioContrastiveLoss", "TupletMarginLoss"]


def program():
    torch.set_default_dtype(torch.float64)
    x, target = torch.randn(12, 6, requires_grad=True), torch.arange(12) % 4
    for name in LOSSES:
        loss = getattr(losses, name)()(x, target)
        yield name, loss, torch.autograd.grad(loss, x)[0]
    for name in ("ArcFaceLoss", "ProxyNCALoss", "SoftTripleLoss", "CosFaceLoss"):
        loss = getattr(losses, name)(4, 6)(x, target)
        yield name, loss, torch.autograd.grad(loss, x)[0]
    for name in ("MultiSimilarityMiner", "TripletMarginMiner", "BatchHardMiner"):
        yield name, getattr(miners, name)()(x, target)
