"""A variational autoencoder of handwritten digits: two losses, random numbers inside the model."""

import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

DATA = pathlib.Path(__file__).parent / "data" / "digits.npz"
EPOCHS, BATCH, LATENT, HIDDEN = 8, 64, 6, 64


class VAE(nn.Module):
    """An encoder to means and log-variances, and a decoder from a draw."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(HIDDEN, LATENT), nn.Linear(HIDDEN, LATENT)
        self.decode = nn.Sequential(nn.Linear(LATENT, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 64), nn.Sigmoid())

    def forward(self, x):
        h = self.encode(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decode(z), mean, log_variance


def losses(model, x):
    """Return the reconstruction loss and the divergence, summed over the batch."""
    y, mean, log_variance = model(x)
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return F.binary_cross_entropy(y, x, reduction="sum"), divergence


def main():
    """Train and print both losses."""
    torch.manual_seed(0)
    with np.load(DATA) as arrays:
        images = torch.from_numpy(arrays["train_images"]).float().reshape(-1, 64) / 16
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(1, EPOCHS + 1):
        order = torch.randperm(len(images))
        totals = [0.0, 0.0]
        for start in range(0, len(images) - BATCH + 1, BATCH):
            reconstruction, divergence = losses(model, images[order[start : start + BATCH]])
            optimizer.zero_grad()
            (reconstruction + divergence).backward()
            optimizer.step()
            totals[0] += reconstruction.item()
            totals[1] += divergence.item()
        n = len(images) // BATCH * BATCH
        print(f"epoch {epoch}  reconstruction {totals[0] / n:.1f}  divergence {totals[1] / n:.1f}")


if __name__ == "__main__":
    main()
