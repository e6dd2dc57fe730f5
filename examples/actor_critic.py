"""Actor and critic learn to walk along a corridor: actions drawn from a policy, returns, a loss of many small parts."""

import torch
import torch.nn.functional as F
from torch import nn

CELLS, LONGEST, EPISODES, REPORT_EVERY, DISCOUNT = 8, 24, 60, 15, 0.95


class Agent(nn.Module):
    """Probabilities of going left and right, and the value of a cell."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(CELLS, 32)
        self.policy, self.value = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return F.softmax(self.policy(h), dim=-1), self.value(h)


def episode(agent, cells):
    """Walk from the middle to the right end; return the logarithms of the probabilities, the values and the rewards."""
    place, logs, values, rewards = CELLS // 2, [], [], []
    while len(rewards) < LONGEST and place < CELLS - 1:
        probabilities, value = agent(cells[place])
        action = torch.multinomial(probabilities, 1).item()
        place = min(max(place + 2 * action - 1, 0), CELLS - 1)
        logs.append(probabilities[action].log())
        values.append(value[0])
        rewards.append(1.0 if place == CELLS - 1 else -0.1)
    return logs, values, rewards


def main():
    """Train, and print how many steps an episode takes."""
    torch.manual_seed(0)
    agent, cells = Agent(), torch.eye(CELLS)
    optimizer = torch.optim.RMSprop(agent.parameters(), lr=1e-2)
    steps = []
    for number in range(1, EPISODES + 1):
        logs, values, rewards = episode(agent, cells)
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + DISCOUNT * total
            returns.insert(0, total)
        returns = torch.tensor(returns)
        values = torch.stack(values)
        loss = -(torch.stack(logs) * (returns - values.detach())).sum() + F.smooth_l1_loss(values, returns, reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps.append(len(rewards))
        if number % REPORT_EVERY == 0:
            print(f"episode {number}  steps {sum(steps[-REPORT_EVERY:]) / REPORT_EVERY:.2f}")


if __name__ == "__main__":
    main()
