"""A language model with an LSTM: embeddings, state carried over, clipped gradients, text drawn from the model."""

import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog while the dog sleeps under the old brown tree. " * 12
LENGTH, ROWS, EPOCHS, HIDDEN = 24, 8, 12, 48


class Model(nn.Module):
    """Characters in, scores of the next character out."""

    def __init__(self, characters):
        super().__init__()
        self.embedding = nn.Embedding(characters, 16)
        self.lstm = nn.LSTM(16, HIDDEN, num_layers=2, batch_first=True, dropout=0.1)
        self.scores = nn.Linear(HIDDEN, characters)

    def forward(self, x, state=None):
        h, state = self.lstm(self.embedding(x), state)
        return self.scores(h), state


def main():
    """Train on one text, then let the model write."""
    torch.manual_seed(0)
    characters = sorted(set(TEXT))
    data = torch.tensor([characters.index(c) for c in TEXT])
    width = (len(data) - 1) // ROWS // LENGTH * LENGTH
    inputs, targets = data[: ROWS * width].view(ROWS, width), data[1 : ROWS * width + 1].view(ROWS, width)
    model = Model(len(characters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, EPOCHS + 1):
        state, total = None, 0.0
        for start in range(0, width, LENGTH):
            optimizer.zero_grad()
            scores, state = model(inputs[:, start : start + LENGTH], state)
            state = tuple(s.detach() for s in state)
            loss = criterion(scores.reshape(-1, len(characters)), targets[:, start : start + LENGTH].reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2}  loss {total / (width // LENGTH):.2f}")
    model.eval()
    text, state = [characters.index("t")], None
    with torch.no_grad():
        for _ in range(20):
            scores, state = model(torch.tensor([text[-1:]]), state)
            text.append(scores[0, -1].argmax().item())
    print("".join(characters[i] for i in text))


if __name__ == "__main__":
    main()
