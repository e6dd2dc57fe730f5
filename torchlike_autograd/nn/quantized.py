"""torch.nn.quantized (layer 8): layers of quantized tensors, which are not here: files can name them and derive from them."""

from .._core import publish as _publish

_NAMES = (
    "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "DeQuantize", "Dropout", "ELU",
    "Embedding", "EmbeddingBag", "FXFloatFunctional", "FloatFunctional", "GroupNorm", "Hardswish", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LSTM",
    "LayerNorm", "LeakyReLU", "Linear", "MaxPool2d", "MultiheadAttention", "PReLU", "QFunctional", "Quantize", "ReLU6", "Sigmoid", "Softmax")


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module 'torch.nn.quantized' has no attribute '{name}'")
    made = globals()[name] = _publish.refused_class("torch.nn.quantized", name, why="there are no quantized tensors here")
    return made
