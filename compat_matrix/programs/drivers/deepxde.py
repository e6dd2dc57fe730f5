"""A differential equation learnt by a network."""

import os

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402


def program():
    dde.config.set_default_float("float64")
    dde.config.set_random_seed(0)
    line = dde.geometry.Interval(-1, 1)
    edge = dde.icbc.DirichletBC(line, lambda x: 0, lambda x, on: on)
    data = dde.data.PDE(line, lambda x, y: -dde.grad.hessian(y, x) - np.pi**2 * torch.sin(np.pi * x), edge, 16, 2)
    model = dde.Model(data, dde.nn.FNN([1, 8, 8, 1], "tanh", "Glorot uniform"))
    for name, options in (("adam", {"lr": 0.01}), ("L-BFGS", {})):
        if name == "L-BFGS":
            dde.optimizers.set_LBFGS_options(maxiter=3)
        model.compile(name, verbose=0, **options)
        history, _ = model.train(**({"iterations": 3} if options else {}), display_every=1, verbose=0)
        yield name, np.array(history.loss_train)
    yield "answer", model.predict(np.array([[0.3], [0.7]]))
