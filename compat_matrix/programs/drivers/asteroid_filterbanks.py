"""Filterbanks that encode and decode sound: free ones, of sines, of windows, trained."""

import torch
from asteroid_filterbanks import make_enc_dec


def program():
    wave = torch.randn(1, 1, 96)
    for name, sizes in (("free", (8, 16, 8)), ("stft", (32, 32, 16)), ("param_sinc", (8, 17, 8)), ("analytic_free", (8, 16, 8))):
        encode, decode = make_enc_dec(name, *sizes)
        seen = encode(wave)
        out = decode(seen)
        loss = out.square().mean() + seen.abs().mean()
        params = [p for p in (*encode.parameters(), *decode.parameters()) if p.requires_grad]
        yield name, seen, out, loss.detach(), torch.autograd.grad(loss, params) if params else None
