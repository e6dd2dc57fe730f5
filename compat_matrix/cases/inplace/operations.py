"""In-place operations one by one: values, gradients, what must be unchanged until backward."""

from compat_matrix.case import attempt, raises
from compat_matrix.cases.inplace import leaf
from compat_matrix.probes import each, evaluate

PLAIN = {
    "add_": "t.add_(1)", "sub_": "t.sub_(1)", "mul_": "t.mul_(3)", "div_": "t.div_(2)", "pow_": "t.pow_(2)",
    "neg_": "t.neg_()", "exp_": "t.exp_()", "log_": "t.log_()", "sqrt_": "t.sqrt_()", "abs_": "t.abs_()",
    "clamp_": "t.clamp_(1.5, 2.5)", "zero_": "t.zero_()", "fill_": "t.fill_(7)", "sigmoid_": "t.sigmoid_()",
    "copy_": "t.copy_(torch.tensor([4.0, 5.0, 6.0]))", "tanh_": "t.tanh_()", "relu_": "t.relu_()",
    "floor_": "t.floor_()", "round_": "t.round_()", "sign_": "t.sign_()", "sin_": "t.sin_()", "cos_": "t.cos_()",
    "reciprocal_": "t.reciprocal_()", "rsqrt_": "t.rsqrt_()", "square_": "t.square_()", "fmod_": "t.fmod_(2)",
    "remainder_": "t.remainder_(2)", "masked_fill_": "t.masked_fill_(t > 1, 9.0)",
    "index_fill_": "t.index_fill_(0, torch.tensor([0]), 8.0)", "cumsum_": "t.cumsum_(0)",
    "addcmul_": "t.addcmul_(torch.ones(3), torch.ones(3), value=2)", "lerp_": "t.lerp_(torch.zeros(3), 0.5)",
    "floor_divide_": "t.floor_divide_(2)", "clamp_min_": "t.clamp_min_(2)", "clamp_max_": "t.clamp_max_(2)",
    "addcdiv_": "t.addcdiv_(torch.ones(3), torch.full((3,), 2.0))", "trunc_": "t.trunc_()", "ceil_": "t.ceil_()",
    "log1p_": "t.log1p_()", "expm1_": "t.expm1_()", "atan_": "t.atan_()", "erf_": "t.erf_()",
    "cumprod_": "t.cumprod_(0)",
    "bitwise": "t.logical_and_(t > 1)", "nan_to_num_": "t.nan_to_num_()", "frac_": "t.frac_()", "sinh_": "t.sinh_()",
    "true_divide_": "t.true_divide_(4)", "multiply_": "t.multiply_(4)", "subtract_": "t.subtract_(1, alpha=2)",
    "index_put_": "t.index_put_((torch.tensor([0, 0]),), torch.tensor([4.0, 5.0]), accumulate=True)",
    "put_": "t.put_(torch.tensor([2]), torch.tensor([5.0]))", "swap": "t.copy_(t.flip(0))",
}
UNARY = ["add_", "mul_", "div_", "pow_", "exp_", "sqrt_", "zero_", "fill_", "relu_", "sigmoid_", "tanh_",
    "neg_", "clamp_",
         "masked_fill_", "sub_", "sin_", "cumsum_", "square_", "abs_", "copy_", "log_", "reciprocal_", "log1p_",
         "cos_",
         "index_fill_", "clamp_min_", "floor_", "cumprod_", "true_divide_", "remainder_", "erf_", "lerp_", "addcmul_"]


def changes(torch, expression):
    t = torch.tensor([1.0, 2.0, 3.0])
    out = evaluate(torch, expression, t=t)
    yield "value", t, t._version
    yield "returns self", out is t


def gradient(torch, expression):
    x = leaf(torch, dtype=torch.float64)
    y = x * 1
    evaluate(torch, expression.replace("torch.ones(3)", "torch.ones(3).double()"), t=y)
    yield "node", y.grad_fn.name(), y._version
    y.sum().backward()
    yield "value", y.detach(), x.grad


each("inplace.plain", changes, PLAIN)
each("inplace.gradient", gradient,
    {name: PLAIN[name].replace("torch.zeros(3)", "torch.zeros(3).double()") for name in UNARY})


def gradient_of_two(torch, expression):
    x, w = leaf(torch, dtype=torch.float64), leaf(torch, (4.0, 5.0, 6.0), torch.float64)
    y = x * 1
    evaluate(torch, expression, t=y, o=w)
    yield "node", y.grad_fn.name()
    loss = (y * torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)).sum()
    yield "backward", attempt(loss.backward)
    yield "value", y.detach()
    yield "gradients", x.grad, w.grad


each("inplace.gradient_of_two", gradient_of_two, {
    "add_": "t.add_(o)", "sub_": "t.sub_(o, alpha=2)", "mul_": "t.mul_(o)", "div_": "t.div_(o)",
    "copy_": "t.copy_(o)",
    "pow_": "t.pow_(o)", "addcmul_": "t.addcmul_(o, o)", "lerp_": "t.lerp_(o, 0.25)", "fill_": "t.fill_(o.sum())",
    "index_add_": "t.index_add_(0, torch.tensor([0, 0, 2]), o)",
    "index_copy_": "t.index_copy_(0, torch.tensor([2, 0, 1]), o)",
    "scatter_": "t.scatter_(0, torch.tensor([2, 0, 1]), o)",
    "scatter_add_": "t.scatter_add_(0, torch.tensor([0, 0, 1]), o)",
    "masked_scatter_": "t.masked_scatter_(torch.tensor([True, False, True]), o)", "atan2_": "t.atan2_(o)",
    "index_put_": "t.index_put_((torch.tensor([0, 2]),), o[:2])", "iadd": "t.__iadd__(o)", "imul": "t.__imul__(o)",
    "masked_fill_": "t.masked_fill_(torch.tensor([True, False, True]), o[1])", "hypot_": "t.hypot_(o)",
    "index_put accumulate": "t.index_put_((torch.tensor([0, 0]),), o[:2], accumulate=True)",
    "self": "t.mul_(t).mul_(o)",
})


def changed_after_use(torch, expression):
    x = leaf(torch)
    y = x * 1
    z = evaluate(torch, expression, y=y).sum()
    y.add_(1)
    yield "error", raises(lambda: z.backward())
    yield "grad", x.grad


each("inplace.input_changed", changed_after_use, {
    "mul": "y * y", "exp": "y.exp()", "pow": "y ** 3", "sin": "y.sin()", "add": "y + y", "sigmoid": "y.sigmoid()",
    "relu": "y.relu()", "abs": "y.abs()", "mul constant": "y * 2", "matmul": "y @ y", "div": "1 / y",
    "log": "y.log()",
    "sqrt": "y.sqrt()", "index": "y[1:]", "max": "y.max()", "where": "torch.where(y > 1, y, 0.0)",
    "clamp": "y.clamp(0, 2)",
    "norm": "y.norm()", "prod": "y.prod()", "softmax": "y.softmax(0)", "logsumexp": "y.logsumexp(0)",
    "tanh": "y.tanh()",
    "cumsum": "y.cumsum(0)", "mean": "y.mean()", "var": "y.var()", "max dim": "y.max(0).values",
    "sort": "y.sort().values",
    "softplus": "F.softplus(y)", "leaky_relu": "F.leaky_relu(y)", "gelu": "F.gelu(y)",
    "maximum": "torch.maximum(y, y * 2)",
    "div by": "y / torch.ones(3)", "cat": "torch.cat([y, y])", "square": "y.square()",
    "expand": "y.expand(2, 3).sum()",
    "mse": "F.mse_loss(y, torch.zeros(3))", "view mul": "y.view(3) * 2", "view square": "y.view(3) ** 2",
})


def result_changed(torch, expression):
    x = leaf(torch)
    y = evaluate(torch, expression, x=x)
    yield "write", raises(lambda: y.mul_(2))
    yield "backward", attempt(lambda: y.sum().backward())
    yield "grad", x.grad


each("inplace.result_changed", result_changed, {
    "exp": "x.exp()", "sigmoid": "x.sigmoid()", "tanh": "x.tanh()", "sqrt": "x.sqrt()", "relu": "x.relu()",
    "softmax": "x.softmax(0)",
    "sin": "x.sin()", "log": "x.log()", "mul": "x * x", "reciprocal": "x.reciprocal()", "abs": "x.abs()",
    "cumprod": "x.cumprod(0)",
    "log_softmax": "x.log_softmax(0)", "pow": "x ** 2", "div": "x / 3", "leaky_relu": "F.leaky_relu(x)",
    "std": "x.std()",
    "norm": "x.norm()", "logsumexp": "x.logsumexp(0)", "tan": "x.tan()", "expm1": "x.expm1()", "rsqrt": "x.rsqrt()",
    "amax": "x.amax()", "max": "x.max()", "cummax": "x.cummax(0).values", "elu": "F.elu(x)",
    "dropout 0": "F.dropout(x, 0.0)",
})


def inplace_flag(torch, expression):
    x = leaf(torch, (-1.0, 0.5, 2.0))
    y = x * 1
    out = evaluate(torch, expression, y=y)
    yield "same", out is y, out.detach(), out.grad_fn.name()
    yield "grad", torch.autograd.grad(out.sum(), x)


each("inplace.flag", inplace_flag, {
    "relu": "F.relu(y, inplace=True)", "leaky_relu": "F.leaky_relu(y, 0.1, inplace=True)",
    "elu": "F.elu(y, inplace=True)",
    "hardtanh": "F.hardtanh(y, inplace=True)", "silu": "F.silu(y, inplace=True)",
    "threshold": "F.threshold(y, 0.7, 5.0, inplace=True)",
    "relu6": "F.relu6(y, inplace=True)", "selu": "F.selu(y, inplace=True)",
})
