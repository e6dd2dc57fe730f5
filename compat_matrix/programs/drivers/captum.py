"""What an answer is owed to: gradients, paths, baselines, occlusion, layers."""

import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    NoiseTunnel,
    Occlusion,
    Saliency,
)


def program():
    torch.set_default_dtype(torch.float64)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32, 3))
    x = torch.randn(2, 1, 6, 6)
    for method in (IntegratedGradients, Saliency, DeepLift, InputXGradient, GuidedBackprop):
        yield method.__name__, method(net).attribute(x, target=1)
    yield "delta", IntegratedGradients(net).attribute(x, target=0, n_steps=5, method="riemann_trapezoid", return_convergence_delta=True)
    yield "occlusion", Occlusion(net).attribute(x, (1, 3, 3), target=0)
    yield "ablation", FeatureAblation(net).attribute(x, target=0, feature_mask=(torch.arange(36) // 9).reshape(1, 1, 6, 6))
    yield "gradcam", LayerGradCam(net, net[0]).attribute(x, target=0)
    yield "conductance", LayerConductance(net, net[1]).attribute(x, target=0, n_steps=4)
    torch.manual_seed(0)
    yield "noise", NoiseTunnel(Saliency(net)).attribute(x, nt_samples=2, target=2)
