"""Names of the nodes of gradients of activations, first and second order."""

from compat_matrix.case import case


@case("engine.gradient_names.activations")
def _(torch):
    f = torch.nn.functional
    made = {
        "threshold": lambda x: f.threshold(x, 0.1, 0.2), "threshold_": lambda x: f.threshold(x * 1, 0.1, 0.2, True), "relu": torch.relu,
        "relu_": lambda x: (x * 1).relu_(), "relu6": f.relu6, "hardtanh": f.hardtanh, "leaky_relu": f.leaky_relu, "elu": f.elu, "selu": f.selu,
        "celu": f.celu, "gelu": f.gelu, "silu": f.silu, "softplus": f.softplus, "logsigmoid": f.logsigmoid, "hardswish": f.hardswish,
        "hardsigmoid": f.hardsigmoid, "softshrink": f.softshrink, "hardshrink": f.hardshrink, "tanhshrink": f.tanhshrink, "softsign": f.softsign}
    for name, call in made.items():
        x = torch.tensor([-0.7, 0.3, 1.4], requires_grad=True)
        (g,) = torch.autograd.grad(call(x).exp().sum(), x, create_graph=True)
        yield name, g.grad_fn.name(), g.detach()
