"""Engines with events, metrics and a supervised trainer."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Loss, MeanSquaredError
from torch.utils.data import DataLoader, TensorDataset


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(24, 4)
    net, criterion, seen = torch.nn.Linear(4, 1), torch.nn.MSELoss(), []
    loader = DataLoader(TensorDataset(x, (x @ torch.arange(4.0)).unsqueeze(1)), 8)
    trainer = create_supervised_trainer(net, torch.optim.SGD(net.parameters(), 0.05), criterion)
    evaluator = create_supervised_evaluator(net, {"mse": MeanSquaredError(), "loss": Loss(criterion)})

    @trainer.on(Events.EPOCH_COMPLETED)
    def _(engine):
        evaluator.run(loader)
        seen.append((engine.state.epoch, engine.state.output, dict(evaluator.state.metrics)))

    trainer.run(loader, max_epochs=3)
    yield "epochs", seen
    yield "weights", list(net.parameters())
