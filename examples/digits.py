"""Read handwritten digits with a network made of plain tensors: no modules, no optimizers.

Two layers, minibatches in a fresh random order every epoch, momentum and weights updated in
place, and a learning rate that decays from step to step. Standard output holds one line per
epoch and is the same in every run; the time it took goes to standard error.
"""

import pathlib
import sys
import time

import numpy as np
import torch

DATA = pathlib.Path(__file__).resolve().parent / "data" / "digits.npz"
HIDDEN, BATCH, EPOCHS = 64, 64, 20
LEARNING_RATE, DECAY, MOMENTUM = 0.2, 0.004, 0.9


def load(part):
    """Return the images of one part as rows of numbers from 0 to 1, and their labels."""
    with np.load(DATA) as arrays:
        pixels, labels = arrays[f"{part}_images"], arrays[f"{part}_labels"]
    images = torch.from_numpy(pixels.reshape(len(pixels), -1)).float() / 16
    return images, torch.from_numpy(labels.astype(np.int64))


def new_parameters(inputs, outputs):
    """Draw the weights of both layers, scaled by the number of their inputs; biases are zero."""
    w1 = torch.randn(inputs, HIDDEN) / inputs**0.5
    w2 = torch.randn(HIDDEN, outputs) / HIDDEN**0.5
    return [p.requires_grad_() for p in (w1, torch.zeros(HIDDEN), w2, torch.zeros(outputs))]


def classify(parameters, images):
    """Return a score for every image and digit."""
    w1, b1, w2, b2 = parameters
    return torch.tanh(images @ w1 + b1) @ w2 + b2


def cross_entropy(scores, labels):
    """Return the mean of -log p(label), p being the softmax of the scores."""
    log_p = scores - scores.logsumexp(dim=1, keepdim=True)
    return -log_p.gather(1, labels[:, None]).mean()


@torch.no_grad()
def update(parameters, speeds, learning_rate):
    """Take one step of gradient descent with momentum, and clear the gradients."""
    for parameter, speed in zip(parameters, speeds, strict=True):
        speed.mul_(MOMENTUM).add_(parameter.grad)
        parameter.sub_(speed, alpha=learning_rate)
        parameter.grad.zero_()


@torch.no_grad()
def accuracy(parameters, images, labels):
    """Return the share of images whose best score is that of their label."""
    return (classify(parameters, images).argmax(dim=1) == labels).float().mean().item()


def train(parameters, images, labels, held_out):
    """Go through the images `EPOCHS` times, reporting after each."""
    speeds = [torch.zeros_like(p) for p in parameters]
    steps = 0
    for epoch in range(1, EPOCHS + 1):
        total = 0.0
        order = torch.randperm(len(images))
        for start in range(0, len(images), BATCH):
            rows = order[start : start + BATCH]
            loss = cross_entropy(classify(parameters, images[rows]), labels[rows])
            total += loss.item() * len(rows)
            loss.backward()
            update(parameters, speeds, LEARNING_RATE / (1 + DECAY * steps))
            steps += 1
        correct = accuracy(parameters, *held_out)
        print(f"epoch {epoch:2d}  loss {total / len(images):.3e}  held-out accuracy {correct:.4f}")


def main():
    """Train, then score the digits held out."""
    torch.manual_seed(0)
    began = time.perf_counter()
    images, labels = load("train")
    held_out = load("test")
    parameters = new_parameters(images.shape[1], 10)
    train(parameters, images, labels, held_out)
    print(f"final held-out accuracy {accuracy(parameters, *held_out):.4f}")
    print(f"{time.perf_counter() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
