"""torch.testing._internal.opinfo.core (layer 8): what tests over many operators know of one: how to call it, its types, what it supports, samples.

The facts about PyTorch's own operators (names, types, what they support) are recorded in `facts.json`; the samples are this package's (`samples.py` and the
op table).  An operator without samples skips its tests and says so.
"""

from __future__ import annotations

import enum
import unittest
from typing import NamedTuple

from ...._core import publish as _publish
from ...._tensor import Tensor
from ....utils import _pytree as pytree
from ..._creation import make_tensor
from .. import common_dtype as _types
from ..common_utils import noncontiguous_like
from . import rules
from .rules import SampleRule, SkipRule, XFailRule, sample_skips_and_xfails  # noqa: F401

L, M, S, XS = 20, 10, 5, 3
_NOTHING = object()


class DecorateInfo:
    """Decorators for those tests of an operator that the other arguments fit."""

    __slots__ = ("active_if", "cls_name", "decorators", "device_type", "dtypes", "test_name")

    def __init__(self, decorators, cls_name=None, test_name=None, *, device_type=None, dtypes=None, active_if=True):
        self.decorators = list(decorators) if isinstance(decorators, (list, tuple)) else [decorators]
        self.cls_name, self.test_name, self.device_type, self.dtypes, self.active_if = cls_name, test_name, device_type, dtypes, active_if

    def is_active(self, cls_name, test_name, device_type, dtype, param_kwargs):
        """Whether this test is meant."""
        return bool(self.active_if and self.cls_name in (None, cls_name) and self.test_name in (None, test_name)
                    and self.device_type in (None, device_type) and (self.dtypes is None or dtype in self.dtypes))


class SampleInput:
    """Arguments of one call: the first one, the others, what a gradient check looks at of the result."""

    __slots__ = ("args", "broadcasts_input", "input", "kwargs", "name", "output_process_fn_grad")

    def __init__(self, input, *var_args, args=None, kwargs=None, output_process_fn_grad=None, broadcasts_input=None, name=None, **var_kwargs):
        if (args is not None or kwargs is not None) and (var_args or var_kwargs):
            raise AssertionError("SampleInput takes its arguments as given or as args= and kwargs=, not both")
        self.input = input
        self.args = tuple(args) if args is not None else var_args
        self.kwargs = dict(kwargs) if kwargs is not None else var_kwargs
        self.output_process_fn_grad = output_process_fn_grad or _same
        self.broadcasts_input = bool(broadcasts_input)
        self.name = name or ""

    def with_metadata(self, *, output_process_fn_grad=None, broadcasts_input=None, name=None):
        """This one, with other data about it."""
        if output_process_fn_grad is not None:
            self.output_process_fn_grad = output_process_fn_grad
        if broadcasts_input is not None:
            self.broadcasts_input = broadcasts_input
        if name is not None:
            self.name = name
        return self

    def __repr__(self):
        return f"SampleInput(input={self.input!r}, args={self.args!r}, kwargs={self.kwargs!r}, broadcasts_input={self.broadcasts_input}, name={self.name!r})"

    def summary(self):
        """One line: shapes for tensors."""
        short = lambda t: f"Tensor[size={tuple(t.shape)}, dtype={t.dtype}]" if isinstance(t, Tensor) else t  # noqa: E731
        parts = pytree.tree_map(short, (self.input, self.args, self.kwargs))
        return f"SampleInput(input={parts[0]!r}, args={parts[1]!r}, kwargs={parts[2]!r}, name={self.name!r})"

    def transform(self, f):
        """Another sample, every tensor and dtype of which went through f."""
        from ...._core.dtypes import dtype as kind

        go = lambda x: f(x) if isinstance(x, (Tensor, kind)) else x  # noqa: E731
        input, args, kwargs = (pytree.tree_map(go, x) for x in (self.input, self.args, self.kwargs))
        return SampleInput(input, args=args, kwargs=kwargs, output_process_fn_grad=self.output_process_fn_grad, broadcasts_input=self.broadcasts_input,
                           name=f"{self.name}_transformed")

    def numpy(self):
        """With arrays for tensors."""
        return self.transform(lambda x: x.detach().cpu().numpy() if isinstance(x, Tensor) else x)

    def noncontiguous(self):
        """With the tensors in memory with gaps."""
        return self.transform(lambda x: noncontiguous_like(x) if isinstance(x, Tensor) else x)


class ErrorInput:
    """A sample that must raise."""

    __slots__ = ("error_regex", "error_type", "sample_input")

    def __init__(self, sample_input, *, error_type=RuntimeError, error_regex):
        self.sample_input, self.error_type, self.error_regex = sample_input, error_type, error_regex


class AliasInfo:
    """Another name of an operator."""

    def __init__(self, alias_name):
        self.name, self.op, self.method_variant, self.inplace_variant = alias_name, found(alias_name), _method(alias_name), _method(f"{alias_name}_")

    def __call__(self, *args, **kwargs):
        return self.op(*args, **kwargs)


def _same(x, *args, **kwargs):
    return x


def found(name):
    """The function of this name, with or without `torch.` before it; None if there is none."""
    where = _publish.importlib.import_module(__package__.split(".")[0])
    for part in name.removeprefix("torch.").split("."):
        where = getattr(where, part, None)
        if where is None:
            return None
    return where


def _method(name):
    return getattr(Tensor, name, None) if callable(getattr(Tensor, name, None)) else None


class OpInfo:
    """One operator (or one way of calling it) as tests over operators see it."""

    _defaults = {"supports_out": True, "supports_autograd": True, "supports_gradgrad": None, "supports_fwgrad_bwgrad": False, "supports_forward_ad": False,
                 "supports_inplace_autograd": None, "supports_varargs": False, "check_batched_grad": None, "check_batched_gradgrad": None,
                 "check_batched_forward_grad": None, "check_inplace_batched_forward_grad": None, "gradcheck_nondet_tol": 0.0, "gradcheck_fast_mode": None,
                 "promotes_int_to_float": False, "is_factory_function": False, "test_conjugated_samples": True, "test_neg_view": True, "supports_sparse": False,
                 "supports_sparse_csr": False, "supports_sparse_csc": False, "supports_sparse_bsr": False, "supports_sparse_bsc": False, "supports_njt": False,
                 "supports_scripting": True, "supports_tracing": True, "supports_expanded_weight": False, "has_nondeterministic_output": False,
                 "assert_autodiffed": False, "autodiff_nonfusible_nodes": None, "autodiff_fusible_nodes": None, "assert_jit_shape_analysis": False,
                 "skip_correctness_check_compile_vs_eager": False, "supports_cow_input_no_materialize_forward": True,
                 "supports_cow_input_no_materialize_backward": True, "skip_cow_input_backward": False, "allow_cow_input_materialize_forward": None,
                 "allow_cow_input_materialize_backward": None, "aten_backward_name": None, "decomp_aten_name": None, "error_inputs_sparse_func": None,
                 "sample_inputs_sparse_coo_func": None, "sample_inputs_sparse_csr_func": None, "sample_inputs_sparse_csc_func": None,
                 "sample_inputs_sparse_bsr_func": None, "sample_inputs_sparse_bsc_func": None, "supported_dsls": None}

    def __init__(self, name, *, ref=None, aliases=None, variant_test_name="", op=None, method_variant=_NOTHING, inplace_variant=_NOTHING,
                 operator_variant=_NOTHING, inplace_operator_variant=_NOTHING, skips=(), decorators=None, sample_inputs_func=None, reference_inputs_func=None,
                 error_inputs_func=None, dtypes=None, dtypesIfCUDA=None, dtypesIfROCM=None, dtypesIfMPS=None, dtypesIfHpu=None, dtypesIfXPU=None, dtypesIf=None,
                 backward_dtypes=None, backward_dtypesIfCUDA=None, backward_dtypesIfROCM=None, backward_dtypesIfMPS=None, backward_dtypesIfHpu=None,
                 gradcheck_wrapper=None, aten_name=None, **more):
        self.name, self.ref, self.variant_test_name = name, ref, variant_test_name
        self.op = op if op is not None else found(name)
        plain = name.replace(".", "_") if name.startswith(("linalg.", "fft.", "special.")) else name
        self.method_variant = _method(name) if method_variant is _NOTHING else method_variant
        self.inplace_variant = _method(f"{name}_") if inplace_variant is _NOTHING else inplace_variant
        self.operator_variant = None if operator_variant is _NOTHING else operator_variant
        self.inplace_operator_variant = None if inplace_operator_variant is _NOTHING else inplace_operator_variant
        self.skips = tuple(skips)
        self.decorators = (*(decorators or ()), *self.skips)
        self.sample_inputs_func, self.reference_inputs_func, self.error_inputs_func = sample_inputs_func, reference_inputs_func, error_inputs_func
        self.dtypes = frozenset(_types.floating_types() if dtypes is None else dtypes)
        self.dtypesIf = {"cuda": frozenset(self.dtypes if dtypesIfCUDA is None else dtypesIfCUDA)}
        self.dtypesIf.update({k: frozenset(v) for k, v in (dtypesIf or {}).items()})
        self.dtypesIfCUDA = self.dtypesIf["cuda"]
        self.backward_dtypes = frozenset(self.dtypes if backward_dtypes is None else backward_dtypes)
        self.backward_dtypesIfCUDA = frozenset(self.backward_dtypes if backward_dtypesIfCUDA is None else backward_dtypesIfCUDA)
        self.gradcheck_wrapper = gradcheck_wrapper or _call
        self.aten_name = aten_name or plain
        self.aliases = tuple(AliasInfo(a) for a in aliases or ())
        unknown = set(more) - set(self._defaults) - set(self._own)
        if unknown:
            raise TypeError(f"OpInfo.__init__() got an unexpected keyword argument {sorted(unknown)[0]!r}")
        self.__dict__.update({**self._defaults, **self._own, **more})
        self._consequences()

    _own: dict = {}  # further fields of a subclass, with what they are by default

    def _consequences(self):
        """What is left open follows from `supports_autograd` and `supports_forward_ad`."""
        grad, forward = self.supports_autograd, self.supports_forward_ad
        for field, value in (("supports_gradgrad", grad), ("supports_inplace_autograd", grad), ("check_batched_grad", grad or forward),
                             ("check_batched_forward_grad", forward), ("check_inplace_batched_forward_grad", forward)):
            if getattr(self, field) is None:
                setattr(self, field, value)
        if self.check_batched_gradgrad is None:
            self.check_batched_gradgrad = self.supports_gradgrad

    def __call__(self, *args, **kwargs):
        return self.op(*args, **kwargs)

    def __repr__(self):
        return f"OpInfo(name = '{self.name}', variant_test_name = '{self.variant_test_name}')"

    def __str__(self):
        return repr(self)

    @property
    def full_name(self):
        """The name with that of the variant."""
        return f"{self.name}.{self.variant_test_name}" if self.variant_test_name else self.name

    @property
    def formatted_name(self):
        """As it stands in the names of tests."""
        return self.full_name.replace(".", "_")

    def get_op(self):
        """The function."""
        return self.op

    def get_method(self):
        """The method, or None."""
        return self.method_variant

    def get_inplace(self):
        """The method in place, or None."""
        return self.inplace_variant

    def get_operator(self):
        """The operator's function, or None."""
        return self.operator_variant

    def get_inplace_operator(self):
        """That in place, or None."""
        return self.inplace_operator_variant

    # Samples

    def _samples(self, device, dtype, requires_grad, kwargs):
        if self.sample_inputs_func is None:
            raise unittest.SkipTest(f"there are no samples of {self.full_name} in this package")
        also = kwargs.pop("include_conjugated_inputs", False)
        made = list(self.sample_inputs_func(self, device, dtype, requires_grad, **kwargs))
        return made + _all_conjugated(made) if also and dtype.is_complex else made

    def sample_inputs(self, device, dtype, requires_grad=False, *, use_subtests=False, **kwargs):
        """The samples, of this dtype, one after the other; `unittest.SkipTest` where there are none.

        With `use_subtests` they are (sample, function from the test case to a subtest, function from it to what the test's rules expect).
        """
        return iter(rules.with_subtests(self, device, self._samples(device, dtype, requires_grad, kwargs), use_subtests))

    def reference_inputs(self, device, dtype, requires_grad=False, *, use_subtests=False, **kwargs):
        """More samples, where the description has them."""
        if self.reference_inputs_func is None:
            return self.sample_inputs(device, dtype, requires_grad, use_subtests=use_subtests, **kwargs)
        return iter(rules.with_subtests(self, device, list(self.reference_inputs_func(self, device, dtype, requires_grad, **kwargs)), use_subtests))

    def conjugate_sample_inputs(self, device, dtype, requires_grad=False, *, use_subtests=False, **kwargs):
        """The samples with lazily conjugated tensors."""
        return iter(rules.with_subtests(self, device, _all_conjugated(self._samples(device, dtype, requires_grad, kwargs)), use_subtests))

    def error_inputs(self, device, **kwargs):
        """Samples that must raise."""
        return iter(self.error_inputs_func(self, device, **kwargs) if self.error_inputs_func is not None else ())

    def sample_inputs_sparse(self, layout, device, dtype, requires_grad=False, **kwargs):
        """Samples of another layout, of which this package has none."""
        raise unittest.SkipTest(f"there are no samples of {self.full_name} of layout {layout} in this package")

    def sample_inputs_sparse_coo(self, device, dtype, requires_grad=False, **kwargs):
        """Those of layout COO."""
        return self.sample_inputs_sparse("sparse_coo", device, dtype, requires_grad, **kwargs)

    def sample_inputs_sparse_csr(self, device, dtype, requires_grad=False, **kwargs):
        """Those of layout CSR."""
        return self.sample_inputs_sparse("sparse_csr", device, dtype, requires_grad, **kwargs)

    # What is supported

    def get_decorators(self, test_class, test_name, device, dtype, param_kwargs):
        """The decorators for one test."""
        out = []
        for d in self.decorators:
            if not isinstance(d, DecorateInfo):
                out.append(d)
            elif d.is_active(test_class, test_name, device, dtype, param_kwargs):
                out += d.decorators
        return out

    def supported_dtypes(self, device_type):
        """The types that it takes."""
        return set(self.dtypesIf.get(device_type, self.dtypes))

    def supported_backward_dtypes(self, device_type):
        """The types that have a gradient."""
        if not self.supports_autograd:
            return set()
        found = self.backward_dtypesIfCUDA if device_type == "cuda" else self.backward_dtypes
        return {d for d in found if d.is_floating_point or d.is_complex}

    def supports_dtype(self, dtype, device_type):
        """Whether it takes this type."""
        return dtype in self.supported_dtypes(device_type)

    def supports_complex_autograd(self, device_type):
        """Whether complex types have a gradient."""
        return any(d.is_complex for d in self.supported_backward_dtypes(device_type))


def _call(op, *args, **kwargs):
    return op(*args, **kwargs)


def _all_conjugated(samples):
    return [SampleInput(pytree.tree_map(_conjugated, s.input), args=s.args, kwargs=s.kwargs) for s in samples]


def _conjugated(t):
    if not isinstance(t, Tensor) or not t.is_complex():
        return t
    again = t.detach().conj().resolve_conj().conj()
    return again.requires_grad_(t.requires_grad)


def _elementwise(self, device, dtype, requires_grad, **kwargs):
    low, high = self.domain
    made = lambda *shape: make_tensor(shape, dtype=dtype, device=device, low=low, high=high, requires_grad=requires_grad)  # noqa: E731
    keywords = self.sample_kwargs(device, dtype, None)[0]
    return [SampleInput(made(*shape), kwargs=dict(keywords)) for shape in ((S, S), (), (S,))]


class NumericsFilter(NamedTuple):
    """Where a reference says nothing (a function of a tensor to a mask), and what stands there instead."""

    condition: object
    safe_val: object


class UnaryUfuncInfo(OpInfo):
    """An operator of one operand, element by element."""

    def __init__(self, name, *, domain=(None, None), sample_kwargs=lambda device, dtype, input: ({}, {}), sample_inputs_func=_elementwise, **more):
        self.domain, self.sample_kwargs = domain, sample_kwargs
        super().__init__(name, sample_inputs_func=sample_inputs_func, **more)

    _own = {"handles_complex_extremal_values": True, "handles_large_floats": True, "supports_complex_to_float": False, "reference_numerics_filter": None}


class BinaryUfuncInfo(OpInfo):
    """An operator of two operands, element by element."""

    _own = {"lhs_make_tensor_kwargs": {}, "rhs_make_tensor_kwargs": {}, "always_returns_bool": False, "supports_rhs_python_scalar": True,
            "supports_one_python_scalar": False, "supports_two_python_scalars": False,
            "sample_kwargs": lambda device, dtype, input: ({}, {})}


class ReductionOpInfo(OpInfo):
    """An operator that reduces dims."""

    _own = {"identity": None, "nan_policy": None, "supports_multiple_dims": True, "result_dtype": None, "complex_to_real": False,
            "promotes_int_to_int64": False,
            "generate_args_kwargs": lambda t, dim=None, keepdim=False: iter([((), {})])}


class SpectralFuncType(enum.Enum):
    """Over how many dims a Fourier transform goes."""

    OneD, TwoD, ND = 1, 2, 3


class SpectralFuncInfo(OpInfo):
    """A Fourier transform."""

    _own = {"ndimensional": None}


class ShapeFuncInfo(OpInfo):
    """An operator on shapes."""


class ElementwiseUnaryPythonRefInfo(UnaryUfuncInfo):
    """A reference in Python of an operator of one operand; none are described in this package."""


class ElementwiseBinaryPythonRefInfo(BinaryUfuncInfo):
    """A reference in Python of an operator of two operands."""


class ReductionPythonRefInfo(ReductionOpInfo):
    """A reference in Python of an operator that reduces dims."""


class PythonRefInfo(OpInfo):
    """A reference in Python of another operator."""


KINDS = {k.__name__: k for k in (OpInfo, UnaryUfuncInfo, BinaryUfuncInfo, ReductionOpInfo, SpectralFuncInfo, ShapeFuncInfo)}


def gradcheck_wrapper_hermitian_input(op, input, *args, **kwargs):
    """Calls an operator on the Hermitian part of twice its input, so that a check may change single elements."""
    return op(input + input.mH, *args, **kwargs)


def gradcheck_wrapper_triangular_input(op, *args, upper=False, idx=0, **kwargs):
    """Calls an operator on a triangle of one of its arguments."""
    half = args[idx].triu() if upper else args[idx].tril()
    return op(*args[:idx], half, *args[idx + 1:], upper, **kwargs)


def __getattr__(name):
    if name == "ForeachFuncInfo" or name.startswith("generate_elementwise_"):  # made of what is here
        from . import elementwise, foreach

        return getattr(foreach if name == "ForeachFuncInfo" else elementwise, name)
    raise AttributeError(f"module 'torch.testing._internal.opinfo.core' has no attribute '{name}'")
