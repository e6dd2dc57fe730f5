"""A small GPT learns to reverse rows of letters: attention with a causal mask, two groups of parameters, text drawn from the model."""

import math

import torch
import torch.nn.functional as F
from torch import nn

LETTERS, LENGTH, WIDTH, HEADS, LAYERS = 8, 5, 32, 4, 2
CONTEXT, STEPS, REPORT_EVERY, BATCH, RATE = 2 * LENGTH, 100, 20, 64, 3e-3


class Attention(nn.Module):
    """Each place looks at those before it."""

    def __init__(self):
        super().__init__()
        self.inputs, self.output = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.tril(torch.ones(CONTEXT, CONTEXT)).view(1, 1, CONTEXT, CONTEXT))

    def forward(self, x):
        rows, length, width = x.size()
        q, k, v = (t.view(rows, length, HEADS, width // HEADS).transpose(1, 2) for t in self.inputs(x).split(width, dim=2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // HEADS)
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        return self.output((F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(rows, length, width))


class Block(nn.Module):
    """Attention, then a network for each place, both on top of what was there."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(2)])
        self.attention = Attention()
        self.network = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.network(self.norms[1](x))


class GPT(nn.Module):
    """Scores of the next letter at every place."""

    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS, bias=False)
        self.apply(self.initialize)

    @staticmethod
    def initialize(module):
        """Draw small weights."""
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.05)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.letters(x) + self.places(torch.arange(x.size(1)))
        return self.scores(self.norm(self.blocks(x)))


def batch():
    """Draw rows of letters, each followed by itself reversed."""
    row = torch.randint(LETTERS, (BATCH, LENGTH))
    return torch.cat([row, row.flip(1)], dim=1)


def main():
    """Train, then complete a row."""
    torch.manual_seed(0)
    model = GPT()
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}], lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
    for step in range(1, STEPS + 1):
        rows = batch()
        scores = model(rows[:, :-1])[:, LENGTH - 1 :]
        loss = F.cross_entropy(scores.reshape(-1, LETTERS), rows[:, LENGTH:].reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % REPORT_EVERY == 0:
            print(f"step {step:3}  loss {loss.item():.2f}")
    model.eval()
    rows = batch()
    with torch.no_grad():
        right = (model(rows[:, :-1])[:, LENGTH - 1 :].argmax(-1) == rows[:, LENGTH:]).float().mean()
    print(f"share of letters in their place {right.item():.2f}")


if __name__ == "__main__":
    main()
