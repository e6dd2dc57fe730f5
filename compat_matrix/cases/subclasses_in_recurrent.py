"""Recurrent layers and tensors of a class with its own `__torch_function__`: which call it hears of, and of which class the results are."""

from compat_matrix.case import case


@case("subclasses_in_recurrent.calls")
def _(torch):
    seen = []

    class Heard(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if getattr(func, "__name__", "") in ("lstm", "gru", "rnn_tanh", "rnn_relu", "linear", "sigmoid", "tanh", "stack"):
                seen.append((func.__name__, [t.__name__ for t in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    nn, x = torch.nn, torch.arange(8.0).reshape(4, 1, 2)
    for n, (layer, state) in enumerate((
            (nn.LSTM(2, 3), None), (nn.LSTM(2, 3, 2, bidirectional=True, batch_first=True), None), (nn.GRU(2, 3), None), (nn.RNN(2, 3), None),
            (nn.RNN(2, 3, nonlinearity="relu"), None), (nn.GRU(2, 3), torch.zeros(1, 1, 3).as_subclass(Heard)))):
        seen.clear()
        out, last = layer(x.as_subclass(Heard) if state is None else x, *([] if state is None else [state]))
        yield n, list(seen), type(out).__name__, [type(t).__name__ for t in last] if isinstance(last, tuple) else type(last).__name__
        out.sum().backward()
        yield f"{n} gradients", all(p.grad is not None for p in layer.parameters()), sorted({type(p.grad).__name__ for p in layer.parameters()})


@case("subclasses_in_recurrent.modes")
def _(torch):
    class Mode(torch.overrides.TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            if getattr(func, "__name__", "") in ("lstm", "gru", "rnn_tanh", "linear", "sigmoid"):
                self.seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Mode() as mode:
        torch.nn.LSTM(2, 3)(torch.ones(4, 1, 2))
        torch.nn.GRU(2, 3)(torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(2, 2)]))
    yield "heard", mode.seen
