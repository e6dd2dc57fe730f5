"""Losses of torch.nn.functional: values, first and second order, refusals."""

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.probes import fails, probe, table

X = [[0.5, -1.0, 2.0], [0.1, 0.2, -0.3], [1.0, 1.0, 1.0]]
Y = [[0.5, 0.0, 1.0], [1.1, 0.2, -1.3], [0.0, 3.0, 1.0]]
P = [[0.2, 0.7, 0.1], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]
Q = [[0.1, 0.9, 0.5], [0.01, 0.99, 0.3], [0.6, 0.4, 0.2]]
T = [0, 2, 1]
W = "torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)"
REDUCTIONS = ("mean", "sum", "none")


def reduced(name, expression, inputs):
    return [(f"{name}.{how}", expression.format(how=f"reduction='{how}'"), inputs) for how in REDUCTIONS]


rows = []
for name, call in {
    "mse_loss": "F.mse_loss(x, y, {how})", "l1_loss": "F.l1_loss(x, y, {how})",
    "smooth_l1_loss": "F.smooth_l1_loss(x, y, {how})",
    "smooth_l1_beta": "F.smooth_l1_loss(x, y, {how}, beta=0.5)",
    "huber_loss": "F.huber_loss(x, y, {how})", "huber_delta": "F.huber_loss(x, y, {how}, delta=0.5)",
    "smooth_l1_beta_zero": "F.smooth_l1_loss(x, y, {how}, beta=0.0)",
    "bce_with_logits": "F.binary_cross_entropy_with_logits(x, y, {how})",
    "bce_with_logits_weight": f"F.binary_cross_entropy_with_logits(x, y, weight={W}, {{how}})",
    "bce_with_logits_pos_weight": f"F.binary_cross_entropy_with_logits(x, y, pos_weight={W}, {{how}})",
    "soft_margin_loss": "F.soft_margin_loss(x, y.detach().sign(), {how})",
    "kl_div": "F.kl_div(x, y.abs(), {how})", "kl_div_log": "F.kl_div(x, y, log_target=True, {how})",
    "poisson": "F.poisson_nll_loss(x, y.abs(), {how})",
    "poisson_full": "F.poisson_nll_loss(x, y.abs() * 2, full=True, {how})",
    "hinge_embedding": "F.hinge_embedding_loss(x, torch.tensor([1, -1, 1]), {how})",
    "gaussian": "F.gaussian_nll_loss(x, y, torch.ones(3, 3).double() * 0.5, {how})",
}.items():
    rows += reduced(name, call, {"x": X, "y": Y})
for name, call in {
    "cross_entropy": "F.cross_entropy(x, t, {how})",
    "cross_entropy_weight": f"F.cross_entropy(x, t, weight={W}, {{how}})",
    "cross_entropy_ignore": "F.cross_entropy(x, t, ignore_index=2, {how})",
    "cross_entropy_smoothing": "F.cross_entropy(x, t, label_smoothing=0.1, {how})",
    "cross_entropy_smoothing_weight": f"F.cross_entropy(x, t, weight={W}, label_smoothing=0.2, ignore_index=0, {{how}})",
    "nll_loss": "F.nll_loss(x, t, {how})", "nll_loss_weight": f"F.nll_loss(x, t, weight={W}, {{how}})",
    "nll_loss_ignore": "F.nll_loss(x, t, ignore_index=0, {how})",
    "nll_log_softmax": "F.nll_loss(F.log_softmax(x, 1), t, {how})",
    "multi_margin": "F.multi_margin_loss(x, t, {how})",
}.items():
    rows += reduced(name, call, {"x": X, "t": T})
for name, call in {"cross_entropy_probabilities": "F.cross_entropy(x, p, {how})",
        "cross_entropy_probabilities_weight": f"F.cross_entropy(x, p, weight={W}, label_smoothing=0.1, {{how}})"}.items():
    rows += reduced(name, call, {"x": X, "p": P})
rows += reduced("bce", "F.binary_cross_entropy(q, p, {how})", {"q": Q, "p": P}) + reduced("bce_weight",
    f"F.binary_cross_entropy(q, p, weight={W}, {{how}})", {"q": Q, "p": P})
rows += reduced("margin_ranking",
    "F.margin_ranking_loss(x, y, torch.tensor([1.0, -1.0, 1.0]).double(), margin=0.5, {how})",
    {"x": [1.0, 2.0, 0.5], "y": [0.5, 1.0, 1.0]})
rows += reduced("cosine_embedding", "F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1]), {how})",
    {"x": X, "y": Y})
rows += reduced("triplet_margin", "F.triplet_margin_loss(x, y, z, {how})", {"x": X, "y": Y, "z": Q})
rows += reduced("multilabel_soft_margin", "F.multilabel_soft_margin_loss(x, (y > 0).double(), {how})",
    {"x": X, "y": Y})
table("losses.reduced", probe, rows)

table("losses.special", probe, [
    ("bce at bounds", "F.binary_cross_entropy(q, t.double(), reduction='none')",
        {"q": [0.0, 1.0, 0.0, 1.0], "t": [0, 1, 1, 0]}), ("bce target gradient",
        "F.binary_cross_entropy(q, p, reduction='none')", {"q": [0.3, 0.6], "p": [0.5, 1.0]}),
    ("bce logits large", "F.binary_cross_entropy_with_logits(x, t.double(), reduction='none')",
        {"x": [800.0, -800.0, 800.0, -800.0], "t": [0, 0, 1, 1]}), ("huber at delta",
        "F.huber_loss(x, y, reduction='none')", {"x": [1.0, -1.0, 0.0, 2.0], "y": [0.0, 0.0, 0.0, 0.0]}),
    ("smooth_l1 at beta", "F.smooth_l1_loss(x, y, reduction='none')",
        {"x": [1.0, -1.0, 0.0, 2.0], "y": [0.0, 0.0, 0.0, 0.0]}), ("l1 tie",
        "F.l1_loss(x, y, reduction='none')", {"x": [1.0, 2.0], "y": [1.0, 1.0]}), ("mse broadcast",
        "F.mse_loss(x, y)", {"x": [[1.0], [2.0]], "y": [1.0, 3.0]}),
    ("mse empty", "F.mse_loss(x, y)", {"x": [], "y": []}),
    ("mse empty sum", "F.mse_loss(x, y, reduction='sum')", {"x": [], "y": []}),
    ("l1 empty", "F.l1_loss(x, y)", {"x": [], "y": []}),
    ("all ignored", "F.cross_entropy(x, t, ignore_index=1)", {"x": [[1.0, 2.0]], "t": [1]}),
    ("all ignored sum", "F.cross_entropy(x, t, ignore_index=1, reduction='sum')",
        {"x": [[1.0, 2.0]], "t": [1]}), ("cross_entropy one row", "F.cross_entropy(x, t)",
        {"x": [1.0, 2.0, 3.0], "t": 1}), ("cross_entropy spatial", "F.cross_entropy(x, t)",
        {"x": [[[1.0, 2.0], [3.0, 0.0]]], "t": [[0, 1]]}),
    ("nll spatial", "F.nll_loss(x.view(1, 2, 1, 2), t.view(1, 1, 2), reduction='none')",
        {"x": [[1.0, 2.0], [3.0, 0.0]], "t": [[0, 1]]}), ("nll one", "F.nll_loss(x, t)",
        {"x": [1.0, 2.0], "t": 0}), ("minus hundred", "F.cross_entropy(x, t)",
        {"x": [[1.0, 2.0], [0.0, 1.0]], "t": [1, -100]}),
    ("cross_entropy large", "F.cross_entropy(x, t)", {"x": [[1000.0, 0.0]], "t": [1]}),
    ("cross_entropy inf", "F.cross_entropy(x, t)", {"x": [[float("inf"), 0.0]], "t": [0]}),
    ("kl zero target", "F.kl_div(x, y, reduction='sum')", {"x": [-1.0, -2.0], "y": [0.0, 0.5]}),
    ("kl batchmean", "F.kl_div(x, y, reduction='batchmean')", {"x": X, "y": P}),
    ("hinge at margin", "F.hinge_embedding_loss(x, t, reduction='none')", {"x": [1.0, 0.5, 2.0], "t": [-1, -1, -1]}),
    ("softmax by hand", "-(x.softmax(1)[torch.arange(3), t]).log().mean()", {"x": X, "t": T}),
    ("log_softmax by hand", "-(x - x.logsumexp(1, keepdim=True)).gather(1, t[:, None]).mean()",
        {"x": X, "t": T}), ("mse both", "F.mse_loss(x, y)",
        {"x": [1.0, 2.0], "y": [2.0, 4.0]}), ("margin at bound",
        "F.margin_ranking_loss(x, y, torch.ones(2).double(), reduction='none')",
        {"x": [1.0, 2.0], "y": [1.0, 1.0]}),
    ("gaussian small variance", "F.gaussian_nll_loss(x, y, v, reduction='none')",
        {"x": [1.0, 2.0], "y": [0.0, 0.0], "v": [1e-8, 1.0]}), ("mse weight",
        "F.mse_loss(x, y, weight=torch.tensor([1.0, 3.0]).double())", {"x": [1.0, 2.0], "y": [2.0, 4.0]}),
])

OPERANDS = {"x": X, "y": Y, "t": T, "q": Q}
table("losses.refused", fails, [(n, e, OPERANDS) for n, e in {
    "reduction": "F.mse_loss(x, y, reduction='average')", "mse shapes": "F.mse_loss(x, y[:2])",
    "l1 shapes": "F.l1_loss(x, y[:, :2])", "bce range": "F.binary_cross_entropy(x, y)",
    "bce shapes": "F.binary_cross_entropy(q, q[:2])",
    "bce logits shapes": "F.binary_cross_entropy_with_logits(x, y[:2])",
    "bce target dtype": "F.binary_cross_entropy(q, t)",
    "cross_entropy range": "F.cross_entropy(x, t + 5)", "cross_entropy negative": "F.cross_entropy(x, t - 5)",
    "cross_entropy batch": "F.cross_entropy(x, t[:2])",
    "cross_entropy target dtype": "F.cross_entropy(x, t.float())",
    "cross_entropy int32": "F.cross_entropy(x, t.int())",
    "cross_entropy weight": "F.cross_entropy(x, t, weight=torch.ones(2).double())",
    "cross_entropy weight dtype": "F.cross_entropy(x, t, weight=torch.ones(3))",
    "cross_entropy smoothing": "F.cross_entropy(x, t, label_smoothing=1.5)",
    "nll range": "F.nll_loss(x, t + 5)", "nll dims": "F.nll_loss(x[0, 0], t)",
    "nll batch": "F.nll_loss(x, t[:2])", "nll dtype": "F.nll_loss(x, t.float())",
    "nll reduction": "F.nll_loss(x, t, reduction='x')",
    "cross_entropy reduction": "F.cross_entropy(x, t, reduction='x')",
    "kl reduction": "F.kl_div(x, y, reduction='x')", "huber delta": "F.huber_loss(x, y, delta=0)",
    "smooth beta": "F.smooth_l1_loss(x, y, beta=-1)", "cosine dims": "F.cosine_embedding_loss(x, y, t[:2])",
    "mse integers": "F.mse_loss(t, t)", "mse dtype": "F.mse_loss(x, y.float())",
    "l1 complex": "F.l1_loss(x + 1j, y)", "cross_entropy ints": "F.cross_entropy(t[None], t[:1])",
    "cross_entropy probabilities shape": "F.cross_entropy(x, q[:2])", "softmax ints": "F.softmax(t, 0)",
    "mse number": "F.mse_loss(x, 1.0)", "old reduce": "F.mse_loss(x, y, size_average=False)",
    "softmax dim": "F.softmax(x, 2)", "log_softmax dim": "F.log_softmax(x, -3)",
    "poisson reduction": "F.poisson_nll_loss(x, y, reduction='x')",
    "gaussian negative": "F.gaussian_nll_loss(x, y, -q)", "margin dims": "F.margin_ranking_loss(x, y[0], t)",
    "multi margin p": "F.multi_margin_loss(x, t, p=3)", "triplet": "F.triplet_margin_loss(x, y, q[0])",
    "hinge": "F.hinge_embedding_loss(x, y[:2])",
}.items()])


@case("losses.warnings")
def _(torch):
    F = torch.nn.functional
    a, b = torch.ones(2, 1), torch.ones(2)
    yield "mse", warned(lambda: F.mse_loss(a, b))
    yield "l1", warned(lambda: F.l1_loss(a, b))
    yield "smooth", warned(lambda: F.smooth_l1_loss(a, b))
    yield "kl", warned(lambda: F.kl_div(a, a))
    yield "softmax", warned(lambda: F.softmax(torch.ones(2, 2)))
    yield "log_softmax", warned(lambda: F.log_softmax(b))
    yield "size_average", warned(lambda: F.mse_loss(b, b, size_average=False))
    yield "huber", warned(lambda: F.huber_loss(a, b))


@case("losses.modules")
def _(torch):
    nn = torch.nn
    x = torch.tensor([[0.5, -1.0], [2.0, 0.1]], requires_grad=True)
    y, t = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([1, 0])
    for name, module, target in [("MSELoss", nn.MSELoss(), y), ("L1Loss", nn.L1Loss(), y),
        ("CrossEntropyLoss", nn.CrossEntropyLoss(label_smoothing=0.1), t), ("NLLLoss", nn.NLLLoss(), t),
        ("BCEWithLogitsLoss", nn.BCEWithLogitsLoss(), y),
                                 ("SmoothL1Loss", nn.SmoothL1Loss(), y), ("HuberLoss", nn.HuberLoss(), y),
                                 ("KLDivLoss", nn.KLDivLoss(reduction="batchmean"), y),
                                 ("MSELoss sum", nn.MSELoss(reduction="sum"), y)]:
        loss = module(x, target)
        yield name, loss.detach(), torch.autograd.grad(loss, x), repr(module)


@case("losses.gradient_of_float32_step")
def _(torch):
    F = torch.nn.functional
    w = torch.tensor([[0.1, -0.2], [0.3, 0.4]], requires_grad=True)
    x, t = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([0, 1])
    for _ in range(3):
        loss = F.cross_entropy(F.linear(x, w), t)
        g, = torch.autograd.grad(loss, w)
        with torch.no_grad():
            w -= 0.5 * g
    yield "w", w.detach(), attempt(lambda: loss.detach())


@case("losses.refused_targets_that_require_grad")
def _(torch):
    F = torch.nn.functional
    x = torch.tensor([0.2, 0.7], requires_grad=True)
    t = torch.tensor([0.0, 1.0], requires_grad=True)
    yield "mse", torch.autograd.grad(F.mse_loss(x, t), [x, t])
    yield "bce", torch.autograd.grad(F.binary_cross_entropy(x, t), [x], allow_unused=True)
    yield "nll", raises(lambda: F.nll_loss(x.view(1, 2), t[:1]))


@case("losses.linear_cross_entropy_options")
def _(torch):
    F, options = torch.nn.functional, torch.nn.LinearCrossEntropyOptions
    x, w = torch.linspace(-1, 1, 12).reshape(6, 2).requires_grad_(), torch.linspace(-2, 1, 8).reshape(4, 2).requires_grad_()
    loss = F.linear_cross_entropy(x, w, torch.tensor([0, 3, 1, 2, 2, 0]), options=options(batch_chunk_size=2))
    yield "gradients", torch.autograd.grad(loss, (x, w))
    yield "shown", repr(options(chunking_method="aspect_ratio:2", acc_dtype=torch.float32)), options() == options()
    yield "refused", [raises(lambda how=how: options(**how)) for how in (
        {"chunking_method": "aspect_ratio:x"}, {"chunking_method": "by hand"}, {"batch_chunk_size": 0}, {"batch_chunk_size": 1.5}, {"acc_policy": "any"},
        {"acc_dtype": torch.int32})]


@case("losses.ctc_of_nothing")
def _(torch):
    none = torch.tensor([], dtype=torch.long)
    for size in ((0, 0, 4), (0, 2, 4), (2, 0, 4), (2, 2, 0)):
        n = torch.zeros(size[1], dtype=torch.long)
        yield f"{size}", raises(lambda: torch.nn.functional.ctc_loss(torch.ones(size), none, n, n, reduction="none"))


@case("losses.tangents_of_weights")
def _(torch):
    """Weights of losses have tangents where a step of the loss has a formula for them."""
    F, fw = torch.nn.functional, torch.autograd.forward_ad
    x, w = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], dtype=torch.float64), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    tx, tw = torch.tensor([[1.0, 2.0, -1.0], [0.5, 1.0, 2.0]], dtype=torch.float64), torch.tensor([0.5, 0.25, 1.0], dtype=torch.float64)
    y, p = torch.tensor([2, 0]), torch.tensor([[0.25, 1.0, 0.5], [0.0, 0.75, 0.5]], dtype=torch.float64)
    losses = {"nll": lambda a, b: F.nll_loss(a, y, b), "cross_entropy": lambda a, b: F.cross_entropy(a, y, b, reduction="sum"),
              "smoothed": lambda a, b: F.cross_entropy(a, y, b, label_smoothing=0.2), "probabilities": lambda a, b: F.cross_entropy(a, p, b),
              "binary": lambda a, b: F.binary_cross_entropy(a.sigmoid(), p, b), "logits": lambda a, b: F.binary_cross_entropy_with_logits(a, p, b),
              "pos_weight": lambda a, b: F.binary_cross_entropy_with_logits(a, p, pos_weight=b)}

    def tangent(f, *pairs):
        with fw.dual_level():
            return fw.unpack_dual(f(*[v if t is None else fw.make_dual(v, t) for v, t in pairs])).tangent

    for name, f in losses.items():
        for which, pairs in {"both": ((x, tx), (w, tw)), "weights": ((x, None), (w, tw)), "input": ((x, tx), (w, None))}.items():
            yield f"{name}: {which}", attempt(lambda: tangent(f, *pairs))
        yield f"{name}: jvp", attempt(lambda: torch.func.jvp(f, (x, w), (tx, tw)))
        yield f"{name}: jvp of jvp", attempt(lambda: torch.func.jvp(lambda a, b: torch.func.jvp(f, (a, b), (tx, tw))[1], (x, w), (tx, tw)))
        yield f"{name}: grad", attempt(lambda: torch.func.grad(f, (0, 1))(x, w))
