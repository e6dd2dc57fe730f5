"""Positions as rotations of queries and keys: with decay, on axes, at a distance."""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb


def program():
    q, k = torch.randn(1, 2, 6, 8, requires_grad=True), torch.randn(1, 2, 6, 8, requires_grad=True)
    plain = RotaryEmbedding(dim=4)
    yield "plain", plain.rotate_queries_or_keys(q), plain.rotate_queries_or_keys(k, offset=3)
    decaying = RotaryEmbedding(dim=8, use_xpos=True)
    a, b = decaying.rotate_queries_and_keys(q, k)
    yield "decaying", a, b, torch.autograd.grad((a * b).sum(), (q, k))
    axial = RotaryEmbedding(dim=4, freqs_for="pixel", max_freq=16)
    image = torch.randn(1, 3, 4, 8, requires_grad=True)
    turned = apply_rotary_emb(axial.get_axial_freqs(3, 4), image)
    yield "axes", turned, torch.autograd.grad(turned.square().sum() + turned.sum(), image)
    learned = RotaryEmbedding(dim=4, learned_freq=True)
    learned.rotate_queries_or_keys(q).square()[..., 0].sum().backward()
    yield "learned", [p.grad for p in learned.parameters()]
