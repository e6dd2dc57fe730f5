"""torch.optim.lbfgs (layer 8): a limited-memory quasi-Newton method; it looks at losses and slopes, so it runs in several programs."""

from __future__ import annotations

from .._core.composite import named
from .._tensor import Tensor
from ..autograd.grad_mode import enable_grad, no_grad
from ._group import check_lr
from .optimizer import Optimizer

__all__ = ["LBFGS"]

_cat, _view_as_real, _view_as_complex = named("cat"), named("view_as_real"), named("view_as_complex")


def _number(loss):
    """A loss as a Python number."""
    return loss.item() if isinstance(loss, Tensor) else float(loss)


class LBFGS(Optimizer):
    """One group only; `step` needs a closure that clears gradients, computes the loss, calls backward and returns the loss."""

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        check_lr(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]
        self._numel_cache = None

    def _numel(self):
        if self._numel_cache is None:
            self._numel_cache = sum(2 * p.numel() if p.is_complex() else p.numel() for p in self._params)
        return self._numel_cache

    def _gather_flat_grad(self):
        views = []
        for p in self._params:
            g = p.new_zeros(p.numel()) if p.grad is None else (p.grad.to_dense() if p.grad.is_sparse else p.grad).reshape(-1)
            views.append(_view_as_real(g).reshape(-1) if g.is_complex() else g)
        return _cat(views, 0)

    def _add_grad(self, step_size, direction):
        at = 0
        for p in self._params:
            n = 2 * p.numel() if p.is_complex() else p.numel()
            part = direction[at:at + n]
            part = _view_as_complex(part.reshape(*p.shape, 2)) if p.is_complex() else part.reshape(p.shape)
            p.add_(part * step_size)
            at += n
        if at != self._numel():
            raise AssertionError(f"Expected offset {at} to equal {self._numel()}")

    def _clone_param(self):
        return [p.clone() for p in self._params]

    def _set_param(self, values):
        for p, x in zip(self._params, values):
            p.copy_(x)

    def _directional_evaluate(self, closure, x, t, d):
        """(loss, gradient) at x + t d; the parameters are back at x afterwards."""
        self._add_grad(t, d)
        loss = _number(closure())
        g = self._gather_flat_grad()
        self._set_param(x)
        return loss, g

    @no_grad()
    def step(self, closure):
        """Up to max_iter iterations; returns the loss at the start."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        closure = enable_grad()(closure)
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, evals = _number(first), 1
        state["func_evals"] += 1
        g = self._gather_flat_grad()
        done = bool(g.abs().max() <= group["tolerance_grad"])
        if done:
            return first
        memory = _Memory(state)
        n = 0
        while n < group["max_iter"]:
            n += 1
            state["n_iter"] += 1
            memory.turn(g, group["history_size"], state["n_iter"] == 1)
            memory.prev_flat_grad, memory.prev_loss = g.clone(), loss
            d = memory.d
            t = min(1.0, 1.0 / g.abs().sum()) * group["lr"] if state["n_iter"] == 1 else group["lr"]
            slope = g.dot(d)
            memory.t = t
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                x = self._clone_param()
                left = group["max_eval"] - evals  # a search may use up what is left, no more
                loss, g, t, used = _strong_wolfe(lambda x, t, d: self._directional_evaluate(closure, x, t, d), x, t, d, loss, g, slope, max_ls=left)
                self._add_grad(t, d)
                done = bool(g.abs().max() <= group["tolerance_grad"])
            else:
                self._add_grad(t, d)
                if n != group["max_iter"]:
                    loss = _number(closure())
                    g = self._gather_flat_grad()
                    done = bool(g.abs().max() <= group["tolerance_grad"])
                    used = 1
            memory.t = t
            evals += used
            state["func_evals"] += used
            if (n == group["max_iter"] or evals >= group["max_eval"] or done or (d * t).abs().max() <= group["tolerance_change"]
                    or abs(loss - memory.prev_loss) < group["tolerance_change"]):
                break
        memory.store(state)
        return first


class _Memory:
    """The last steps and changes of the gradient, from which the next direction comes; kept in the state under torch's names."""

    names = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")

    def __init__(self, state):
        self.state = state
        for name in self.names:
            setattr(self, name, state.get(name))

    def store(self, state):
        """Put everything back."""
        for name in self.names:
            state[name] = getattr(self, name)

    def turn(self, g, size, first):
        """The direction for a gradient, and what was learnt on the way to it."""
        if first:
            self.d, self.old_dirs, self.old_stps, self.ro, self.H_diag = -g, [], [], [], 1
            return
        y, s = g.sub(self.prev_flat_grad), self.d * self.t
        ys = y.dot(s)
        if ys > 1e-10:
            if len(self.old_dirs) == size:
                for known in (self.old_dirs, self.old_stps, self.ro):
                    known.pop(0)
            self.old_dirs.append(y)
            self.old_stps.append(s)
            self.ro.append(1.0 / ys)
            self.H_diag = ys / y.dot(y)
        self._direction(g, size)

    def _direction(self, g, size):
        al = self.state.setdefault("al", [None] * size)
        q, n = -g, len(self.old_dirs)
        for i in range(n - 1, -1, -1):
            al[i] = self.old_stps[i].dot(q) * self.ro[i]
            q = q - self.old_dirs[i] * al[i]
        r = q * self.H_diag
        for i in range(n):
            r = r + self.old_stps[i] * (al[i] - self.old_dirs[i].dot(r) * self.ro[i])
        self.d = r


class _Point:
    """A place on the line: how far, loss, gradient, slope."""

    __slots__ = ("f", "g", "slope", "t")

    def __init__(self, t, f, g, slope):
        self.t, self.f, self.g, self.slope = t, f, g, slope


def _cubic_minimum(a, b, bounds=None):
    """Where the cubic through two points with their slopes is least, within bounds."""
    low, high = bounds if bounds is not None else (a.t, b.t) if a.t <= b.t else (b.t, a.t)
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if a.t <= b.t:
        least = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        least = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(least, low), high)


def _cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """`_cubic_minimum` of two points given by place, value and slope, as other libraries call it."""
    return _cubic_minimum(_Point(x1, f1, None, g1), _Point(x2, f2, None, g2), bounds)


def _strong_wolfe(obj_func, x, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """A step along `d` from `x` that meets the strong Wolfe conditions: (loss, gradient, step, evaluations); `obj_func(x, t, d)` gives loss and gradient."""
    slope, tolerance, most = gtd, tolerance_change, max_ls

    def evaluate(t):
        return obj_func(x, t, d)

    norm = d.abs().max()
    start = _Point(0, f, g.clone(), slope)
    before, n = start, 0
    here = _at(evaluate, t, d)
    evals, pair, done = 1, None, False
    while n < most:
        if here.f > start.f + c1 * here.t * slope or (n > 1 and here.f >= before.f):
            pair = [before, here]
            break
        if abs(here.slope) <= -c2 * slope:
            pair, done = [here], True
            break
        if here.slope >= 0:
            pair = [before, here]
            break
        span = here.t + 0.01 * (here.t - before.t), here.t * 10
        t = _cubic_minimum(before, here, span)
        before, here = here, _at(evaluate, t, d)
        evals += 1
        n += 1
    if pair is None:
        pair = [start, here]
    if not done:
        pair, evals = _zoom(evaluate, d, start, pair, evals, n, norm, c1, c2, tolerance, most)
    best = pair[0] if len(pair) == 1 or pair[0].f <= pair[1].f else pair[1]
    return best.f, best.g, best.t, evals


def _at(evaluate, t, d):
    f, g = evaluate(t)
    return _Point(t, f, g, g.dot(d))


def _zoom(evaluate, d, start, pair, evals, n, norm, c1, c2, tolerance, most):
    """Narrow a bracket until a point meets the conditions or nothing moves."""
    stuck = False
    low, high = (0, 1) if pair[0].f <= pair[-1].f else (1, 0)
    while n < most:
        if abs(pair[1].t - pair[0].t) * norm < tolerance:
            break
        t = _cubic_minimum(pair[0], pair[1])
        least, greatest = min(pair[0].t, pair[1].t), max(pair[0].t, pair[1].t)
        margin = 0.1 * (greatest - least)
        if min(greatest - t, t - least) < margin:
            if stuck or t >= greatest or t <= least:
                t = greatest - margin if abs(t - greatest) < abs(t - least) else least + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        here = _at(evaluate, t, d)
        evals += 1
        n += 1
        if here.f > start.f + c1 * here.t * start.slope or here.f >= pair[low].f:
            pair[high] = here
            low, high = (0, 1) if pair[0].f <= pair[1].f else (1, 0)
            continue
        if abs(here.slope) <= -c2 * start.slope:
            pair[low] = here
            break
        if here.slope * (pair[high].t - pair[low].t) >= 0:
            pair[high] = pair[low]
        pair[low] = here
    return [pair[low]], evals
