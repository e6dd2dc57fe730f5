"""Attention with projected keys."""

import torch
from linformer import Linformer, LinformerLM


def program():
    torch.set_default_dtype(torch.float64)
    net = Linformer(dim=8, seq_len=12, depth=2, heads=2, k=4, one_kv_head=True, share_kv=True)
    x = torch.randn(2, 12, 8, requires_grad=True)
    out = net(x)
    yield "out", out, torch.autograd.grad(out.pow(2).mean(), x)[0]
    model = LinformerLM(num_tokens=11, dim=8, seq_len=12, depth=1, heads=2, k=4)
    tokens = torch.randint(0, 11, (2, 12))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(3):
        loss = torch.nn.functional.cross_entropy(model(tokens).transpose(1, 2), tokens.roll(-1, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss
