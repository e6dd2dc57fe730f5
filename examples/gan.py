"""A Wasserstein GAN with a gradient penalty: a gradient inside the loss, two optimizers, points around a centre."""

import torch
from torch import nn

STEPS, REPORT_EVERY, CRITIC_STEPS, BATCH, NOISE = 40, 10, 4, 64, 4
CENTRE = (2.0, -1.0)


def real_points(n):
    """Draw points around the centre."""
    return torch.tensor(CENTRE) + 0.3 * torch.randn(n, 2)


def penalty(critic, real, fake):
    """Return how far the critic's slope is from one between real and made points."""
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


def main():
    """Train both networks and print how far the middle of what is made is from the centre."""
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(NOISE, 32), nn.ReLU(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    make = torch.optim.Adam(generator.parameters(), lr=5e-3, betas=(0.5, 0.9))
    judge = torch.optim.Adam(critic.parameters(), lr=5e-3, betas=(0.5, 0.9))
    for step in range(1, STEPS + 1):
        for _ in range(CRITIC_STEPS):
            real, fake = real_points(BATCH), generator(torch.randn(BATCH, NOISE)).detach()
            judge.zero_grad()
            loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
            loss.backward()
            judge.step()
        make.zero_grad()
        (-critic(generator(torch.randn(BATCH, NOISE))).mean()).backward()
        make.step()
        if step % REPORT_EVERY == 0:
            with torch.no_grad():
                distance = (generator(torch.randn(500, NOISE)).mean(0) - torch.tensor(CENTRE)).norm()
            print(f"step {step:3}  critic {loss.item():.2f}  distance {distance.item():.2f}")


if __name__ == "__main__":
    main()
