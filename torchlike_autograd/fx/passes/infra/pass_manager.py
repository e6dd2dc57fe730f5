"""torch.fx.passes.infra.pass_manager (layer 8): passes in an order that satisfies constraints, run until nothing changes."""

from __future__ import annotations

import inspect
from collections import deque
from functools import wraps

from ....nn.modules.module import Module
from ...graph_module import GraphModule
from .pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]


def _name(fn):
    return fn.__name__ if inspect.isfunction(fn) else type(fn).__name__


def pass_result_wrapper(fn):
    """`fn`, whose result is made a PassResult: of the module that it returns, or changed in place."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped_fn(gm):
        out = fn(gm)
        if out is None or isinstance(out, Module):
            return PassResult(gm if out is None else out, True)
        return out if isinstance(out, PassResult) else None

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


def this_before_that_pass_constraint(this, that):
    """A constraint: `that` never stands before `this`."""
    return lambda a, b: not (a == that and b == this)


def _validate_pass_schedule_constraint(constraint, passes):
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1:]):
            if not constraint(a, b):
                raise RuntimeError(f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at index {j} in pass list.")


def _topological_sort_passes(passes, constraints):
    """The passes in an order without a violated pair; first come, first served."""
    if not constraints:
        return passes
    after = {p: [] for p in passes}
    waits = dict.fromkeys(passes, 0)
    for a in passes:
        for b in passes:
            if a != b:
                broken = sum(not holds(a, b) for holds in constraints)
                after[b] += [a] * broken
                waits[a] += broken
    ready, done = deque(p for p in passes if not waits[p]), []
    while ready:
        done.append(ready.popleft())
        for later in after[done[-1]]:
            waits[later] -= 1
            if not waits[later]:
                ready.append(later)
    if stuck := [p for p, n in waits.items() if n]:
        raise RuntimeError(f"Circular dependency detected within the following passes: {stuck}")
    return done


class PassManager:
    """Passes and constraints.

    steps: how often all of them run at most; run_checks_after_each_pass: whether `check` is called after each.
    """

    _validated = False
    steps = 1

    def __init__(self, passes=None, constraints=None, steps=None, run_checks_after_each_pass=False, suppress_check_failures=False):
        self.passes, self.constraints = passes or [], constraints or []
        if steps:
            self.steps = steps
        self.run_checks_after_each_pass, self.suppress_check_failures = run_checks_after_each_pass, suppress_check_failures

    def add_pass(self, _pass):
        """One more, at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        """constraint(a, b): whether `a` may stand before `b`."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self):
        """RuntimeError if the present order violates one."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self):
        """Bring the passes into an order that violates none."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check):
        """Let `check` be what modules must satisfy."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    def check(self, module):
        """Raise if the module is not as it should be."""

    def _run(self, at, module):
        fn = self.passes[at]
        try:
            out = fn(module)
            if not isinstance(out, PassResult) and not hasattr(out, "graph_module"):
                raise TypeError(f"The result of the pass {_name(fn)} should be type PassResult.Please wrap it with pass_result_wrapper()")
            if isinstance(out.graph_module, GraphModule):
                out.graph_module.recompile()
            if self.run_checks_after_each_pass:
                self.check(out.graph_module)
        except Exception as e:
            before = [_name(p) for p in self.passes[:at]]
            raise Exception(f"An error occurred when running the '{_name(fn)}' pass after the following passes: {before}") from e
        return out

    def __call__(self, module):
        """Run all passes, up to `steps` times while they change something."""
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        ever = False
        for _ in range(self.steps):
            changed = False
            for at in range(len(self.passes)):
                out = self._run(at, module)
                module, changed = out.graph_module, changed or out.modified
            ever = ever or changed
            if not changed:
                break
        return PassResult(module, ever)
