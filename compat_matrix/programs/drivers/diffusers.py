"""Schedulers a few steps each, and small networks."""

import diffusers
import torch

SCHEDULERS = ("DDPMScheduler", "DDIMScheduler", "EulerDiscreteScheduler", "PNDMScheduler", "DPMSolverMultistepScheduler", "HeunDiscreteScheduler",
              "UniPCMultistepScheduler", "FlowMatchEulerDiscreteScheduler")


def program():
    for name in SCHEDULERS:
        torch.manual_seed(0)
        scheduler = getattr(diffusers, name)()
        scheduler.set_timesteps(4)
        x = torch.randn(1, 2, 4, 4)
        for step in scheduler.timesteps:
            scaled = scheduler.scale_model_input(x, step) if hasattr(scheduler, "scale_model_input") else x
            x = scheduler.step(torch.sin(scaled), step, x).prev_sample
        yield name, x, scheduler.timesteps
    torch.set_default_dtype(torch.float64)
    net = diffusers.UNet2DModel(sample_size=8, in_channels=1, out_channels=1, block_out_channels=(4, 8), layers_per_block=1, norm_num_groups=2,
                                down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4)
    out = net(torch.randn(2, 1, 8, 8), torch.tensor([3, 5])).sample
    out.pow(2).mean().backward()
    yield "network", out, sum(p.grad.abs().sum() for p in net.parameters() if p.grad is not None)
    code = diffusers.AutoencoderKL(block_out_channels=(4,), norm_num_groups=2, latent_channels=2, layers_per_block=1)
    yield "autoencoder", code(torch.randn(1, 3, 8, 8)).sample
