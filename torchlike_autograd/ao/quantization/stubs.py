"""torch.ao.quantization.stubs (layer 9): the places where a model will be quantized; until it is, they give back what they get."""

from ...nn import Module as _Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class _Stub(_Module):
    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class QuantStub(_Stub):
    """Where floats would become quantized numbers."""


class DeQuantStub(_Stub):
    """Where quantized numbers would become floats."""


class QuantWrapper(_Module):
    """A module between the two."""

    def __init__(self, module):
        super().__init__()
        if qconfig := getattr(module, "qconfig", None):
            self.qconfig = qconfig
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X):
        return self.dequant(self.module(self.quant(X)))
