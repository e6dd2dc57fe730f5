"""Losses, parameter counts, configurations and schedules."""

import torch
from fvcore.common.config import CfgNode
from fvcore.common.param_scheduler import CompositeParamScheduler, CosineParamScheduler, LinearParamScheduler
from fvcore.nn import giou_loss, parameter_count, sigmoid_focal_loss, smooth_l1_loss
from fvcore.nn.precise_bn import update_bn_stats


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(3, dtype=torch.float32, requires_grad=True)  # the losses reckon in that
    for name, loss in (("focal", sigmoid_focal_loss(x, torch.tensor([0.0, 1.0, 1.0], dtype=torch.float32), 0.25, 2.0, "sum")),
                       ("smooth", smooth_l1_loss(x, torch.zeros(3, dtype=torch.float32), 0.1, "mean"))):
        yield name, loss, torch.autograd.grad(loss, x)
    yield "boxes", giou_loss(torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([[0.5, 0.5, 2.0, 2.0]]))
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    yield "counts", dict(parameter_count(net))
    update_bn_stats(net, (torch.randn(2, 3, 5, 5) for _ in range(3)), 3)
    yield "statistics", net[1].running_mean, net[1].running_var
    schedule = CompositeParamScheduler([LinearParamScheduler(0.1, 1.0), CosineParamScheduler(1.0, 0.0)], [0.25, 0.75], ["rescaled", "rescaled"])
    yield "schedule", [schedule(i / 8) for i in range(8)]
    yield "settings", str(CfgNode({"a": 1, "b": {"c": 2}}))
