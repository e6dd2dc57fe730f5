"""Tracing (layer 8): a function or module is run once with proxies, and what it did is its graph.

While it runs, modules that are called or read ask the tracer first, and so do functions that were named by `wrap` or that `autowrap_functions` holds.
"""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import math
import sys
import types
import warnings
from collections import OrderedDict, defaultdict

import torchlike_autograd as torch

from ..nn import Module, Parameter, Sequential
from ..utils import _pytree as pytree
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .graph_module import GraphModule, _make_graph_module  # noqa: F401
from .node import _module_of, map_aggregate
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase, base_types

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_orig_module_call, _orig_module_getattr = Module.__call__, Module.__getattr__
_proxyable_classes: dict = {}
_tracing = [0]
_wrapped_fns_to_patch: dict = {}  # (id of globals, name) -> globals
_wrapped_methods_to_patch: list = []
_WRAPPED = "__fx_already_patched"


def is_fx_tracing():
    """Whether a program is being traced."""
    return _tracing[0] > 0


is_fx_symbolic_tracing = is_fx_tracing


class ProxyableClassMeta(type):
    """The metaclass of classes whose instances, when one is made of proxies while tracing, are made by a node."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        instance = cls.__new__(cls)
        if not is_fx_tracing():
            cls.__init__(instance, *args, **kwargs)
            return instance
        found = []
        map_aggregate((args, kwargs), lambda x: found.append(x.tracer) if isinstance(x, Proxy) else x)
        if not found:
            cls.__init__(instance, *args, **kwargs)
            return instance
        return found[0].create_proxy("call_function", cls, args, kwargs)


class PHBase:
    """Stands for an argument in `concrete_args` that stays one."""

    def __repr__(self):
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A PH whose attributes go to the node."""

    def __init__(self, ph_key=None):
        super().__init__()
        self.ph_key = ph_key


def _patch_function(fn, nargs):
    """`fn` with `*args` and `**kwargs` as two more positional parameters."""
    co = fn.__code__.replace(co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=fn.__code__.co_flags & ~HAS_VARSTUFF)
    return types.FunctionType(co, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


class Tracer(TracerBase):
    """Traces functions and modules.

    autowrap_modules: modules whose functions become nodes where the traced code calls them with proxies by a global name; autowrap_functions: more functions;
    param_shapes_constant: whether shapes of parameters are numbers.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap_function_ids = {id(v) for m in autowrap_modules for k, v in m.__dict__.items() if not k.startswith("_") and callable(v)}
        self._autowrap_function_ids.update(map(id, autowrap_functions))
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths, self.root_module_name = None, ""
        self.scope, self.module_stack, self.num_calls, self.node_name_to_scope = Scope("", None), OrderedDict(), {}, {}
        self._qualname_counter = defaultdict(int)

    def get_fresh_qualname(self, prefix):
        """`prefix` with the first number under which the root has no attribute."""
        i = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        self._qualname_counter[prefix] = i + 1
        return f"{prefix}{i}"

    def create_arg(self, a):
        """`a` as an argument of a node; parameters, buffers, modules and tensors of the root become `get_attr` nodes."""
        if isinstance(a, Parameter):
            for name, p in self.root.named_parameters():
                if a is p:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for name, b in self.root.named_buffers():
                if a is b:
                    return self.create_node("get_attr", name, (), {})
            return self.create_node("get_attr", _constant(self, a, "_tensor_constant"), (), {})
        if isinstance(a, Module):
            for name, m in self.root.named_modules():
                if a is m:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", a.__class__, tuple(map(self.create_arg, a)), {})
        if type(a) in _proxyable_classes:
            return self.create_node("get_attr", _constant(self, a, f"_{type(a).__name__}_constant_"), (), {})
        return super().create_arg(a)

    def is_leaf_module(self, m, module_qualified_name):
        """Whether calls of a module stay calls: those of torch.nn do, except Sequential."""
        return (_module_of(m) or "").startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod):
        """The path of a module from the root; NameError where it has none."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, m in self.root.named_modules():
            if m is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """What a call of a module does while tracing."""
        name = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(name, type(m))) as scope:
            count = self.num_calls.get(name, 0)
            key = f"{scope.module_path}@{count}" if count else scope.module_path
            self.module_stack[key] = name, scope.module_type
            self.num_calls[name] = count + 1
            try:
                if self.is_leaf_module(m, name):
                    return self.create_proxy("call_module", name, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem()

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What reading an attribute of a module gives while tracing: parameters are proxies."""
        if isinstance(attr_val, Parameter):
            found = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            found = self.root.named_buffers()
        else:
            return attr_val
        for name, p in found:
            if attr_val is p:
                if name not in parameter_proxy_cache:
                    make = functools.partial(_parameter, self, name, attr_val) if self.param_shapes_constant else None
                    kwargs = {"proxy_factory_fn": make} if "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters else {}
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **kwargs)
                return parameter_proxy_cache[name]
        return attr_val

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(the function to run, its arguments): a placeholder for each parameter that has no concrete value."""
        analysed = inspect.unwrap(root_fn)
        co, sig = analysed.__code__, inspect.signature(analysed)
        total = co.co_argcount + co.co_kwonlyargcount
        names = list(co.co_varnames)
        args, first = [], 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            args, first = [self.root], 1
        given = names[first:total]
        if isinstance(concrete_args, tuple) and concrete_args and co.co_flags & HAS_VARSTUFF and total == 1:  # for *args, each is one
            for i, x in enumerate(concrete_args):
                args.append(self.create_proxy("placeholder", f"input_{i}", (), {}))
                if isinstance(x, PHBase):
                    _transfer_attrs(x, args[-1].node)
            return root_fn, args
        if isinstance(concrete_args, tuple):
            if len(given) != len(concrete_args):
                raise RuntimeError(f"Tracing expected {len(given)} arguments but got {len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(given, concrete_args))
        args += [self._proxy_placeholder(name, concrete_args, sig, analysed) for name in given]
        if co.co_kwonlyargcount > 0 or co.co_flags & HAS_VARSTUFF:
            rest = iter(names[total:])
            if co.co_flags & inspect.CO_VARARGS:
                args.append(self._proxy_placeholder("*" + next(rest), concrete_args, sig, analysed))
            if co.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._proxy_placeholder("**" + next(rest), concrete_args, sig, analysed))
            root_fn = _patch_function(root_fn, len(args))
        leaves, in_spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in in_spec.children()):
            return root_fn, args
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names[:total], in_spec, None))

        def flat(*args):
            out, spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(args), in_spec)))
            self.graph._codegen.pytree_info = self.graph._codegen.pytree_info._replace(out_spec=spec)
            return out

        return flat, leaves

    def _proxy_placeholder(self, name, concrete_args, sig, fn):
        if concrete_args is not None and name in concrete_args:
            return _specialised(self, name, concrete_args[name], sig)
        if name.startswith("*"):
            default = ()
        else:
            param = sig.parameters[name]
            default = () if param.default is inspect.Parameter.empty else (param.default,)
        return self.create_proxy("placeholder", name, default, {}, type_expr=fn.__annotations__.get(name, None))

    def trace(self, root, concrete_args=None):
        """The Graph of a module or function; concrete_args: {name: value} that it is specialised to, leaves that are `PH` stay arguments."""
        _tracing[0] += 1
        try:
            return _trace(self, root, concrete_args)
        finally:
            _tracing[0] -= 1

    def __deepcopy__(self, memo):
        new = Tracer.__new__(Tracer)
        new.__dict__ = {k: v if k in ("root", "graph", "_autowrap_search") else copy.deepcopy(v, memo) for k, v in self.__dict__.items()}
        return new


def _trace(tracer, root, concrete_args):
    is_module = isinstance(root, Module)
    if is_module:
        if not hasattr(type(root), tracer.traced_func_name):
            raise AssertionError(f"traced_func_name={tracer.traced_func_name} doesn't exist in {type(root).__name__}")
        fn = getattr(type(root), tracer.traced_func_name)
        tracer.root, tracer.root_module_name = root, root._get_name()
        tracer.submodule_paths = {mod: name for name, mod in root.named_modules()}
    else:
        tracer.root, fn = Module(), root
    tracer.graph = Graph(tracer_cls=getattr(tracer, "__class__", None))
    tracer.tensor_attrs = _tensor_attrs(tracer.root)
    if not isinstance(fn, types.FunctionType):
        raise AssertionError(f"Expected FunctionType, got {type(fn)}")
    fn_globals, co = fn.__globals__, fn.__code__
    tracer.graph._co_fields = {k: getattr(co, k) for k in ("co_name", "co_filename", "co_firstlineno")}
    fn, args = tracer.create_args_for_root(fn, is_module, concrete_args)
    cache = {}

    @functools.wraps(_orig_module_getattr)
    def read(mod, attr):
        return tracer.getattr(attr, _orig_module_getattr(mod, attr), cache)

    @functools.wraps(_orig_module_call)
    def call(mod, *args, **kwargs):
        patcher.autowrap(getattr(getattr(mod, "forward", mod), "__globals__", {}), tracer._autowrap_function_ids)
        return tracer.call_module(mod, lambda *args, **kwargs: _orig_module_call(mod, *args, **kwargs), args, kwargs)

    with _Patcher() as patcher:
        patcher.attribute(Module, "__getattr__", read)
        patcher.attribute(Module, "__call__", call)
        patcher.wrapped()
        patcher.autowrap(fn_globals, tracer._autowrap_function_ids)
        for module in tracer._autowrap_search:
            patcher.autowrap(module.__dict__, tracer._autowrap_function_ids)
        annotations = getattr(fn, "__annotations__", {})
        tracer.create_node("output", "output", (tracer.create_arg(fn(*args)),), {}, type_expr=annotations.get("return", None))
    tracer.submodule_paths = None
    return tracer.graph


def _specialised(tracer, name, value, sig):
    """The concrete value, with a placeholder for each leaf that is asked to be equal when the graph runs."""
    count, param = 0, sig.parameters[name]
    default = () if param.default is inspect.Parameter.empty else (param.default,)

    def leaf(x):
        nonlocal count
        count += 1
        out = tracer.create_proxy("placeholder", f"{name}_{count}", default, {})
        if isinstance(x, PHBase):
            _transfer_attrs(x, out.node)
            return out
        if isinstance(x, base_types) and not isinstance(x, torch.Tensor):
            torch._assert(out == x, f"{name} has been specialized to have value {x} but got another value")
        elif x is None:
            tracer.create_proxy("call_function", _assert_is_none, (out, f"{name} has been specialized to have value None but got another value"), {})
        else:
            warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the user to make sure "
                          "that your inputs match the inputs you specialized the function with.", stacklevel=2)
        return x

    return pytree.tree_map(leaf, value)


def _transfer_attrs(fr, to):
    """Let a node have the attributes of what stood for its argument, but for those that it has."""
    for name in () if fr is PH else dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


def _parameter(tracer, name, param, node):
    return ParameterProxy(tracer, node, name, param)


def _constant(tracer, a, prefix):
    """The name under which the root holds a value."""
    name = tracer.tensor_attrs.get(a) if type(a).__hash__ else None
    if name is None:
        name = tracer.get_fresh_qualname(prefix)
        setattr(tracer.root, name, a)
        tracer.tensor_attrs[a] = name
    return name


def _tensor_attrs(root):
    """{tensor that is a plain attribute: its path} of a module and those in it."""
    found = {}

    def collect(m, path):
        for k, v in m.__dict__.items():
            if isinstance(v, torch.Tensor):
                found[v] = ".".join([*path, k])
        for k, child in m.named_children():
            collect(child, [*path, k])

    collect(root, [])
    return found


def _find_proxy(*values):
    """The first proxy among nested values, or None."""
    found = []
    map_aggregate(values, lambda x: found.append(x) if isinstance(x, Proxy) else x)
    return found[0] if found else None


def _wrapping(orig_fn):
    """`orig_fn` that becomes a node when it is given a proxy."""

    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    setattr(wrapped, _WRAPPED, True)
    return wrapped


def _wrapping_method(cls, name):
    orig = getattr(cls, name)

    @functools.wraps(orig)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        return orig(*args, **kwargs) if proxy is None else proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class _Patcher:
    """Puts things in the place of others, and back at the end."""

    def __init__(self):
        self._undo, self._seen = [], set()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        while self._undo:
            self._undo.pop()()

    def attribute(self, cls, name, new):
        """Set an attribute of a class."""
        before = getattr(cls, name)
        own = name in vars(cls)
        setattr(cls, name, new)
        self._undo.append(lambda: setattr(cls, name, before) if own else delattr(cls, name))

    def item(self, frame, name, new):
        """Set a global."""
        known, before = name in frame, frame.get(name)
        frame[name] = new
        self._undo.append(lambda: frame.__setitem__(name, before) if known else frame.pop(name))

    def wrapped(self):
        """What `wrap` named."""
        for (_, name), frame in list(_wrapped_fns_to_patch.items()):
            orig = frame[name] if name in frame else getattr(builtins, name)
            if not getattr(orig, _WRAPPED, False):
                self.item(frame, name, _wrapping(orig))
        for cls, name in _wrapped_methods_to_patch:
            self.attribute(cls, name, _wrapping_method(cls, name))

    def autowrap(self, frame, ids):
        """The globals of a function that are to be wrapped."""
        if not ids or id(frame) in self._seen:
            return
        self._seen.add(id(frame))
        for name, value in list(frame.items()):
            if not name.startswith("_") and callable(value) and id(value) in ids and not getattr(value, _WRAPPED, False):
                self.item(frame, name, _wrapping(value))


def wrap(fn_or_name):
    """Calls of a function, or of a global name of the module that calls this, become nodes; returns `fn_or_name`.  At the top of a module only."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(frame.f_globals), name)] = frame.f_globals
    return fn_or_name


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what a module or function does; concrete_args: {name: value} that it is specialised to."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return _make_graph_module(tracer.root, graph, root.__class__.__name__ if isinstance(root, Module) else root.__name__)


def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_symbolic_tracing", "is_fx_tracing", "symbolic_trace", "wrap"]
