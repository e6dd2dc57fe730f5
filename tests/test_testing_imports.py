"""Names that PyTorch's own test files import: they are there, or say clearly what is not when they are called."""

import importlib
import itertools

import pytest

import torchlike_autograd as torch
from torchlike_autograd.testing._internal import common_methods_invocations as invocations

HOME = torch.__name__
NAMES = """
testing._internal.optests: OpCheckError aot_autograd_check fake_check generate_opcheck_tests is_inside_opcheck_mode dontGenerateOpCheckTests opcheck
testing._internal.common_subclass: subclass_db SubclassInfo WrapperTensor SparseTensor DiagTensorBelow
testing._internal.composite_compliance: check_with_mode check_all_permutations check_backward_formula check_forward_ad_formula
testing._internal.autocast_test_lists: AutocastCPUTestLists AutocastTestLists TestAutocast
testing._internal.common_quantization: _group_quantize_tensor _dynamically_quantize_per_channel
testing._internal.common_dtype: all_mps_types all_mps_types_and
testing._internal.common_device_type: has_cusolver has_hipsolver disablecuDNN disableMkldnn e4m3_type e5m2_type _get_torch_cuda_version
testing._internal.common_utils: do_test_dtypes do_test_empty_full
testing._internal.common_methods_invocations: SpectralFuncType ForeachFuncInfo foreach_unary_op_db sparse_unary_ufuncs
_custom_op.impl: CustomOp infer_schema custom_op global_registry get_op
_custom_ops: custom_op impl impl_abstract get_ctx impl_save_for_backward impl_backward
_library.fake_profile: generate_yaml_from_profiles load_op_profiles MissingOpProfile OpProfile read_profiles_from_yaml save_op_profiles TensorMetadata
_library.infer_schema: tuple_to_list
_utils_internal: get_file_path_2 get_file_path
_utils: _rebuild_tensor
fx.experimental.symbolic_shapes: ShapeEnv GuardOnDataDependentSymNode
utils._import_utils: import_dill
utils._mode_utils: all_same_mode
utils.serialization.config: load save
utils.data._utils: MP_STATUS_CHECK_INTERVAL
autograd._functions.utils: maybe_view maybe_unexpand
testing._comparison: default_tolerances get_tolerances
testing._utils: wrapper_set_seed
overrides: get_overridable_functions get_testing_overrides get_ignored_functions
_C: _add_docstr _dispatch_tls_local_exclude_set _ExcludeDispatchKeyGuard
serialization: check_module_version_greater_or_equal
_subclasses.fake_tensor: FakeTensorConverter FakeTensorMode DynamicOutputShapeException
testing._internal.common_utils: CrossRefMode
testing._internal.common_dtype: _dispatch_dtypes
_functorch.autograd_function: CtxWithSavedTensors reductify_leaf custom_function_call
_functorch.make_functional: functional_init functional_init_with_buffers
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_names(line):
    module, _, names = line.partition(":")
    found = importlib.import_module(f"{HOME}.{module}")
    assert [n for n in names.split() if not hasattr(found, n)] == []


def test_what_is_not_here_says_so():
    for module, name in (("_custom_op.impl", "custom_op"), ("_library.fake_profile", "OpProfile"), ("fx.experimental.symbolic_shapes", "ShapeEnv"),
                         ("testing._internal.optests", "aot_autograd_check")):
        with pytest.raises(NotImplementedError, match=name):
            getattr(importlib.import_module(f"{HOME}.{module}"), name)()


GENERATORS = [n for n in dir(invocations) if n.startswith("generate_elementwise_")]


@pytest.mark.parametrize("name", GENERATORS)
def test_samples_run(name):
    op = next(o for o in invocations.op_db if o.name == ("eq" if "binary" in name else "exp"))
    for dtype, wants in itertools.product((torch.float32, torch.int64), (False, True)):
        if ("extremal" in name and dtype is torch.int64) or (wants and dtype is torch.int64):
            continue
        samples = list(getattr(invocations, name)(op, device="cpu", dtype=dtype, requires_grad=wants))
        assert samples
        for s in samples:
            if s.input.numel() < 1000:
                op(s.input, *s.args, **s.kwargs)


def test_types_without_such_values():
    op = next(o for o in invocations.op_db if o.name == "add")
    for name, dtype in (("extremal", torch.int32), ("large", torch.uint8), ("small", torch.bool)):
        with pytest.raises(ValueError, match="Unsupported dtype!"):
            list(getattr(invocations, f"generate_elementwise_binary_{name}_value_tensors")(op, device="cpu", dtype=dtype))


def test_undoing_of_broadcasts():
    utils = importlib.import_module(f"{HOME}.autograd._functions.utils")
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert utils.maybe_unexpand(x, (3, 1)).tolist() == x.sum(0).sum(1, keepdim=True).tolist()
    assert utils.maybe_unexpand(x, (2, 3, 4)) is x and utils.maybe_unexpand(x, ()).item() == 276.0
    assert utils.maybe_view(x, (6, 4)).shape == (6, 4) and utils.maybe_view(x, (2, 3, 4)) is x


def test_settings_of_saving():
    config = torch.utils.serialization.config
    before = torch.serialization.get_crc32_options()
    try:
        config.save.compute_crc32 = False
        assert torch.serialization.get_crc32_options() is False
    finally:
        config.save.compute_crc32 = before
    with pytest.raises(AttributeError, match="does not exist"):
        config.load.nothing  # noqa: B018
    with pytest.raises(NotImplementedError, match="storage_alignment"):
        config.save.storage_alignment = 128


def test_tolerances_and_storages():
    comparison = importlib.import_module(f"{HOME}.testing._comparison")
    tolerances = comparison.default_tolerances
    assert comparison.get_tolerances(torch.float64, torch.float16, rtol=None, atol=None, id=(0,)) == (1e-3, 1e-5)
    assert comparison.get_tolerances("not looked at", rtol=1, atol=0) == (1, 0)
    with pytest.raises(ValueError, match="but got no atol"):
        comparison.get_tolerances(torch.float64, rtol=1, atol=None)
    assert tolerances(torch.float32, torch.float16) == (1e-3, 1e-5)
    assert tolerances(torch.ones(1), torch.ones(1, dtype=torch.int64)) == (1.3e-6, 1e-5)
    assert torch._utils._rebuild_tensor(torch.arange(6.0).storage(), 1, (2,), (2,)).tolist() == [1.0, 3.0]


def test_versions_of_modules():
    check = importlib.import_module(f"{HOME}.serialization").check_module_version_greater_or_equal

    class Module:
        __name__, __version__ = "m", "0.3.1.dev"

    assert check(Module(), (0, 3, 1)) and not check(Module(), (0, 4, 0))
    Module.__version__ = "x.y"
    with pytest.raises(RuntimeError, match=r"malformed .x\.y. and cannot be compared"):
        check(Module(), (0, 3, 1))
    with pytest.warns(UserWarning, match="continuing assuming"):
        assert check(Module(), (0, 3, 1), error_if_malformed=False)


def test_a_mode_that_changes_nothing():
    utils = importlib.import_module(f"{HOME}.testing._internal.common_utils")
    with utils.CrossRefMode():
        assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]


def _asked(simple, make):
    given = {"Tensor": make, "TensorList": lambda: [make(), make()], "IntArrayRef": lambda: (1, 2), "Scalar": lambda: 3.5, "int64_t": lambda: 1,
             "double": lambda: 2.0, "bool": lambda: False, "ScalarType": lambda: torch.float32, "c10::string_view": str, "ScalarList": lambda: [1, 2]}
    return given.get(simple.rstrip("?"), make)()


def test_every_function_of_the_lists_asks():
    lists = importlib.import_module(f"{HOME}.overrides")
    said = importlib.import_module(f"{HOME}.testing._internal.generated.annotated_fn_args").annotated_args
    stand_ins, found = lists.get_testing_overrides(), {}

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            found[func] = stand_ins[func](*args, **(kwargs or {})) if func in stand_ins else None
            return -1

    functions = [f for space, fs in lists.get_overridable_functions().items() for f in fs if space is not torch.Tensor and not isinstance(space, property)]
    assert len(functions) > 700 and torch.add in functions and torch.einsum in functions and torch.zeros in lists.get_ignored_functions()
    for f in functions:
        if f in said:
            args = [_asked(a["simple_type"], Like) for a in said[f] if a["is_kwarg_only"] == "False"]
            f(*args, **{a["name"]: _asked(a["simple_type"], Like) for a in said[f] if a["is_kwarg_only"] == "True"})
    assert sum(f in said for f in functions) > 400
    assert [f for f in functions if f in said and found.get(f) != -1] == []
