"""Dictionaries of tensors: indexing, shapes, stacking, modules in a row, functional parameters."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential


def program():
    torch.set_default_dtype(torch.float64)
    nest = TensorDict({"a": torch.arange(6.0).reshape(2, 3), "b": {"c": torch.ones(2, 3, 4)}}, batch_size=[2, 3])
    yield "parts", nest.shape, nest[0]["a"], nest["b", "c"].sum(), nest.reshape(6)["a"], repr(nest)
    yield "made", torch.stack([nest, nest], 0).shape, nest.apply(lambda x: x + 1)["a"], torch.cat([nest, nest], 1)["a"], nest.flatten_keys(".")["b.c"].sum()
    modules = TensorDictSequential(TensorDictModule(torch.nn.Linear(3, 2), in_keys=["a"], out_keys=["h"]),
                                   TensorDictModule(torch.nn.Tanh(), in_keys=["h"], out_keys=["o"]))
    data = TensorDict({"a": torch.randn(5, 3)}, [5])
    modules(data)["o"].sum().backward()
    yield "modules", data["o"], modules[0].module.weight.grad
    net = torch.nn.Linear(3, 2)
    params = TensorDict.from_module(net)
    with (params * 2).to_module(net):
        yield "functional", net(torch.ones(1, 3))
    yield "back", net(torch.ones(1, 3))
