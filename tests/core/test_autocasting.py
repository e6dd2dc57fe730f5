"""Functions that PyTorch composes are cast by what they do, not by what they call: products of matrices in half precision, sums by names alone not."""

import pytest

import torchlike_autograd as torch

A, B, C = torch.ones(2, 3), torch.ones(3, 2), torch.ones(2, 3, 3)


@pytest.mark.parametrize(("call", "expected"), [
    (lambda: torch.einsum("ij,jk->ik", A, B), "bfloat16"), (lambda: torch.einsum("ij,jk->ik", [A, B]), "bfloat16"),
    (lambda: torch.einsum(A, [0, 1], B, [1, 2], [0, 2]), "bfloat16"), (lambda: torch.einsum("ij->ji", A), "float32"),
    (lambda: torch.einsum("ij,ij->ij", A, A), "float32"), (lambda: torch.nn.functional.bilinear(A, A, C), "float32"),
    (lambda: torch.chain_matmul(A, B), "bfloat16"), (lambda: torch.linalg.multi_dot([A, B]), "bfloat16"), (lambda: A @ B, "bfloat16"),
    (lambda: torch.nn.functional.mse_loss(A.half(), A), "float32")])
def test_dtype(call, expected):
    with torch.autocast("cpu"):
        assert str(call().dtype) == f"torch.{expected}"
