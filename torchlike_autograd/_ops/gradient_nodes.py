"""What torch calls the node that made a gradient (layer 2): `grad_fn` of what ``grad(..., create_graph=True)`` returns.

A pullback is one step here, and its name is that of the last operator in torch's formula.  `FIRST` says it for first derivatives,
by input where the inputs differ, or by the call's settings where those decide; `SECOND` for derivatives of those with respect to the operator's inputs.  A node that stands in
neither keeps its own name (`MulBackward0`, `MmBackward0`, `FlipBackward0`: their formulas end in themselves).
"""

from __future__ import annotations

_PRODUCT = [
    "SinBackward0", "CosBackward0", "TanBackward0", "ExpBackward0", "Expm1Backward0", "RsqrtBackward0", "SinhBackward0", "CoshBackward0", "AsinhBackward0",
    "ErfBackward0", "ErfcBackward0", "LgammaBackward0", "DigammaBackward0", "ReciprocalBackward0", "I0Backward0", "ErfinvBackward0", "PowBackward0",
    "PowBackward2"]
_OWN = ["Tanh", "Sigmoid", "Softmax", "LogSoftmax"]  # derivatives of these are operators of their own, to any order
_TWICE = [
    "LeakyRelu", "Hardtanh", "Hardswish", "Hardshrink", "Softshrink", "MseLoss", "SmoothL1Loss", "HuberLoss", "NllLoss", "Select", "Slice", "Unfold",
    "Convolution", "AvgPool2D", "AvgPool3D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool2D", "NativeBatchNormLegit", "AdaptiveMaxPool3D",
    "MaxPool2DWithIndices", "MaxPool3DWithIndices", "FractionalMaxPool2D", "FractionalMaxPool3D", "NativeBatchNorm", "NativeLayerNorm", "GridSampler2D",
    "GridSampler3D", "UpsampleNearest1D", "UpsampleNearest2D", "UpsampleNearest3D", "UpsampleNearestExact1D", "UpsampleNearestExact2D",
    "UpsampleNearestExact3D", "UpsampleLinear1D", "UpsampleBilinear2D", "UpsampleTrilinear3D", "UpsampleBicubic2D", "UpsampleBilinear2DAa",
    "UpsampleBicubic2DAa", "UpsampleLanczos2DAa", "Glu", "PreluKernel", "RreluWithNoise", *(f"{kind}Pad{n}D" for kind in ("Reflection", "Replication") for n in (1, 2, 3))]
_EXTREME = ["MaximumBackward0", "MinimumBackward0", "FmaxBackward0", "FminBackward0"]
_BY_INDEX = ["MaxBackward0", "MinBackward0", "SortBackward0", "SortBackward1", "TopkBackward0"]

FIRST = {
    **dict.fromkeys(_PRODUCT, "MulBackward0"),
    **{f"{n}Backward0": f"{n}Backward{'Data' if 'Soft' in n else ''}Backward0" for n in _OWN},
    **{f"{n}Backward0": f"{n}BackwardBackward0" for n in _TWICE},
    **dict.fromkeys(_EXTREME, "MaskedFillBackward0"),
    **dict.fromkeys(_BY_INDEX, "ScatterBackward0"),
    **dict.fromkeys(("AsinBackward0", "AcosBackward0", "AcoshBackward0", "SiluBackward0", "MishBackward0", "Atan2Backward0", "LogsumexpBackward0",
                     "LinalgVectorNormBackward0", "ProdBackward0", "ProdBackward1", "StdBackward0", "VarBackward0", "AmaxBackward0", "AminBackward0",
                     "AbsBackward0", "NanToNumBackward0", "DotBackward0", "NormBackward0", "NormBackward2", "NormBackward3"), "MulBackward0"),
    **dict.fromkeys(("LogBackward0", "Log2Backward0", "Log10Backward0", "Log1PBackward0", "SqrtBackward0", "AtanBackward0", "AtanhBackward0",
                     "HypotBackward0", "LogaddexpBackward0", "CumprodBackward0"), "DivBackward0"),
    **dict.fromkeys(("Exp2Backward0", "Deg2RadBackward0", "LerpBackward0"), "MulBackward1"),
    **dict.fromkeys(("SincBackward0", "LogitBackward0", "ClampBackward0", "ClampBackward1"), "WhereBackward0"),
    **dict.fromkeys(("EluBackward0", "CeluBackward0"), "EluBackwardBackward0"),
    **dict.fromkeys(("MaxBackward1", "MinBackward1", "MedianBackward0"), "MaskedFillBackward1"),
    **dict.fromkeys(("MeanBackward0", "MeanBackward1"), "DivBackward1"),
    "BinaryCrossEntropyWithLogitsBackward0": lambda statics: "DivBackward1" if statics.get("reduction") == 1 else "MulBackward0",
    **dict.fromkeys(("ExpandBackward0", "TraceBackward0", "NativeGroupNormBackward0", "MaxUnpool2DBackward0", "MaxUnpool3DBackward0"), "ViewBackward0"),
    "NativeBatchNormLegitBackward0": "NativeBatchNormBackwardBackward0", "NativeBatchNormLegitBackward1": "NativeBatchNormBackwardBackward0",
    "BatchNormWithUpdateBackward0": "BatchNormBackwardBackward0",
    "GeluBackward0": "GeluBackwardBackward0", "SoftplusBackward0": "SoftplusBackwardBackward0", "LogSigmoidBackward0": "LogSigmoidBackwardBackward0",
    **dict.fromkeys(("ReluBackward0", "ThresholdBackward0", "ThresholdBackward1"), "ThresholdBackwardBackward0"),
    "BinaryCrossEntropyBackward0": "BinaryCrossEntropyBackwardBackward0",
    "PowBackward1": {"self": "WhereBackward0", "exponent": "MulBackward0"}, "DivBackward0": {"other": "MulBackward0"},
    **{f"{n}Backward0": {"self": "MaskedFillBackward0", "other": "DivBackward0"} for n in ("Xlogy", "SpecialXlog1Py")},
    "AddcmulBackward0": {"tensor1": "MulBackward0", "tensor2": "MulBackward0"},
    "LerpBackward1": {"weight": "MulBackward0"}, "FmodBackward1": {"other": "MulBackward0"}, "RemainderBackward1": {"other": "MulBackward0"},
    "CopysignBackward0": {"self": "MulBackward0"}, "MvBackward0": {"self": "MulBackward0"},
    "SumBackward0": "ExpandBackward0", "CumsumBackward0": "FlipBackward0", "LogcumsumexpBackward0": "SubBackward0", "IndexBackward0": "IndexPutImplBackward0",
    "GatherBackward0": "ScatterAddBackward0", "IndexSelectBackward0": "IndexAddBackward0", "DiagEmbedBackward0": "DiagonalBackward0",
    "RepeatBackward0": "SumBackward1", "UnsqueezeBackward0": "SqueezeBackward1", "CatBackward0": "SliceBackward0", "StackBackward0": "SelectBackward0",
    "Im2ColBackward0": "Col2ImBackward0", "Col2ImBackward0": "Im2ColBackward0", "PixelShuffleBackward0": "PixelUnshuffleBackward0",
    "PixelUnshuffleBackward0": "PixelShuffleBackward0", "AffineGridGeneratorBackward0": "TransposeBackward0",
    "SplitBackward0": "CatBackward0", "SubBackward0": {"other": "NegBackward0"}, "RsubBackward1": {"self": "NegBackward0"},
}

SECOND = {
    **dict.fromkeys((*_PRODUCT, "LogBackward0", "Log1PBackward0", "AtanhBackward0", "EluBackward0", "CeluBackward0", "GeluBackward0", "LogSigmoidBackward0"),
                    "MulBackward0"),
    **{f"{n}Backward0": FIRST[f"{n}Backward0"] for n in _OWN},
    **dict.fromkeys(("Exp2Backward0", "Log2Backward0", "Log10Backward0", "SoftplusBackward0"), "MulBackward1"),
    **dict.fromkeys(("AsinBackward0", "AcosBackward0", "AcoshBackward0", "AtanBackward0", "SincBackward0", "LogitBackward0", "SiluBackward0", "MishBackward0",
                     "PowBackward1", "Atan2Backward0", "HypotBackward0", "LogaddexpBackward0", "LogsumexpBackward0", "LinalgVectorNormBackward0",
                     "NormBackward0", "NormBackward2", "NormBackward3", "ProdBackward0", "ProdBackward1", "StdBackward0", "CumprodBackward0", "LogcumsumexpBackward0", "CopysignBackward0"), "AddBackward0"),
    "ConvolutionBackward0": {"input": "ConvolutionBackward0", "weight": "TransposeBackward0"},
    "SqrtBackward0": "DivBackward0", "BinaryCrossEntropyBackward0": "DivBackward1", "BinaryCrossEntropyWithLogitsBackward0": "SigmoidBackwardBackward0",
    "DivBackward0": {"self": "DivBackward0", "other": "AddBackward0"}, "XlogyBackward0": {"self": "MulBackward0", "other": "AddBackward0"},
}


# Nodes whose gradients come from one operator, so that each of them depends on all that it reads.
WHOLE = {*(f"{n}Backward0" for n in _TWICE), "NativeBatchNormLegitBackward1", "BatchNormWithUpdateBackward0"}

# Nodes each of whose gradients torch has a formula of its own for: with a graph of theirs they are nodes of their own too, and a pass through one frees nothing of another.
APART = {n for n in SECOND if n not in ("Atan2Backward0", "ConvolutionBackward0")} | {f"{n}Backward0" for n in [
    "Mul", "Mm", "Bmm", "Addmm", "Addmv", "Addr", "Addbmm", "Baddbmm", "Mv", "Dot", "Vdot", "Lerp", "Addcmul", "Addcdiv", "LinalgCross", "SpecialXlog1Py", "Fmod", "Remainder",
    "Maximum", "Minimum", "Fmax", "Fmin", "MseLoss", "SmoothL1Loss", "HuberLoss", "Linear", "Where", "Polar", "Complex", "SpecialZeta"]} | {
    "LerpBackward1", "FmodBackward1", "RemainderBackward1", "DivBackward1", "DivBackward2", "PowBackward3"}

# Nodes that hand a gradient on as the tensor that it is where nothing has to be done to it.
PASSING = {f"{n}Backward0" for n in [
    "Add", "Clone", "Expand", "Graft", "Squeeze", "Sub", "Rsub", "Addmm", "Addmv", "Addr", "Addbmm", "Baddbmm", "Addcmul", "Addcdiv", "Fmod", "Remainder",
    "IndexAdd", "ScatterAdd"]} | {"SqueezeBackward1", "SqueezeBackward2", "FmodBackward1", "RemainderBackward1"}


def first(node, owner, statics):
    """The name for the gradient of the input `owner` of an operator whose node is `node`, called with the settings `statics`."""
    found = FIRST.get(node, node)
    found = found(statics) if callable(found) else found
    return found.get(owner, node) if isinstance(found, dict) else found


def second(node, owner, statics):
    """The name for a derivative of such a gradient; `owner` is None for its cotangent."""
    if owner is None:
        return first(node, owner, statics) if node in SECOND else node
    found = SECOND.get(node)
    if isinstance(found, dict):
        found = found.get(owner)
    return found or first(node, owner, statics)


def together(names):
    """One name for all results of a step, or a tuple of them."""
    return names[0] if len(set(names)) == 1 else tuple(names)


def passed(jaxpr, n):
    """For each result the cotangent that it is, or None; () where none is one."""
    found = tuple(next((i for i, v in enumerate(jaxpr.invars[:n]) if v is o), None) for o in jaxpr.outvars)
    return found if any(i is not None for i in found) else ()


__all__ = ["APART", "FIRST", "PASSING", "SECOND", "WHOLE", "first", "passed", "second", "together"]
