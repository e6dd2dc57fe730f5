"""Networks that solve differential equations: heat, and an equation whose factor is learnt."""

import contextlib
import io
import os

os.environ["DDE_BACKEND"] = "pytorch"

import deepxde as dde
import numpy as np
import torch


def heat(x, y):
    dy_t, dy_xx = dde.grad.jacobian(y, x, i=0, j=1), dde.grad.hessian(y, x, i=0, j=0)
    return dy_t - dy_xx + torch.exp(-x[:, 1:]) * (torch.sin(np.pi * x[:, :1]) - np.pi**2 * torch.sin(np.pi * x[:, :1]))


def solution(x):
    return np.sin(np.pi * x[:, :1]) * np.exp(-x[:, 1:])


def program():
    dde.config.set_default_float("float64")
    dde.config.set_random_seed(1)
    place = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 1))
    edges = [dde.icbc.DirichletBC(place, solution, lambda _, on: on), dde.icbc.IC(place, solution, lambda _, on: on)]
    data = dde.data.TimePDE(place, heat, edges, num_domain=20, num_boundary=10, num_initial=5, solution=solution, num_test=30)
    model = dde.Model(data, dde.nn.FNN([2, 16, 16, 1], "tanh", "Glorot normal"))
    with contextlib.redirect_stdout(io.StringIO()):
        model.compile("adam", lr=1e-3, metrics=["l2 relative error"])
        history, _ = model.train(iterations=20, display_every=10)
    yield "heat", np.array(history.loss_train), np.array(history.metrics_test), model.predict(np.array([[0.1, 0.2], [0.5, 0.7]]), operator=heat)

    factor = dde.Variable(2.0, dtype=torch.float64)
    times = np.linspace(0, 1, 10)[:, None]
    time = dde.geometry.TimeDomain(0, 1)
    parts = [dde.icbc.IC(time, lambda x: np.ones((len(x), 1)), lambda x, on: on), dde.icbc.PointSetBC(times, np.exp(times), component=0)]
    data = dde.data.PDE(time, lambda x, y: dde.grad.jacobian(y, x) - factor * y, parts, 12, 2, anchors=times)
    model = dde.Model(data, dde.nn.FNN([1, 8, 8, 1], "sin", "Glorot uniform"))
    with contextlib.redirect_stdout(io.StringIO()):
        model.compile("adam", lr=1e-2, external_trainable_variables=[factor])
        history, _ = model.train(iterations=30, display_every=10)
    yield "factor", np.array(history.loss_train), factor.detach()
