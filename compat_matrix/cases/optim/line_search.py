"""How far a line search may go, and calls whose groups or gradients are not what an optimizer step expects."""

from compat_matrix.case import case, raises


@case("optim.line_search.evaluations left")
def evaluations_left(torch):
    """A loss without a lower bound: the search ends when the step has used up its evaluations."""
    for most, limit, steps in ((3, None, 2), (5, None, 1), (2, 2, 2), (4, 6, 1)):
        p = torch.nn.Parameter(torch.tensor([1.0, 2.0], dtype=torch.float64))
        q = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
        optimizer = torch.optim.LBFGS([p, q], max_iter=most, max_eval=limit, line_search_fn="strong_wolfe")
        calls = []

        def closure():
            optimizer.zero_grad()
            loss = (p**2).sum() * q
            loss.backward()
            calls.append(1)
            return loss

        for _ in range(steps):
            optimizer.step(closure)
        yield f"{most} {limit}", [p.detach(), q.detach(), len(calls), optimizer.state[p]["func_evals"], optimizer.state[p]["n_iter"]]


@case("optim.line_search.groups added")
def groups_added(torch):
    p = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.LBFGS([p])
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(3))]})
    yield "step", raises(lambda: optimizer.step(lambda: (p**2).sum()))


@case("optim.line_search.values without gradients")
def values_without_gradients(torch):
    for foreach in (None, True, False):
        p = torch.nn.Parameter(torch.ones(2))
        yield f"none {foreach}", raises(lambda: torch.nn.utils.clip_grad_value_([p], 0.5, foreach=foreach))
        yield f"nothing {foreach}", raises(lambda: torch.nn.utils.clip_grad_value_([], 0.5, foreach=foreach))
        p.grad = torch.tensor([2.0, -3.0])
        torch.nn.utils.clip_grad_value_([p, torch.nn.Parameter(torch.ones(1))], 0.5, foreach=foreach)
        yield f"some {foreach}", p.grad
