"""Maps of what a classifier looks at: activations and gradients taken by hooks, scores of masked inputs."""

import torch
from torch import nn
from torchcam.methods import CAM, SSCAM, GradCAM, GradCAMpp, LayerCAM, ScoreCAM, SmoothGradCAMpp, XGradCAM


def program():
    torch.set_default_dtype(torch.float64)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)).eval()
    x = torch.rand(1, 3, 12, 12)
    methods = [(CAM, {"fc_layer": "6"}), (GradCAM, {}), (GradCAMpp, {}), (SmoothGradCAMpp, {"num_samples": 2}), (ScoreCAM, {}), (SSCAM, {"num_samples": 2}),
               (LayerCAM, {}), (XGradCAM, {})]
    for kind, more in methods:
        with kind(net, target_layer="2", input_shape=(3, 12, 12), **more) as seen:
            scores = net(x.clone().requires_grad_())
            yield kind.__name__, scores, seen(scores[0].argmax().item(), scores), seen(1, scores, normalized=False) if kind is CAM else None
        yield "hooks left", len(net[2]._forward_hooks), len(net[2]._forward_pre_hooks)
    with LayerCAM(net, ["0", "2"]) as seen:
        scores = net(x.clone().requires_grad_())
        maps = seen(2, scores)
        yield "two layers", maps, LayerCAM.fuse_cams(maps)
