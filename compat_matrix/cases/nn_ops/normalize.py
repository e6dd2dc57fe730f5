"""Normalization: by layer, batch, group, instance, root mean square; running statistics; refusals."""

from compat_matrix.case import attempt, case
from compat_matrix.cases.nn_ops import reals
from compat_matrix.probes import fails, probe, table

X, Y = reals(2, 4, 3, 2), reals(3, 4)
W, B, L, M = reals(4), reals(4, low=-1.0), reals(3, 2), reals(3, 2, low=-1.0)
V = [0.5, 1.0, 2.0, 0.25]
STATS = "torch.tensor([0.1, -0.2, 0.3, 0.0]).double(), torch.tensor([0.5, 1.0, 2.0, 0.25]).double()"

rows = [("layer", "F.layer_norm(x, (3, 2))", {"x": X}), ("layer full", "F.layer_norm(x, (3, 2), w, b, 1e-3)", {"x": X, "w": L, "b": M}),
        ("layer weight", "F.layer_norm(x, [4], w)", {"x": Y, "w": W}), ("layer bias", "F.layer_norm(x, [4], None, w)", {"order": 1, "x": Y, "w": W}),
        ("layer native", "torch.native_layer_norm(x, (3, 2), w, b, 1e-5)", {"x": X, "w": L, "b": M}), ("layer equal", "F.layer_norm(x * 0 + 3, (4,))", {"x": Y}),
        ("layer empty", "F.layer_norm(x[:0], (3, 2), w, b)", {"x": X, "w": L, "b": M}),
        ("layer float32", "F.layer_norm(x.detach().float(), (3, 2))", {"x": X}), ("layer half", "F.layer_norm(x.detach().half(), (3, 2), w.detach().float())", {"x": X, "w": L}),
        ("batch", "F.batch_norm(x, None, None, training=True)", {"x": X}), ("batch full", "F.batch_norm(x, None, None, w, b, True, eps=0.1)", {"x": X, "w": W, "b": B}),
        ("batch two", "F.batch_norm(x, None, None, w, b, True)", {"x": Y, "w": W, "b": B}), ("batch evaluated", f"F.batch_norm(x, {STATS}, w, b)", {"x": X, "w": W, "b": B}),
        ("batch evaluated plain", f"F.batch_norm(x, {STATS})", {"x": Y}), ("batch empty", "F.batch_norm(x[:0], None, None, w, b, True)", {"x": X, "w": W, "b": B}),
        ("batch native", f"torch.native_batch_norm(x, w, b, {STATS}, True, 0.1, 1e-5)", {"x": X, "w": W, "b": B}),
        ("batch native evaluated", f"torch.native_batch_norm(x, w, b, {STATS}, False, 0.1, 1e-5)", {"x": X, "w": W, "b": B}),
        ("batch half", "F.batch_norm(x.detach().half(), None, None, w.detach().float(), None, True)", {"x": X, "w": W}),
        ("group", "F.group_norm(x, 2)", {"x": X}), ("group full", "F.group_norm(x, 2, w, b, 1e-3)", {"x": X, "w": W, "b": B}),
        ("group one", "F.group_norm(x, 1, w)", {"x": X, "w": W}), ("group each", "F.group_norm(x, 4, b, b)", {"x": X, "b": B}), ("group two", "F.group_norm(x, 2)", {"x": Y}),
        ("group half", "F.group_norm(x.detach().half(), 2)", {"x": X}),
        ("instance", "F.instance_norm(x)", {"x": X}), ("instance full", "F.instance_norm(x, None, None, w, b, eps=0.1)", {"x": X, "w": W, "b": B}),
        ("instance evaluated", f"F.instance_norm(x, {STATS}, w, b, False)", {"x": X, "w": W, "b": B}), ("instance unbatched", "F.instance_norm(x)", {"x": X[0]}),
        ("rms", "F.rms_norm(x, (3, 2))", {"x": X}), ("rms full", "F.rms_norm(x, (3, 2), w, 1e-2)", {"x": X, "w": L}), ("rms zero", "F.rms_norm(x * 0, (4,))", {"x": Y}),
        ("rms half", "F.rms_norm(x.detach().half(), (4,))", {"x": Y}), ("rms bfloat16", "F.rms_norm(x.detach().bfloat16(), (4,), w.detach().bfloat16())", {"x": Y, "w": W}),
        ("rms float32", "F.rms_norm(x.detach().float(), (4,))", {"x": Y}),
        ("response", "F.local_response_norm(x, 2)", {"x": X}), ("response fields", "F.local_response_norm(x, 3, 0.1, 0.5, 2.0)", {"x": X}),
        ("response three", "F.local_response_norm(x, 3, 0.1)", {"x": X[0]}), ("response empty", "F.local_response_norm(x[:0], 2)", {"x": X}),
        ("weight", "torch._weight_norm(v, g, 0)", {"v": X, "g": [[[[0.5]]], [[[2.0]]]]}), ("weight last", "torch._weight_norm(v, g, 1)", {"v": Y, "g": [[0.5, 1.0, 2.0, 3.0]]}),
        ("weight middle", "torch._weight_norm(v, g, 1)", {"v": X, "g": [[[[0.5]], [[1.0]], [[2.0]], [[3.0]]]]}),
        ("norm except first", "torch.norm_except_dim(v, 2, 0)", {"v": X}), ("norm except middle", "torch.norm_except_dim(v, 1, 1)", {"v": X}),
        ("norm except last", "torch.norm_except_dim(v, 2, 3)", {"v": X})]
table("nn_ops.normalize", probe, rows)

SCOPE = {"x": X, "w": W, "b": B, "l": L}
table("nn_ops.normalize.refused", fails, [(n, e, SCOPE) for n, e in {
    "layer int": "F.layer_norm(x, 2)", "layer nothing": "F.layer_norm(x, ())", "layer shape": "F.layer_norm(x, (4, 2))", "layer weight": "F.layer_norm(x, (3, 2), w)",
    "layer bias": "F.layer_norm(x, (3, 2), l, w)", "layer types": "F.layer_norm(x, (3, 2), l.float())", "layer wide": "F.layer_norm(x.float(), (3, 2), l)",
    "layer long": "F.layer_norm(x.long(), (3, 2))", "layer complex": "F.layer_norm(x + 0j, (3, 2))", "layer number": "F.layer_norm(1, 2)",
    "group count": "F.group_norm(x, 3)", "group zero": "F.group_norm(x, 0)", "group negative": "F.group_norm(x, -1)", "group weight": "F.group_norm(x, 2, w[:3])",
    "group bias": "F.group_norm(x, 2, w, b[:3])", "group rank": "F.group_norm(x[0, 0, 0], 2)", "group one": "F.group_norm(x[:1, :, :1, :1], 4)",
    "group types": "F.group_norm(x, 2, w.float())", "group long": "F.group_norm(x.long(), 2)",
    "batch none": "F.batch_norm(x, None, None, w, b)", "batch mean": "F.batch_norm(x, b.detach()[:3], b.detach())", "batch var": "F.batch_norm(x, b.detach(), b.detach()[:3])",
    "batch weight": "F.batch_norm(x, b.detach(), b.detach(), w[:3], b)", "batch bias": "F.batch_norm(x, b.detach(), b.detach(), w, b[:3])",
    "batch one": "F.batch_norm(x[:1, :, :1, :1], None, None, training=True)", "batch rank": "F.batch_norm(x[0, 0, 0], None, None, training=True)",
    "batch types": "F.batch_norm(x, None, None, w.float(), None, True)", "batch long": "F.batch_norm(x.long(), None, None, training=True)",
    "batch complex": "F.batch_norm(x + 0j, None, None, training=True)", "batch momentum": "F.batch_norm(x, None, None, training=True, momentum=None)",
    "batch one of two": "F.batch_norm(x, b.detach(), None, training=True)", "batch running grad": "F.batch_norm(x, b, b, training=True)",
    "instance none": "F.instance_norm(x, None, None, w, b, False)", "instance one": "F.instance_norm(x[:, :, :1, :1])", "instance flat": "F.instance_norm(x[:, :, 0, 0])",
    "instance mean": "F.instance_norm(x, b.detach()[:3])", "instance weight": "F.instance_norm(x, None, None, w[:3])", "rms shape": "F.rms_norm(x, (4, 2))",
    "rms weight": "F.rms_norm(x, (3, 2), w)", "rms nothing": "F.rms_norm(x, ())", "rms long": "F.rms_norm(x.long(), (3, 2))",
    "response rank": "F.local_response_norm(x[0, 0], 2)",
}.items()])


@case("nn_ops.normalize.running")
def _(torch):
    F = torch.nn.functional
    for dtype in (torch.float32, torch.float64):
        x, mean, var = torch.arange(24.0).view(2, 3, 4).to(dtype).sin(), torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype)
        for momentum in (0.1, 0.3, 1.0):
            F.batch_norm(x * momentum, mean, var, training=True, momentum=momentum)
        yield f"batch {dtype}", mean.clone(), var.clone(), mean._version
        F.instance_norm(x, mean, var, momentum=0.5)
        yield f"instance {dtype}", mean, var, mean._version
    mean, var = torch.zeros(3), torch.ones(3)
    F.batch_norm(x.half(), mean, var, training=True)
    yield "half", mean.dtype, (mean * 100).round(), (var * 100).round()
    mean, var = torch.zeros(3), torch.ones(3)
    F.batch_norm(x.float()[:1, :, :1].expand(1, 3, 2), mean, var, training=True)
    yield "two", mean, var


@case("nn_ops.normalize.graphs")
def _(torch):
    F = torch.nn.functional
    x, w = torch.arange(12.0).view(2, 3, 2).sin().requires_grad_(), torch.ones(3, requires_grad=True)
    mean, var = torch.zeros(3), torch.ones(3)
    out = F.batch_norm(x, mean, var, w, None, True)
    F.batch_norm(x, mean, var, w, None, True)
    yield "trained twice", torch.autograd.grad(out.sum(), [x, w])
    out = F.batch_norm(x, mean, var, w, None, False)
    var.mul_(2)
    yield "written", attempt(lambda: torch.autograd.grad(out.sum(), [x, w]))
    out = F.layer_norm(x, (2,))
    with torch.no_grad():
        x.mul_(2)
    yield "input written", attempt(lambda: torch.autograd.grad(out.sum(), x))
    out = F.instance_norm(x, None, None, w)
    yield "instance", out.grad_fn.next_functions[0][0].name(), [f.name() for f, _ in out.grad_fn.next_functions[0][0].next_functions if f is not None]
