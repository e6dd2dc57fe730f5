"""What tools that draw a graph read of it: the nodes of cells in their order, what the nodes of layers saved, and how saved tensors lie in memory."""

from compat_matrix.case import case


def _nodes(root, names):
    """(depth, name, parameter) of all nodes below, in the order of their edges."""
    out = []

    def walk(node, depth):
        if node is not None:
            out.append((depth, node.name(), names.get(id(getattr(node, "variable", None)), "")))
            for below, _ in node.next_functions:
                walk(below, depth + 1)

    walk(root, 0)
    return out


def _in_order(root):
    """Names of the nodes by their sequence numbers."""
    seen, todo = {}, [root]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen and "Accumulate" not in node.name():
            seen[node] = node._sequence_nr()
            todo += [below for below, _ in node.next_functions]
    return [(node.name(), len(node.next_functions)) for node in sorted(seen, key=seen.get)]


@case("drawn_graphs.cells")
def _(torch):
    for kind in ("GRUCell", "LSTMCell", "RNNCell"):
        for bias in (True, False):
            torch.manual_seed(0)
            cell = getattr(torch.nn, kind)(3, 2, bias=bias)
            out = cell(torch.randn(2, 3))
            out = out[0] if isinstance(out, tuple) else out
            yield f"{kind} {bias}", _nodes(out.grad_fn, {id(p): n for n, p in cell.named_parameters()}), _in_order(out.grad_fn)


def _saved(torch, node, lying=True):
    out = {}
    for name in sorted(dir(node)):
        if name.startswith("_saved_") and name != "_saved_result3":
            x = getattr(node, name)
            out[name] = (x.shape, x.stride() if lying else None, x.dtype, x.requires_grad) if isinstance(x, torch.Tensor) else x
    return out


@case("drawn_graphs.layers_of_lstm")
def _(torch):
    for kwargs in ({}, {"batch_first": True}, {"bidirectional": True}, {"bias": False}, {"num_layers": 2}):
        for train in (True, False):
            torch.manual_seed(0)
            layer = torch.nn.LSTM(3, 4, **kwargs).train(train)
            node = layer(torch.randn(2, 5, 3))[0].grad_fn
            while "Mkldnn" not in node.name():
                node = node.next_functions[0][0]
            yield f"{kwargs} {train}", _saved(torch, node, False)
            if "bias" in kwargs:
                yield f"absent {train}", node._saved_weight2, node._saved_weight3
            if train and not kwargs:
                yield "values", node._saved_weight0, node._saved_weight3, node._saved_hx_, node._saved_result0, node._saved_result2, node._raw_saved_input.data.shape


@case("drawn_graphs.strides_of_what_is_saved")
def _(torch):
    torch.manual_seed(0)
    for n in (1, 3):
        w, x = torch.randn(n, 8, requires_grad=True), torch.randn(2, 8, requires_grad=True)
        yield f"product {n}", _saved(torch, torch.mm(x, w.t()).grad_fn)
        yield f"layer {n}", _saved(torch, torch.nn.functional.linear(x, w, torch.zeros(n)).grad_fn)
        yield f"elementwise {n}", _saved(torch, (w.t() * 2 * torch.randn(8, n, requires_grad=True)).grad_fn)
        y = torch.randn(2, n, 8, requires_grad=True).transpose(1, 2)
        yield f"result {n}", _saved(torch, y.exp().grad_fn), _saved(torch, y.exp().sin().grad_fn), _saved(torch, (y * y).grad_fn)
        yield f"parts {n}", _saved(torch, w.t().split(4)[1].exp().grad_fn), _saved(torch, w.unbind(0)[0].sin().grad_fn)
        yield f"steps {n}", _saved(torch, w[:, ::2].sin().grad_fn), _saved(torch, w.expand(2, n, 8).sin().grad_fn)
        z = w.t().exp()
        z.tolist()
        yield f"after a look {n}", _saved(torch, z.grad_fn), _saved(torch, z.sin().grad_fn)


@case("drawn_graphs.strides_of_what_is_packed")
def _(torch):
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: (seen.append((x.shape, x.stride(), x.is_contiguous())), x)[1], lambda x: x):
        w, x = torch.randn(3, 8, requires_grad=True), torch.randn(2, 8, requires_grad=True)
        for name, f in {"product": lambda: torch.mm(x, w.t()), "chain": lambda: w.t().exp().sin().t().cos(), "two": lambda: w.t() * w.t().exp(),
                        "part": lambda: w[:, ::2].exp() * w[1:, 1::2].sum()}.items():
            seen.clear()
            y = f()
            yield name, list(seen)
            y.sum().backward()
    yield "grad", w.grad.shape, x.grad.shape
