"""`set_float32_matmul_precision` and the switches of torch.backends reach the programs that are compiled, whatever was traced before."""

import re

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import compiling, execute, precision, worth

B = torch.backends


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """The jaxprs of every program on its way to the compiler; everything is compiled, and what programs said is forgotten afterwards."""
    caught = []
    suited = compiling.suited

    def seen(jaxpr):
        caught.append(str(jaxpr))
        return suited(jaxpr)

    monkeypatch.setattr(compiling, "suited", seen)
    monkeypatch.setattr(worth, "waits", lambda p: False)
    said = precision._said
    yield caught
    precision._adopt(said)


def _of(caught, primitive):
    """The precisions of all equations of a primitive in what was caught, which is forgotten."""
    text = "\n".join(caught)
    caught.clear()
    found = re.findall(rf"\b{primitive}\[(.*?)\n\s*\]", text, re.DOTALL)
    return {m for params in found for m in re.findall(r"precision=(\w+|\(.*?\))", params)}


def _layers(rows=3):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 4, generator=g).requires_grad_()
    w = torch.randn(4, 4, generator=g).requires_grad_()
    y = torch.nn.functional.linear(x, w).tanh() @ w + torch.einsum("ij,jk->ik", x, w) + torch.addmm(x, x, w)
    gx, gw = torch.autograd.grad(y.square().sum(), (x, w), create_graph=True)
    (gx.sum() + gw.square().sum()).backward()
    q = torch.ones(1, 1, rows, 4, requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(q, q, q).square().sum().backward()
    return x.grad.tolist(), w.grad.tolist(), q.grad.tolist()


def test_products(compiled):
    plain = _layers()
    assert _of(compiled, "dot_general") == {"(Precision.HIGHEST, Precision.HIGHEST)"}
    for said, meant in (("high", "HIGH"), ("medium", "DEFAULT")):
        torch.set_float32_matmul_precision(said)
        assert torch.get_float32_matmul_precision() == said
        assert _layers() == plain  # a CPU computes in float32
        assert _of(compiled, "dot_general") == {f"(Precision.{meant}, Precision.{meant})"}


def test_switches_of_products(compiled):
    _layers()
    compiled.clear()
    for rows, allow in enumerate((lambda: setattr(B.cuda.matmul, "allow_tf32", True), lambda: setattr(B.cuda.matmul, "fp32_precision", "tf32"),
                  lambda: setattr(B.cudnn, "fp32_precision", "tf32"), lambda: setattr(B, "fp32_precision", "tf32")), 4):
        allow()
        _layers(rows)
        assert _of(compiled, "dot_general") == {"(Precision.HIGH, Precision.HIGH)"}
        B.fp32_precision = B.cudnn.fp32_precision = B.cuda.matmul.fp32_precision = "none"
        _layers(rows)
        assert _of(compiled, "dot_general") == {"(Precision.HIGHEST, Precision.HIGHEST)"}


def _convolution():
    x = torch.ones(1, 2, 6, 6, requires_grad=True)
    w = torch.ones(3, 2, 3, 3, requires_grad=True)
    torch.nn.functional.conv2d(x, w, padding=1).square().sum().backward()
    return x.grad.sum().item(), w.grad.sum().item()


def _lstm():
    torch.manual_seed(0)
    net = torch.nn.LSTM(3, 4)
    net(torch.ones(5, 2, 3))[0].sum().backward()
    return net.weight_hh_l0.grad.tolist()


@pytest.mark.parametrize(("run", "op", "primitive"), [(_convolution, "conv", "conv_general_dilated"), (_lstm, "rnn", "dot_general")])
def test_convolutions_and_recurrent_layers_round_where_a_program_says_so(compiled, run, op, primitive):
    plain = run()
    assert getattr(B.cudnn, op).fp32_precision == "tf32"  # allowed from the start, as in PyTorch, and not made use of
    assert _of(compiled, primitive) == {"(Precision.HIGHEST, Precision.HIGHEST)"}
    torch.set_float32_matmul_precision("high")
    assert run() == plain
    assert _of(compiled, primitive) == {"(Precision.HIGHEST, Precision.HIGHEST)"}
    B.cudnn.allow_tf32 = True
    assert run() == plain
    assert _of(compiled, primitive) == {"(Precision.HIGH, Precision.HIGH)"}
    getattr(B.cudnn, op).fp32_precision = "ieee"
    assert run() == plain
    assert _of(compiled, primitive) == {"(Precision.HIGHEST, Precision.HIGHEST)"}


def test_what_is_said_again_forgets_nothing(compiled):
    torch.set_float32_matmul_precision("high")
    _layers()
    compiled.clear()
    torch.set_float32_matmul_precision("high")
    B.cuda.matmul.allow_tf32 = True
    B.cudnn.benchmark = True
    B.mkldnn.matmul.fp32_precision = "bf16"  # of PyTorch's CPU kernels
    B.cudnn.conv.fp32_precision = "none"
    before = execute.stats["compiles"]
    _layers()
    assert execute.stats["compiles"] == before and not compiled


def test_what_was_compiled_comes_back_with_its_precision(compiled):
    for name in ("highest", "high"):
        torch.set_float32_matmul_precision(name)
        _layers()
    compiled.clear()
    before = execute.stats["compiles"]
    for name in ("highest", "high", "highest"):
        torch.set_float32_matmul_precision(name)
        _layers()
    assert execute.stats["compiles"] == before and not compiled


def test_what_was_recorded_before_keeps_its_precision(compiled):
    x = torch.full((2, 2), 3.0)
    y = x @ x
    torch.set_float32_matmul_precision("high")
    assert y.tolist() == [[18.0, 18.0], [18.0, 18.0]]
    assert "Precision.HIGH," not in "\n".join(compiled)
