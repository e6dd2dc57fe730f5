"""Names that classes which programs derive from leave free: a subclass, or what is set on a ctx, may take any that PyTorch's classes do not have."""

import importlib

from compat_matrix.case import case

OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD", "Adafactor", "Muon")
OF_OPTIMIZERS = ("begin", "states", "flags", "numbers", "fresh", "spread", "rule", "older", "first", "uniform", "state_of", "_step", "_update", "_check", "_begin",
                 "_new_hooks", "_take_names", "_check_param")
OF_SCHEDULERS = ("_asked", "_scaled", "_write", "_check_order", "_check_members", "_check_functions", "_go_to", "_part")
OF_DISTRIBUTIONS = ("_params", "_take", "_checked", "_like", "_shown", "_make_parts", "_expand_more", "_note_param", "_through", "_fit", "_part", "_square", "whole")
OF_TRANSFORMS = ("_keep", "_pieces", "_check_dim", "_reals", "_shape", "_there")
OF_CONTEXTS = ("_tape", "_first", "_step", "_saved", "_freed", "_demanded", "_outputs", "_metas", "_wanted", "_sorted", "_said", "_leaf", "number_of", "tensor_of",
               "per_output", "of_tensors", "edge_places", "run_backward", "in_demand", "_differentiable", "_single_level")


def has(cls, names):
    return [n for n in names if hasattr(cls, n)]


@case("names_left_free.classes")
def _(torch):
    lr_scheduler, swa_utils, data, hooks = torch.optim.lr_scheduler, torch.optim.swa_utils, torch.utils.data, torch.utils.hooks

    for name in (*OPTIMIZERS, "Optimizer", "LBFGS", "SparseAdam"):
        yield name, has(getattr(torch.optim, name), OF_OPTIMIZERS)
    for name in lr_scheduler.__all__:
        yield name, has(getattr(lr_scheduler, name), OF_SCHEDULERS)
    yield "SWALR", has(swa_utils.SWALR, OF_SCHEDULERS)
    for name in ("Distribution", "Normal", "Bernoulli", "Cauchy", "Gumbel", "HalfNormal", "LogNormal", "TransformedDistribution", "Wishart", "Beta"):
        yield name, has(getattr(torch.distributions, name), OF_DISTRIBUTIONS)
    yield "Geometric", has(torch.distributions.Geometric, ("_param", "_new", "param_shape"))
    for name in ("AffineTransform", "CatTransform", "StackTransform", "SigmoidTransform"):
        yield name, has(getattr(torch.distributions, name), OF_TRANSFORMS)
    yield "Function", has(torch.autograd.Function, OF_CONTEXTS)
    yield "contexts", [has(c, ("value", "now", "turn", "name", "_begin")) for c in (torch.no_grad, torch.enable_grad, torch.set_grad_enabled)]
    yield "containers", [has(c, ("_name_at", "_rename")) for c in (torch.nn.Sequential, torch.nn.ModuleList)]
    yield "layers", has(torch.nn.Embedding, ("_make_weight",)), has(torch.nn.TransformerEncoderLayer, ("_attend", "_feed", "_make_feed_forward"))
    yield "recurrent", has(torch.nn.GRU, ("get_expected_cell_size",)), has(torch.nn.LSTM, ("get_expected_cell_size",))
    yield "prune", has(importlib.import_module(f"{torch.__name__}.nn.utils.prune").LnStructured, ("_checked", "_scores", "_without"))
    yield "data", has(data.DataLoader, ("_begun", "_iterator")), has(data.ChainDataset, ("_checked",)), has(data.IterDataPipe, ("_set",))
    yield "scaler", has(torch.amp.GradScaler, ("_check", "_state")), has(torch.autocast, ("_possible",))
    yield "hooks", has(hooks.RemovableHandle, ("_extras", "extra")), has(hooks.BackwardHook, ("_ask", "_spread", "_through", "_watch_inputs"))
    yield "fx", has(torch.fx.Tracer, ("_trace", "_constant", "_parameter", "_specialised")), has(torch.fx.GraphModule, ("_state",))
    yield "nodes", has(torch.fx.Node, ("_set", "_replace", "_unlink")), has(torch.fx.Graph, ("_before", "_learn", "_forget"))


@case("names_left_free.ctx")
def _(torch):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            before = sorted(vars(ctx))
            for name in OF_CONTEXTS:
                setattr(ctx, name, k)
            ctx.before = before
            ctx.save_for_backward(x, y)
            return x * y * k, x + y

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            seen.append((ctx.before, [getattr(ctx, name) for name in OF_CONTEXTS]))
            return g * y * ctx._step + h, g * x * ctx.number_of + h, None

    seen = []
    x, y = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    a, b = F.apply(x, y, 2)
    yield "edges", [n.name() for n, _ in a.grad_fn.next_functions]
    (a.sum() + b.sum()).backward()
    yield "seen", seen, x.grad, y.grad


@case("names_left_free.optimizers")
def _(torch):
    for name in OPTIMIZERS:
        base = getattr(torch.optim, name)
        taken = dict.fromkeys(OF_OPTIMIZERS)
        derived = type("Derived", (base,), taken)
        found = []
        for kind in (base, derived):
            p = torch.nn.Parameter(torch.arange(4.0).reshape(2, 2))
            optimizer = kind([p], lr=0.1)
            for g in (1.0, -0.5):
                p.grad = torch.full((2, 2), g)
                optimizer.step()
            optimizer.load_state_dict(optimizer.state_dict())
            found.append(p.tolist())
        yield name, found[0] == found[1]


@case("names_left_free.others")
def _(torch):
    d = torch.distributions

    class Normal(d.Normal):
        _params, _take, _like, _checked, _shown = (), None, 1, 2, 3

    n = Normal(torch.zeros(2), 1.0)
    yield "normal", n.log_prob(torch.ones(2)), n.expand((3, 2)).batch_shape, repr(n)

    class Cat(d.CatTransform):
        _pieces = _keep = _check_dim = None

    yield "cat", Cat([d.ExpTransform(), d.AffineTransform(1.0, 2.0)], dim=0)(torch.ones(2))

    class Two(torch.nn.Sequential):
        _name_at = _rename = None

        def __iter__(self):
            return iter(list(self._modules.values())[::-1])

    yield "sequential", Two(torch.nn.Flatten(0), torch.nn.ReLU())(-torch.ones(2, 2)), repr(Two(torch.nn.ReLU(), torch.nn.Tanh())[1])

    class Still(torch.no_grad):
        value = name = None

    with Still():
        yield "no_grad", torch.is_grad_enabled()

    class Schedule(torch.optim.lr_scheduler.StepLR):
        _write = _scaled = _asked = None

    s = Schedule(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0), 1)
    s.optimizer.step()
    s.step()
    yield "schedule", s.get_last_lr()
