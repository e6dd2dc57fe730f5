"""Signs of zero as they are printed, and values at the edges of small computations."""

from compat_matrix.case import case
from compat_matrix.probes import each, evaluate

COMPLEX = {
    "real": "z.real * 2", "imag": "z.imag", "abs squared": "z[:3].abs() ** 2", "sum": "z.sum()", "twice": "(z * 2).real", "negated": "-z", "less": "1 - z",
    "mean": "z.mean()", "by number": "z * (1 + 1j)", "half": "z / 2", "index": "z[:2]", "cumsum": "z.cumsum(0)", "cat": "torch.cat([z, z])", "flip": "z.flip(0)",
    "exp": "z.exp()", "parts": "z.real ** 2 + z.imag ** 2", "complex": "torch.complex(z.real, z.imag)", "where": "torch.where(z.real > 0, z, z * 0)",
    "euler": "(1j * z.real).exp()", "conj": "z.conj()", "by its conj": "(z * z.conj()).real", "reals": "z * torch.arange(4.0)", "norm": "z[:3].norm()",
    "view": "torch.view_as_real(z)",
}


def gradient(torch, expression):
    z = torch.tensor([1 + 2j, 1 - 0.5j, 3, 0], requires_grad=True)
    out = evaluate(torch, expression, z=z)
    (out.real if out.is_complex() else out).sum().backward()
    yield "printed", str(z.grad)


each("everyday.complex signs", gradient, COMPLEX)


@case("everyday.complex parts")
def _(torch):
    inf = float("inf")
    for a, b in ((0.0, inf), (inf, 0.0), (-0.0, -0.0), (1.0, -inf), (float("nan"), 1.0)):
        yield f"{a} {b}", str(torch.complex(torch.tensor(a), torch.tensor(b)))


@case("everyday.smallest integers")
def _(torch):
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        least = torch.iinfo(dtype).min
        x = torch.tensor([least, least + 1, -7, 7, -least - 1], dtype=dtype)
        for n in (3, -3, 2, 127):
            yield f"{dtype} by {n}", x // n, torch.div(x, n, rounding_mode="trunc"), x % n, torch.fmod(x, n)
