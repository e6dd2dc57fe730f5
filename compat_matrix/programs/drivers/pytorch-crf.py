"""A conditional random field: likelihood, gradients, best paths."""

import torch
from torchcrf import CRF


def program():
    torch.set_default_dtype(torch.float64)
    field, scores, tags = CRF(4), torch.randn(5, 2, 4, requires_grad=True), torch.randint(0, 4, (5, 2))
    mask = torch.tensor([[1, 1], [1, 1], [1, 1], [1, 0], [1, 0]], dtype=torch.bool)
    loss = -field(scores, tags, mask=mask)
    loss.backward()
    yield "loss", loss, scores.grad, [p.grad for p in field.parameters()]
    yield "paths", field.decode(scores.detach(), mask=mask)
