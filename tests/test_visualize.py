"""Graphs, programs, tables and timelines of what is recorded."""

import json
import xml.etree.ElementTree as ET

import pytest

import torchlike_autograd as torch
from torchlike_autograd import visualize
from torchlike_autograd._core import execute, record, worth

SVG = "{http://www.w3.org/2000/svg}"


def net():
    """A small module and inputs."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)), torch.randn(5, 3)


def test_graph_names_types_saved_values_and_hooks():
    m, x = net()
    h = m(x)
    h.register_hook(lambda g: None)
    loss = (h**2).mean()
    before, pending = dict(execute.stats), len(record.thread.state.tape.values)
    g = visualize.graph(loss, dict(m.named_parameters()))
    assert dict(execute.stats) == before and len(record.thread.state.tape.values) == pending > 0, "drawing runs nothing"
    by_name = {b.lines[0]: b for b in g.boxes}
    assert [b.lines[0] for b in g.boxes][:4] == ["tensor", "MeanBackward0", "PowBackward0", "AddmmBackward0"]
    assert by_name["0.weight"].lines == ["0.weight", "float32[4, 3]"] and by_name["0.weight"].kind == "leaf"
    assert "exponent: 2" in by_name["PowBackward0"].lines and "self: float32[5, 2]" in by_name["PowBackward0"].lines
    watched = [b for b in g.boxes if b.kind == "watched"]
    assert len(watched) == 1 and watched[0].lines[-1] == "1 tensor hook(s)"
    assert len(g.edges) == len(g.boxes) - 1 == 11


def test_graph_as_dot_and_svg(tmp_path):
    m, x = net()
    loss = (m(x) ** 2).mean()
    g = visualize.graph(loss)
    assert g.dot.startswith("digraph {") and g.dot.count("->") == len(g.edges) and 'label="MeanBackward0\\nfloat32[]' in g.dot
    root = ET.fromstring(g.svg)
    boxes = [r for r in root.iter(f"{SVG}rect") if r.get("rx")]
    assert len(boxes) == len(g.boxes) and len([p for p in root.iter(f"{SVG}path") if p.get("marker-end")]) == len(g.edges)
    places = [tuple(float(b.get(k)) for k in ("x", "y", "width", "height")) for b in boxes]
    for i, (x1, y1, w1, h1) in enumerate(places):
        for x2, y2, w2, h2 in places[i + 1:]:
            assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1, "no two boxes overlap"
    assert all(places[a][1] + places[a][3] < places[b][1] for a, b in g.edges), "arrows go down"
    for name in ("g.svg", "g.dot"):
        g.save(tmp_path / name)
    assert (tmp_path / "g.svg").read_text().startswith("<svg") and g._repr_svg_() == g.svg


def test_long_graphs_are_cut_and_released_values_said():
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(300):
        y = y * 2
    g = visualize.graph(y, limit=50)
    assert len(g.boxes) == 52 and g.boxes[-1].kind == "cut"
    assert len(visualize.graph(y).boxes) == 302
    z = (x * x).sum()
    z.backward()
    assert any(line.endswith("released") for b in visualize.graph(z).boxes for line in b.lines)
    assert visualize.graph(x).boxes[0].kind == "leaf" and visualize.graph(torch.ones(2)).edges == []


def test_program():
    x = torch.arange(6.0).reshape(2, 3).clone()
    y = (x * 3).sin().sum()
    p = visualize.program(y)
    assert "mul.Tensor" in p.text and "sin" in p.text and p.text.splitlines()[-1].lstrip().startswith("return")
    assert [piece.place for piece in p.pieces] == ["cpu"] and "HloModule" in p.hlo() and "sine" in p.hlo()
    assert p.cost()["transcendentals"] >= 6 and "recorded calls" in str(p)
    m, x = net()
    loss = (m(x) ** 2).mean()
    loss.item()
    assert "addmm" in visualize.program(loss).text
    for wrong, error in ((torch.tensor([1.0]).numpy(), TypeError), (torch.from_numpy(torch.ones(2).numpy()), ValueError)):
        with pytest.raises(error):
            visualize.program(wrong)


def test_stats_print_as_a_table():
    torch.ones(2).tolist()
    table = visualize.stats()
    assert dict(table) == dict(torch.stats()) and len(repr(table).splitlines()) == len(table)
    assert repr(table).splitlines()[0].startswith("flushes") and "<td>compiles</td>" in table._repr_html_()


def test_timeline(tmp_path):
    worth.credit[0] = worth.CREDIT_MAX  # new structures are compiled at first sight
    m, x = net()
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        loss = (m(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    before, root = step(), record.thread.state.root
    originals = {name: getattr(execute, name) for name in ("native", "_run", "_compile", "_call", "op_by_op")}
    with visualize.timeline(tmp_path / "trace.json") as t:
        losses = [step() for _ in range(3)]
    assert before > losses[0] > losses[1] > losses[2]
    assert record.thread.state.root is root and not {"profiler", "calls"} & record.thread.state.extra.keys()
    assert {name: getattr(execute, name) for name in originals} == originals
    trace = json.loads((tmp_path / "trace.json").read_text())
    kinds = [e["cat"] for e in trace["traceEvents"]]
    assert kinds.count("flush") == 3 and kinds.count("compile") >= 1 and kinds.count("run") >= 1 and kinds.count("backward") == 3
    calls = [e["name"] for e in trace["traceEvents"] if e["cat"] == "call"]
    assert calls.count("addmm") == 6 and calls.count("relu") == 3
    assert any(__file__ in e["args"].get("line", "") for e in trace["traceEvents"])
    assert all(e["ph"] in "Xi" and e["ts"] >= 0 for e in trace["traceEvents"]) and "flush" in t.summary()
    assert step() < losses[2]


def test_timeline_inside_a_profile():
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.profiler.profile() as p, visualize.timeline(calls=True) as t:
        (x * 2).sum().backward()
    names = [e.name for e in p.function_events]
    assert "aten::mul" in names and "MulBackward0" in names and "backward" not in names
    assert [e["name"] for e in t.events if e["cat"] == "call"].count("sum") == 1 and any(e["cat"] == "backward" for e in t.events)


def test_graphs_of_gradients_are_drawn():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for f in (lambda x: (x ** 3).sum(), lambda x: torch.tanh(x @ x).sum(), lambda x: x.softmax(0)[0].sum(), lambda x: torch.cat([x, x * 2]).norm()):
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        drawn = visualize.graph(g.sum())
        assert "SumBackward0" in drawn.dot and drawn.svg.startswith("<svg")
        seen, todo = set(), [g.grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and id(node) not in seen:
                seen.add(id(node))
                todo += [n for n, _ in node.next_functions]
                for name in dir(node):
                    getattr(node, name) if name.startswith(("_saved", "_raw_saved")) else None
