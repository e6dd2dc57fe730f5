"""What a profile hears of backward passes, of layers and of random numbers."""

from compat_matrix.case import case


@case("profiler_passes.numbers")
def _(torch):
    with torch.autograd.profiler.profile() as prof:
        x = torch.randn(3, requires_grad=True)
        y = torch.rand(3, requires_grad=True)
        (x + y).sum().backward()
    events = [e for e in prof.function_events if e.name in ("aten::add", "aten::sum") or "AddBackward0" in e.name or "SumBackward0" in e.name]
    yield "names", [e.name for e in events]
    first = {e.name: e for e in events}
    for op, node in (("aten::add", "AddBackward0"), ("aten::sum", "SumBackward0")):
        around = first[f"autograd::engine::evaluate_function: {node}"]
        yield op, first[op].sequence_nr >= 0, around.sequence_nr == first[op].sequence_nr == first[node].sequence_nr
        yield f"threads of {op}", first[op].fwd_thread, around.fwd_thread == first[op].thread == first[node].fwd_thread, [c.name for c in around.cpu_children]
    made = [e for e in prof.function_events if e.name in ("aten::randn", "aten::rand")]
    yield "made", [(e.name, [c.name for c in e.cpu_children], [c.sequence_nr for c in e.cpu_children]) for e in made]


@case("profiler_passes.linear")
def _(torch):
    layers = torch.nn.Linear(4, 3), torch.nn.Linear(3, 2, bias=False)
    x = torch.ones(5, 4)
    with torch.autograd.profiler.profile(record_shapes=True) as prof:
        layers[1](layers[0](x))
    yield "shapes", [e.input_shapes for e in prof.function_events if e.name == "aten::linear"]
    yield "inside", [[c.name for c in e.cpu_children if c.name in ("aten::t", "aten::addmm", "aten::matmul", "aten::mm")] for e in prof.function_events
           if e.name == "aten::linear"][:1]
