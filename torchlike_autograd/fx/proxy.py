"""Values that record what is done to them (layer 8): a tracer makes nodes, a Proxy stands for the value of one."""

from __future__ import annotations

import copy
import dis
import enum
import operator
import sys
import traceback
from collections import OrderedDict
from dataclasses import fields, is_dataclass

import torchlike_autograd as torch

from .._core.overriding import activate
from .graph import Graph, magic_methods, reflectable_magic_methods
from .node import map_aggregate, map_arg
from .traceback import get_current_meta, has_preserved_node_meta

base_types = (str, int, float, bool, complex, torch.dtype, torch.Tensor, torch.device, torch.memory_format, torch.layout,
              torch.SymInt, torch.SymBool, torch.SymFloat)


activate()  # functions look at their arguments from now on


class TraceError(ValueError):
    """What is done to a Proxy cannot be recorded."""


_CARRIED = ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id", "has_backward_hook",
            "quantization_tag", "_numeric_debug_handle", "custom", "partitioner_tag")  # what new nodes have of the one that runs


class Scope:
    """Which module is running: its path and class."""

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """Another module runs within."""

    def __init__(self, scope, current_scope):
        self._before, self._scope = copy.copy(scope), scope
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self):
        return self._scope

    def __exit__(self, *args):
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """Makes nodes of a graph."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: OrderedDict
    node_name_to_scope: dict

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """A node of the graph; RuntimeError for one that writes, where `check_mutable_operations` is set."""
        if kind == "call_function" and self.check_mutable_operations:
            from .operator_schemas import check_for_mutable_operation

            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        if has_preserved_node_meta():
            now = get_current_meta()
            node.meta.update({k: copy.copy(now[k]) for k in _CARRIED if k in now})
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def proxy(self, node):
        """The value of a node."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """The value of a new node."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        proxy = self.proxy(node) if not proxy_factory_fn else proxy_factory_fn(node)
        if self.record_stack_traces and not proxy.node.stack_trace:
            proxy.node.stack_trace = "".join(_user_frames().format())
        return proxy

    def create_arg(self, a):
        """`a` as an argument of a node: proxies become nodes; NotImplementedError for what no graph can hold."""
        if not isinstance(a, Proxy) and hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*map(self.create_arg, a))
        if isinstance(a, (tuple, list)):
            return type(a)(map(self.create_arg, a))
        if isinstance(a, dict):
            return _no_nodes_in_keys({self.create_arg(k): self.create_arg(v) for k, v in a.items()})
        if isinstance(a, (slice, range)):
            return type(a)(*(self.create_arg(x) for x in (a.start, a.stop, a.step)))
        if isinstance(a, Proxy):
            return a.node
        if is_dataclass(a) and not isinstance(a, type):
            return self.create_node("call_function", a.__class__, (), {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)})
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ... or isinstance(a, type) or callable(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        """What `if proxy` gives: TraceError here."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """What `for x in proxy` goes through: TraceError here."""
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function argument. "
                         "See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow can be traced, and check out the "
                         "Proxy docstring for help troubleshooting Proxy iteration errors")

    def keys(self, obj):
        """What `**proxy` asks first."""
        return Attribute(obj, "keys")()


def _no_nodes_in_keys(d):
    for key in d:
        def refuse(n, key=key):
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")

        map_arg(key, refuse)
    return d


def _user_frames():
    """Where the user's code stands, without the tracer's frames."""
    frames = traceback.extract_stack()
    here = torch.__file__.rpartition("__init__")[0]
    return traceback.StackSummary.from_list([f for f in frames if not f.filename.startswith(here)])


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that exists."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.scope, self.module_stack, self.node_name_to_scope = Scope("", None), OrderedDict(), {}


class Proxy:
    """The value of a node while a program is traced; what is done to it becomes nodes."""

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, d):
        self.__dict__ = d

    def __deepcopy__(self, memo):
        new = object.__new__(type(self))
        memo[id(self)] = new
        new.__dict__ = {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()}
        return new

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        frame = sys._getframe(1)
        for step in dis.get_instructions(frame.f_code):
            if step.offset == frame.f_lasti:
                if step.opname == "UNPACK_SEQUENCE":
                    return (self[i] for i in range(step.argval))
                break
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        if self.tracer.trace_asserts and (asserted := _asserts(sys._getframe(1))):
            message = asserted[0]
            self.tracer.create_proxy("call_function", torch._assert, (self, message), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self):
        """Asked by `**proxy`."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
                           "torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}
        map_aggregate((args, kwargs), lambda a: tracers.setdefault(a.tracer) if isinstance(a, Proxy) else a)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        tracer = next(iter(tracers))
        if torch.overrides.is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=tracer.graph._target_to_str(orig_method.__name__))


def _asserts(frame):
    """(the message,) where a frame is about to ask whether what it asserts holds, else None."""
    steps = list(dis.get_instructions(frame.f_code))
    at = next((i for i, s in enumerate(steps) if s.offset == frame.f_lasti), None)
    if at is None or not steps[at].opname.startswith("POP_JUMP") or at + 1 >= len(steps) or steps[at + 1].opname != "LOAD_ASSERTION_ERROR":
        return None
    told = steps[at + 2] if at + 2 < len(steps) else None
    return (told.argval if told is not None and told.opname == "LOAD_CONST" else "",)


class Attribute(Proxy):
    """An attribute of a proxy: a node of its own only where it is read, not where it is called."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        """The call of `getattr`."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known while one traces."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, torch.nn.Parameter):
            raise AssertionError(f"expected Parameter, got {type(param)}")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        """Its sizes, as numbers."""
        return self.param.shape

    def size(self):
        """Its sizes, as numbers."""
        return self.param.size()

    def dim(self):
        """How many dims it has."""
        return self.param.dim()

    @property
    def ndim(self):
        """How many dims it has."""
        return self.param.ndim

    def numel(self):
        """How many elements it has."""
        return self.param.numel()

    def nelement(self):
        """How many elements it has."""
        return self.param.nelement()


def _operator_of(name):
    function = getattr(operator, name, None)

    def impl(*args, **kwargs):
        return args[0].tracer.create_proxy("call_function", function, args, kwargs)

    impl.__name__ = f"__{name.strip('_')}__"
    return impl


def _reflected(name):
    function = getattr(operator, name, None)

    def impl(self, rhs):
        return self.tracer.create_proxy("call_function", function, (rhs, self), {})

    impl.__name__ = f"__r{name.strip('_')}__"
    return impl


for _name in magic_methods:
    setattr(Proxy, f"__{_name.strip('_')}__", _operator_of(_name))
for _name in reflectable_magic_methods:
    setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
Proxy.__hash__ = object.__hash__

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "ScopeContextManager", "TraceError", "TracerBase"]
