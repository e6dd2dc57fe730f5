"""Conditions that programs state, hints to compilers, and what optimizers of programs take from torch.optim.optimizer."""

import importlib
import warnings

from compat_matrix.case import attempt, case

CHECKS = ["_check", "_check_index", "_check_value", "_check_type", "_check_not_implemented"]


@case("checks.conditions")
def _(torch):
    for name in CHECKS:
        check = getattr(torch, name)
        yield name, check(True), check(True, "unread"), attempt(lambda: check(False)), attempt(lambda: check(False, lambda: "why")), attempt(
            lambda: check(False, lambda: 3))
        yield f"{name} refused", [attempt(lambda c=c, m=m: check(c, m)) for c, m in ((1, None), (None, None), (False, "text"), (torch.tensor(True), None))]
    yield "with", torch._check_with(KeyError, True, None), attempt(lambda: torch._check_with(KeyError, False, lambda: "key"))


@case("checks.conditions_of_tensors")
def _(torch):
    yield "holds", torch._check_tensor_all(torch.ones(2, 2, dtype=torch.bool)), torch._check_tensor_all(torch.zeros(0, dtype=torch.bool))
    yield "refused", [attempt(lambda t=t: torch._check_tensor_all(t, lambda: "why")) for t in (torch.tensor([True, False]), True, torch.ones(2))]
    yield "with", attempt(lambda: torch._check_tensor_all_with(ValueError, torch.tensor(False)))


@case("checks.sizes")
def _(torch):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield "sizes", torch._check_is_size(3), [attempt(lambda i=i, m=m: torch._check_is_size(i, max=m)) for i, m in ((-1, None), (5, 3), (3, 3))]
    yield "said", [(w.category.__name__, str(w.message)) for w in said][:1]


@case("checks.hints")
def _(torch):
    jit = torch.jit
    before = jit.set_fusion_strategy([("STATIC", 1)])
    yield "strategy", before, jit.set_fusion_strategy(before), attempt(lambda: jit.set_fusion_strategy([("OTHER", 1)]))
    yield "kept", jit.set_fusion_strategy(before) == before
    was = jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(True)
    yield "onednn", was, jit.onednn_fusion_enabled(), jit.enable_onednn_fusion(was)
    yield "classes", jit.Attribute(1, int) == (1, int), jit.Attribute(value=1, type=None)._asdict(), issubclass(jit.Error, Exception), jit.Error.__module__


@case("checks.interface")
def _(torch):
    @torch.jit.interface
    class Shape:
        def area(self, x: torch.Tensor) -> torch.Tensor:
            pass

    yield "class", isinstance(Shape, type), Shape.__name__


@case("checks.futures")
def _(torch):
    future = torch.futures.Future()
    yield "class", isinstance(future, torch.Future)
    future.set_result(3)
    yield "value", future.wait(), future.done(), future.value()
    yield "fork", torch.jit.wait(torch.jit.fork(lambda x: x + 1, torch.ones(2)))


@case("checks.symbols")
def _(torch):
    yield "none is one", [isinstance(v, (torch.SymInt, torch.SymFloat, torch.SymBool)) for v in (1, 1.0, True, torch.ones(2).shape[0])]
    yield "members", all(hasattr(torch.SymFloat, n) for n in ("as_integer_ratio", "conjugate", "hex", "is_integer"))


@case("checks.members")
def _(torch):
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    yield "argwhere", x.argwhere(), torch.zeros(0, 2).argwhere(), torch.tensor(3.0).argwhere(), torch.argwhere(x)
    yield "histc", x.histc(4), x.histc(3, min=1, max=3), x.histc(bins=2, min=0, max=4), torch.tensor([1, 2, 2], dtype=torch.float64).histc(2)
    yield "refused", attempt(lambda: x.histc(0)), attempt(lambda: x.histc(3, 2, 1))
    yield "round", torch.special.round(x / 3, decimals=2), torch.special.round(x / 3), torch.special.round(x / 3, decimals=0)


@case("checks.optimizers_of_programs")
def _(torch):
    inside = importlib.import_module(f"{torch.__name__}.optim.optimizer")
    x, z = torch.ones(1), torch.tensor([1 + 2j, 3j])
    yield "values", inside._get_value(x), inside._get_value(3), inside._to_scalar(x), inside._to_scalar(2.0), inside._to_scalar(torch.tensor(2.0))
    yield "chosen", [inside._default_to_fused_or_foreach([x], *flags) for flags in ((False,), (False, True), (True,), (True, True))]
    yield "chosen for others", [inside._default_to_fused_or_foreach([t], False, True) for t in (z, torch.nn.Parameter(x), torch.ones(1, dtype=torch.int64))]
    yield "devices", inside._get_capturable_supported_devices(), inside._get_capturable_supported_devices(False), inside._get_foreach_kernels_supported_devices()
    yield "fused", inside._get_fused_kernels_supported_devices()
    params, state = [z, x], [z * 2, x * 2]
    yield "real", inside._view_as_real(params, state), params, state
    yield "as it is", inside._stack_if_compiling(params) is params, isinstance(inside._foreach_doc + inside._maximize_doc + inside._differentiable_doc, str)

    class Own(torch.optim.Optimizer):
        def __init__(self, params, differentiable):
            super().__init__(params, {"differentiable": differentiable})

        @inside._use_grad_for_differentiable
        def step(self):
            """Does nothing."""
            return torch.is_grad_enabled()

    p = torch.nn.Parameter(torch.ones(1))
    yield "grad mode", Own([p], False).step(), Own([p], True).step(), torch.is_grad_enabled()


@case("checks.data_parallel_keywords")
def _(torch):
    torch_distributed = importlib.import_module(f"{torch.__name__}.distributed")
    torch_distributed.init_process_group("gloo", store=torch_distributed.HashStore(), rank=0, world_size=1)
    try:
        for i, given in enumerate(({}, {"broadcast_buffers": True}, {"broadcast_buffers": False}, {"forward_sync_buffers": True}, {"forward_sync_buffers": False},
                                   {"broadcast_buffers": False, "forward_sync_buffers": True}, {"batched_grad_copy": True},
                                   {"skip_all_reduce_unused_params": True})):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                made = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), **given)
            yield str(i), made.broadcast_buffers, made.forward_sync_buffers, [(w.category.__name__, str(w.message)) for w in said]
        yield "refused", attempt(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), delay_all_reduce_named_params=[]))
        yield "unknown", attempt(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), unknown=1))
    finally:
        torch_distributed.destroy_process_group()
