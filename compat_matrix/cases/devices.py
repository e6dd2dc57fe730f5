"""Devices on a machine that has only a CPU: names, defaults, what is not there; DLPack."""

import numpy as np

from compat_matrix.case import attempt, case


def tried(torch, expressions):
    """Each expression's value, or its error."""
    for text in expressions:
        yield text, attempt(lambda text=text: repr(eval(text, {"torch": torch, "np": np})))


@case("devices.names")
def _(torch):
    yield from tried(torch, (
        "torch.device('cpu')", "torch.device('cpu:1')", "torch.device('cpu', 1)", "torch.device('cuda')",
        "torch.device('cuda:1')", "torch.device('cuda', 1)",
        "torch.device(type='cuda', index=3)", "torch.device('cuda', index=None)",
        "torch.device(torch.device('cuda:1'))", "str(torch.device('cuda'))", "str(torch.device('cuda:2'))",
        "torch.device('cuda').index", "torch.device('cuda:1').index", "torch.device('cuda:1').type",
        "torch.device('cuda') == torch.device('cuda:0')",
        "torch.device('cuda:1') == torch.device('cuda', 1)", "torch.device('cpu') == 'cpu'",
        "len({torch.device('cuda:1'), torch.device('cuda', 1), torch.device('cpu')})",
        "torch.device('cuda:1').__reduce__()[1]", "torch.device('meta')", "torch.device('mps')"))


@case("devices.wrong_names")
def _(torch):
    yield from tried(torch, (
        "torch.device('')", "torch.device('cuda:')", "torch.device('cuda:-1')", "torch.device('cuda:01')",
        "torch.device('cuda', -1)", "torch.device('cuda:1', 1)",
        "torch.device('gpus')", "torch.device('CPU')", "torch.device(1)", "torch.device(0)",
        "torch.device('cuda', '1')"))


@case("devices.the_cpu")
def _(torch):
    x = torch.ones(2)
    yield "there", [str(x.to(d).device) for d in ("cpu", "cpu:0", "cpu:1", torch.device("cpu"), torch.device("cpu", 1))]
    yield "itself", [x.to(d) is x for d in ("cpu", torch.device("cpu"))], x.cpu() is x
    yield "made", [str(torch.zeros(2, device=d).device) for d in ("cpu", "cpu:0", "cpu:1")]
    yield "asked", x.is_cpu, x.is_cuda, x.get_device(), str(x.device), x.type()
    yield "module", str(torch.nn.Linear(2, 2).to("cpu:1").weight.device)
    yield "made there", str(next(torch.nn.Linear(2, 2, device="cpu").parameters()).device)
    yield "both", x.to("cpu", torch.float64).dtype, x.to(device="cpu", dtype=torch.int8).dtype
    yield "as another", x.to(torch.zeros(1, dtype=torch.int32)).dtype


@case("devices.not_there")
def _(torch):
    yield from tried(torch, (
        "torch.ones(2).to('cuda')", "torch.ones(2).to('cuda:1')", "torch.ones(2).cuda()",
        "torch.ones(2).cuda(1)", "torch.ones(2, device='cuda')", "torch.tensor([1.0], device='cuda')",
        "torch.rand(2, device='cuda')", "torch.arange(3, device='cuda:0')",
        "torch.zeros_like(torch.ones(2), device='cuda')", "torch.ones(2).new_zeros(3, device='cuda')",
        "torch.ones(2, device=0)", "torch.ones(2).to(0)",
        "torch.ones(2, dtype=torch.float64).to('cuda', torch.float32)", "torch.ones(2).to('xla')",
        "torch.ones(2, device='xpu')",
        "torch.nn.Linear(2, 2).to('cuda')", "torch.nn.Linear(2, 2).cuda()",
        "torch.nn.Linear(2, 2, device='cuda')", "torch.as_tensor([1.0], device='cuda')",
        "torch.accelerator.is_available()", "torch.accelerator.current_accelerator()",
        "torch.accelerator.device_count()", "torch.accelerator.current_device_index()",
        "torch.cuda.is_available()", "torch.cuda.device_count()", "torch.cuda.current_device()",
        "torch.cuda.synchronize()", "torch.cuda.memory_allocated()"))


@case("devices.default")
def _(torch):
    yield "start", str(torch.get_default_device())
    with torch.device("cpu"):
        yield "inside", str(torch.get_default_device()), str(torch.ones(2).device)
        with torch.device("cpu", 1):
            yield "deeper", str(torch.ones(2).device)
    torch.set_default_device("cpu")
    yield "set", str(torch.get_default_device()), str(torch.ones(2).device)
    torch.set_default_device("cuda")
    try:
        yield "not there", attempt(lambda: torch.ones(2)), attempt(lambda: torch.tensor([1.0]))
        yield "nor there", attempt(lambda: torch.nn.Linear(2, 2)), attempt(torch.get_default_device)
        yield "asked for", str(torch.ones(2, device="cpu").device)
    finally:
        torch.set_default_device(None)
    yield "end", str(torch.get_default_device()), attempt(lambda: torch.set_default_device("nothing"))


@case("devices.dlpack")
def _(torch):
    n = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    t = torch.from_dlpack(n)
    yield "in", t, t.dtype, torch.from_dlpack(n[:, ::2]), torch.from_dlpack(np.array([True]))
    yield "numbers", torch.from_dlpack(np.arange(3)), np.from_dlpack(torch.arange(3))
    yield "out", np.from_dlpack(t * 2), [int(i) for i in t.__dlpack_device__()], np.from_dlpack(torch.ones(2).t())
    yield "tensor", torch.from_dlpack(torch.ones(2)), torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(t))
    yield "device", torch.from_dlpack(n, device="cpu"), torch.from_dlpack(n, copy=True)
    g = torch.ones(2, requires_grad=True)
    yield "refused", attempt(lambda: np.from_dlpack(g)), attempt(lambda: torch.from_dlpack(g))
    yield "wrong", attempt(lambda: torch.from_dlpack(3)), attempt(lambda: torch.ones(2).__dlpack__(stream=1))
    yield "not there", attempt(lambda: torch.from_dlpack(n, device="cuda"))
    yield "conjugate", attempt(lambda: torch.complex(g, g).detach().conj().__dlpack__())
