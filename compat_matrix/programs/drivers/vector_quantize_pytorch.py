"""Codes of vectors of several kinds, learnt and looked up."""

import torch
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize


def program():
    torch.manual_seed(0)
    for make, width in ((lambda: VectorQuantize(dim=8, codebook_size=16, kmeans_init=True, kmeans_iters=2), 8), (lambda: FSQ([8, 5, 5]), 3),
                        (lambda: VectorQuantize(dim=8, codebook_size=16, use_cosine_sim=True), 8), (lambda: LFQ(codebook_size=16, dim=4), 4),
                        (lambda: ResidualVQ(dim=8, num_quantizers=2, codebook_size=16), 8)):
        torch.manual_seed(0)
        code, x = make(), torch.randn(1, 10, width, requires_grad=True)
        out = list(code(x))
        (gradient,) = torch.autograd.grad(out[0].pow(2).sum(), x)
        yield type(code).__name__, [part for part in out if torch.is_tensor(part)], gradient
