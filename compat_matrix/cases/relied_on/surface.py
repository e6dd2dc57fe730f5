"""The names that programs reach under torch.autograd and its neighbours, beside those of `__all__`: whether they are there, and what the rare ones do."""

import importlib

from compat_matrix.case import attempt, case, raises, warned

MODULES = {
    "autograd": "Variable Function backward grad_mode NestedIOFunction detect_anomaly set_detect_anomaly enable_grad no_grad grad set_grad_enabled inference_mode "
                "set_multithreading_enabled enforce_grad_layout_policy gradcheck gradgradcheck variable is_multithreading_enabled is_view_replay_enabled SavedTensor anomaly_mode forward_ad function "
                "functional graph profiler profiler_util profiler_legacy _is_checkpoint_valid _force_original_view_tracking _unsafe_preserve_version_counter _calculate_shape "
                "_make_grads _tensor_or_tensors_to_tuple kineto_available ProfilerActivity",
    "autograd.function": "FunctionCtx BackwardCFunction FunctionMeta Function once_differentiable InplaceFunction NestedIOFunction",
    "autograd.functional": "vjp jvp jacobian hessian vhp hvp", "autograd.anomaly_mode": "detect_anomaly set_detect_anomaly",
    "autograd.grad_mode": "no_grad enable_grad set_grad_enabled inference_mode set_multithreading_enabled",
    "autograd.graph": "saved_tensors_hooks save_on_cpu disable_saved_tensors_hooks register_multi_grad_hook allow_mutation_on_saved_tensors Node GradientEdge get_gradient_edge "
                      "increment_version region_activation_memory_budget set_warn_on_accumulate_grad_stream_mismatch set_override_stale_capture_stream",
    "autograd.forward_ad": "UnpackedDualTensor enter_dual_level exit_dual_level make_dual unpack_dual dual_level _set_fwd_grad_enabled _current_level",
    "autograd.profiler": "profile record_function emit_itt emit_nvtx EnforceUnique KinetoStepTracker EventList FunctionEvent MemRecordsAcc",
    "autograd.profiler_util": "EventList FormattedTimesMixin Interval Kernel FunctionEvent FunctionEventAvg StringTable MemRecordsAcc",
    "autograd.profiler_legacy": "profile", "autograd.variable": "VariableMeta Variable",
    "func": "grad grad_and_value vmap vjp jvp jacrev jacfwd hessian linearize functionalize functional_call stack_module_state replace_all_batch_norm_modules_ debug_unwrap rearrange",
    "utils.checkpoint": "checkpoint checkpoint_sequential CheckpointError CheckpointFunction check_backward_validity detach_variable get_device_states set_device_states "
                        "noop_context_fn set_checkpoint_early_stop DefaultDeviceType set_checkpoint_debug_enabled CheckpointPolicy SelectiveCheckpointContext "
                        "create_selective_checkpoint_contexts SAC_IGNORED_OPS GraphExecGroup",
    "utils.hooks": "RemovableHandle BackwardHook unserializable_hook", "amp": "custom_fwd custom_bwd", "library": "custom_op register_autograd register_vmap opcheck",
}
TENSOR = ("requires_grad requires_grad_ is_leaf grad _grad grad_fn _grad_fn grad_dtype retain_grad retains_grad backward detach detach_ data output_nr _version _base _is_view "
          "_view_func _view_func_unsafe _rev_view_func_unsafe _backward_hooks register_hook register_post_accumulate_grad_hook _post_accumulate_grad_hooks is_inference clone view_as set_ "
          "zero_ resolve_conj resolve_neg is_conj is_neg conj _neg_view __deepcopy__ __reduce_ex__ numpy item share_memory_ untyped_storage _make_subclass")
FUNCTION = ("forward setup_context backward vjp jvp vmap apply generate_vmap_rule clear_saved_tensors_on_access boxed_grads_call _backward_cls "
            "save_for_backward save_for_forward mark_dirty mark_non_differentiable set_materialize_grads mark_shared_storage")
CONTEXT = ("saved_tensors saved_variables needs_input_grad dirty_tensors non_differentiable to_save saved_for_forward _raw_saved_tensors _materialize_non_diff_grads "
           "apply apply_jvp apply_boxed _forward_cls _autograd_function_id name next_functions metadata register_hook register_prehook _register_hook_dict "
           "_sequence_nr _set_sequence_nr _input_metadata")
NODE = "name next_functions metadata register_hook register_prehook _register_hook_dict _sequence_nr _set_sequence_nr _input_metadata requires_grad"


def missing(owner, names):
    """The names that an object has not; an attribute that raises something else is there."""
    out = []
    for name in names.split():
        try:
            getattr(owner, name)
        except AttributeError:
            out.append(name)
        except Exception:
            continue
    return out


@case("relied_on.surface.modules")
def _(torch):
    for module, names in MODULES.items():
        yield module, missing(importlib.import_module(f"{torch.__name__}.{module}"), names)
    gradcheck = importlib.import_module(f"{torch.__name__}.autograd.gradcheck")
    yield "gradcheck", missing(gradcheck, "gradcheck gradgradcheck GradcheckError get_numerical_jacobian get_analytical_jacobian get_numerical_jacobian_wrt_specific_input")
    yield "queries", missing(torch, "is_anomaly_enabled is_anomaly_check_nan_enabled is_grad_enabled is_inference_mode_enabled is_inference")
    V = torch.autograd.Variable
    yield "Variable", isinstance(torch.ones(1), V), type(V(torch.ones(1))).__name__, V(torch.ones(1), requires_grad=True).requires_grad, raises(lambda: torch.autograd.variable(1)), hasattr(
        torch.autograd.variable, "Variable")


@case("relied_on.surface.members")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    yield "tensor", missing(x, TENSOR)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.mine = 3
            held.append([n for n in missing(ctx, CONTEXT) if n not in ("dirty_tensors", "non_differentiable", "saved_for_forward", "saved_variables", "next_functions", "metadata", "_input_metadata")])
            return x * 2

        @staticmethod
        def backward(ctx, g):
            held.append([n for n in missing(ctx, CONTEXT) if n not in ("dirty_tensors", "non_differentiable", "saved_for_forward", "saved_variables", "to_save")])
            held.append(ctx.mine)
            return g * 2
    held = []
    y = Double.apply(x)
    y.sum().backward()
    yield "function", missing(Double, FUNCTION), held
    node = (x * x).grad_fn
    yield "node", missing(node, NODE), missing(node, "_saved_self _raw_saved_self"), missing(node._raw_saved_self, "data unpack register_hooks unpack_hook")
    acc = node.next_functions[0][0]
    yield "leaf", missing(acc, NODE), acc.variable is x, acc.name()
    m = node._input_metadata[0]
    yield "metadata", missing(m, "shape dtype device is_nested_tensor is_cpp_nested_tensor")
    yield "module", missing(torch.nn.Linear(1, 1), "register_full_backward_hook register_full_backward_pre_hook register_backward_hook zero_grad")
    yield "global hooks", missing(torch.nn.modules.module, "register_module_full_backward_hook register_module_full_backward_pre_hook register_module_backward_hook")
    h = x.register_hook(lambda g: None)
    yield "handle", type(h.id).__name__, missing(h, "id remove __enter__ __exit__")


@case("relied_on.surface.rare members")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[0:1]
    yield "view functions", v._view_func(torch.tensor([5.0, 6.0])), y._is_view(), v._is_view(), v._base is y, y._base
    yield "readable", x._grad, y._grad, y._grad_fn is y.grad_fn, x._backward_hooks, x._post_accumulate_grad_hooks
    x.register_hook(lambda g: None)
    x.register_post_accumulate_grad_hook(lambda t: None)
    yield "hooks", len(x._backward_hooks), len(x._post_accumulate_grad_hooks), type(x._backward_hooks).__name__
    yield "not settable", [raises(lambda n=n: setattr(x, n, 1)) for n in ("grad_fn", "is_leaf", "output_nr", "_version", "_base", "retains_grad")]
    yield "grad_dtype", x.grad_dtype, raises(lambda: y.grad_dtype), raises(lambda: setattr(x, "grad_dtype", 3))
    x.grad_dtype = torch.float64
    (x * 3).sum().backward()
    yield "gradient of it", x.grad, x.grad_dtype
    c = torch.tensor([1 + 2j]).conj()
    yield "bits", c.is_conj(), c.resolve_conj().is_conj(), c.imag.is_neg(), c.imag.resolve_neg(), torch.ones(1)._neg_view().is_neg()
    yield "item", warned(lambda: float(torch.tensor(1.0, requires_grad=True))), warned(lambda: torch.tensor(1.0, requires_grad=True).item())
    yield "made", type(torch.Tensor._make_subclass(torch.nn.Parameter, torch.ones(1), True)).__name__
    C = torch.autograd.function

    class Clears(torch.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * 1)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            first = len(ctx.saved_tensors)
            seen.append((first, attempt(lambda: len(ctx.saved_tensors))))
            return g
    seen = []
    z = torch.ones(2, requires_grad=True)
    Clears.apply(z).sum().backward()
    yield "cleared", seen

    class Boxed(torch.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, *grads):
            seen.append((type(grads[0]).__name__, len(grads)))
            return (grads[0][0] if isinstance(grads[0], list) else grads[0]) * 2
    seen.clear()
    Boxed.apply(z)[0].sum().backward()
    yield "boxed", seen, z.grad
    ctx = C.FunctionCtx()
    yield "context alone", ctx.save_for_backward(z), ctx.to_save[0] is z, ctx.mark_dirty(z), warned(lambda: ctx.mark_shared_storage((z, z))), ctx.set_materialize_grads(False), ctx.materialize_grads
    yield "node class", Clears._backward_cls.__name__, issubclass(Clears._backward_cls, C.BackwardCFunction), type(Clears).__name__, Clears._backward_cls._forward_cls is Clears
    graph = torch.autograd.graph
    yield "graph settings", raises(lambda: graph.set_warn_on_accumulate_grad_stream_mismatch(True)), raises(lambda: graph.set_override_stale_capture_stream(False))

    def budget():
        with graph.region_activation_memory_budget(0.5):
            pass
    yield "budget", raises(budget)
    edge = graph.GradientEdge(y.grad_fn, 0)
    yield "edge", edge._fields, edge.ownership_token, graph.get_gradient_edge(y).ownership_token is not None
    yield "empty inputs", raises(lambda: torch.autograd.grad(y.sum(), []))

    class Over(torch.Tensor):
        @classmethod
        def __torch_function__(cls, f, types, args=(), kwargs=None):
            asked.append(f.__name__)
            return super().__torch_function__(f, types, args, kwargs or {})
    asked = []
    o = (torch.ones(2, requires_grad=True) * 2).sum().as_subclass(Over)
    torch.autograd.backward(o)
    yield "asked", asked


@case("relied_on.surface.names of other profilers")
def _(torch):
    """Those of Kineto and of CUDA's."""
    yield "autograd", missing(torch.autograd, "DeviceType ProfilerConfig ProfilerState ProfilerEvent")
    yield "profiler", missing(torch.autograd.profiler, "load_nvprof parse_nvprof_trace"), missing(torch.autograd.profiler_util, "EventMetadata")


@case("relied_on.surface.rarest members")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    yield "tensor", missing(x, "_conj _use_count _lazy_clone _make_wrapper_subclass")

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            held.append(missing(ctx, "next_functions metadata _input_metadata maybe_clear_saved_tensors"))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    held = []
    Double.apply(x)
    yield "context while forward runs", held, missing(Double, "_compiled_autograd_key")


@case("relied_on.surface.subclasses asked")
def _(torch):
    asked = []

    class Over(torch.Tensor):
        @classmethod
        def __torch_function__(cls, f, types, args=(), kwargs=None):
            asked.append((f.__name__, [t.__name__ for t in types], len(args), sorted(kwargs or {})))
            return super().__torch_function__(f, types, args, kwargs or {})

    def told(f):
        asked.clear()
        f()
        return list(asked)

    def root():
        return (torch.ones(2, requires_grad=True) * 2).sum().as_subclass(Over)

    def leaf():
        return torch.ones(2).as_subclass(Over).requires_grad_()
    for name, f in (("a root", lambda r: torch.autograd.backward(r)), ("two", lambda r: torch.autograd.backward([r, r], retain_graph=True)), ("method", lambda r: r.backward(retain_graph=True))):
        yield name, told(lambda r=root(), f=f: f(r))
    x, b = torch.ones(2, requires_grad=True), leaf()
    out = (b * 2).sum()
    yield "grad", told(lambda: torch.autograd.grad(out, b))
    y = (x * 2).sum()
    yield "inputs", told(lambda: torch.autograd.backward(y, inputs=[b, x]))
    modes = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, f, types, args=(), kwargs=None):
            modes.append(f.__name__)
            return f(*args, **(kwargs or {}))
    y = (x * 2).sum()
    with Mode():
        torch.autograd.backward(y)
    yield "a mode", modes

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2
    for function in (Double, Same):
        made = []
        yield f"through {function.__name__}", told(lambda made=made, function=function: made.append(function.apply(b))), type(made[0]).__name__
