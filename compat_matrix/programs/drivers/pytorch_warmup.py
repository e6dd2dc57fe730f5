"""Learning rates that grow: warm-ups of several shapes beside a scheduler, over a real optimizer."""

import pytorch_warmup as warmup
import torch


def program():
    x = torch.randn(16, 3, dtype=torch.float64)
    kinds = {
        "linear": lambda o: warmup.LinearWarmup(o, 5),
        "exponential": lambda o: warmup.ExponentialWarmup(o, 5),
        "untuned linear": warmup.UntunedLinearWarmup,
        "untuned exponential": warmup.UntunedExponentialWarmup,
        "radam": warmup.RAdamWarmup,
    }
    for name, kind in kinds.items():
        torch.manual_seed(1)
        net = torch.nn.Linear(3, 1, dtype=torch.float64)
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.1, betas=(0.9, 0.9))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
        warm, rates = kind(optimizer), []
        for _ in range(8):
            optimizer.zero_grad()
            loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()
            with warm.dampening():
                schedule.step()
            rates.append(optimizer.param_groups[0]["lr"])
        yield name, loss, rates, sorted(k for k in warm.state_dict() if not k.startswith("_"))
