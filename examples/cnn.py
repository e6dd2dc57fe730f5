"""Read handwritten digits with a small convolutional network: modules, Adam, a data loader, a schedule, and a file of weights."""

import io
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DATA = pathlib.Path(__file__).parent / "data" / "digits.npz"
EPOCHS, BATCH = 5, 48


class Net(nn.Module):
    """Two convolutions and two linear layers over images of 8 by 8."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 12, 3, padding=1, bias=False)  # the next layer takes the mean away
        self.norm = nn.BatchNorm2d(12)
        self.second = nn.Conv2d(12, 24, 3, padding=1)
        self.drop = nn.Dropout(0.2)
        self.hidden = nn.Linear(24 * 2 * 2, 48)
        self.scores = nn.Linear(48, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.scores(self.drop(F.relu(self.hidden(torch.flatten(x, 1)))))


def load(part):
    """Return the images of one part, numbers from 0 to 1, and their labels."""
    with np.load(DATA) as arrays:
        pixels, labels = arrays[f"{part}_images"], arrays[f"{part}_labels"]
    return torch.from_numpy(pixels).float().unsqueeze(1) / 16, torch.from_numpy(labels).long()


def accuracy(net, images, labels):
    """Return the share of the images that are read."""
    net.eval()
    with torch.no_grad():
        right = (net(images).argmax(1) == labels).float().mean().item()
    net.train()
    return right


def main():
    """Train, save, load, and read the held-out digits."""
    torch.manual_seed(0)
    training, held_out = TensorDataset(*load("train")), load("test")
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, EPOCHS + 1):
        total = 0.0
        for x, y in DataLoader(training, batch_size=BATCH, shuffle=True):
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        schedule.step()
        print(f"epoch {epoch}  loss {total / len(training):.2f}  held-out accuracy {accuracy(net, *held_out):.2f}")
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    again = Net()
    print(again.load_state_dict(torch.load(file)))
    print(f"after loading {accuracy(again, *held_out):.2f}")


if __name__ == "__main__":
    main()
