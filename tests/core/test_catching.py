"""Errors of calls whose check needs data: they come at the next look, or at once where the user's code catches them there."""

import contextlib
import unittest
import weakref

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute, guards, record

SINGULAR = [[0.0, 0.0], [0.0, 0.0]]


def pending():
    """How many calls wait."""
    return len(record.thread.state.tape.values)


def factor(matrix):
    return torch.linalg.cholesky(matrix)


def with_jitter(matrix):
    """The usual way to a factor of what is almost positive definite."""
    for n in range(6):
        try:
            return n, factor(matrix + n * torch.eye(2))
        except torch.linalg.LinAlgError:
            continue
    return None


def named(error):
    """Whether an `except` for this class catches it at the call."""
    try:
        torch.linalg.inv(torch.tensor(SINGULAR))
    except error:
        return True
    return False


def nested():
    try:
        with torch.no_grad():
            try:
                torch.linalg.solve(torch.tensor(SINGULAR), torch.ones(2))
            except KeyError:
                return "key"
            finally:
                pass
    except (TypeError, torch.linalg.LinAlgError):
        return "outer"
    return "nothing"


def bare():
    try:
        torch.linalg.inv(torch.tensor(SINGULAR))
    except:  # noqa: E722 - what is tested
        return True
    return False


def test_a_factor_is_tried_again():
    n, found = with_jitter(torch.tensor([[1.0, 3.0], [3.0, 1.0]]))
    assert n == 3 and found[0, 0].item() == 2.0


@pytest.mark.parametrize("error", [RuntimeError, Exception, torch.linalg.LinAlgError, (ValueError, RuntimeError)])
def test_classes_that_catch(error):
    assert named(error)


def test_handlers_around_handlers():
    assert nested() == "outer" and bare()


def unhandled():
    """Nothing here is for the error: the call stays pending."""
    execute.flush()  # what another test left, which this call may end
    before = pending()
    try:
        with contextlib.nullcontext():
            out = torch.linalg.inv(torch.eye(2) * 2)
    except KeyboardInterrupt:
        return None
    finally:
        after = pending()
    return after > before, out


def test_a_loop_in_a_try_for_something_else_is_not_slowed_down():
    found = []

    def four_functions_up():
        def three():
            def two():
                found.append(unhandled())
            two()
        three()
    four_functions_up()
    waits, out = found[0]
    assert waits and out[0, 0].item() == 0.5


def index(target):
    """Whether an `except` that names its error catches an index out of range at the call."""
    try:
        torch.nn.functional.cross_entropy(torch.ones(2, 3), target)
    except IndexError:
        return True
    return False


def test_training_in_a_try_is_one_program(counts):
    """`except Exception` around a loss does not end the record; one that names the error of an index does."""
    w, x, y = torch.ones(3, 2, requires_grad=True), torch.ones(4, 3), torch.tensor([0, 1, 0, 1])
    found = []

    def train():
        for _ in range(4):
            try:
                w.grad = None
                torch.nn.functional.cross_entropy(x @ w, y).backward()
                with torch.no_grad():
                    w.sub_(0.1 * w.grad)
            except Exception as e:
                found.append(e)

    def three(f):
        return (lambda: (lambda: (lambda: f())())())()

    with counts() as c:
        three(train)
        w.tolist()
    assert not found and c.flushes <= 4
    assert three(lambda: index(torch.tensor([0, 7]))) and not three(lambda: index(torch.tensor([0, 2])))


def test_a_with_that_waits_for_an_error_gets_it_at_the_call():
    singular = torch.tensor(SINGULAR)
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.inv(singular)
    with contextlib.suppress(RuntimeError):
        factor(singular)
        pytest.fail("not reached")
    assert (lambda: (lambda: (lambda: unwatched())())())() > 0  # deeper than a test runner's own `try`


def unwatched():
    with torch.no_grad():
        torch.linalg.inv(torch.eye(2))
        return pending()


class Calls(unittest.TestCase):
    """The other spelling of `assertRaises` calls a function in a frame of unittest's own."""

    def runTest(self):
        self.assertRaises(RuntimeError, torch.linalg.cholesky, -torch.eye(3))
        self.assertRaises(IndexError, torch.index_select, torch.ones(3), 0, torch.tensor([1]) + 3)
        self.assertRaises(ValueError, torch.distributions.Normal, 0.0, -1.0)
        with self.assertRaisesRegex(ValueError, "invalid values"):
            torch.distributions.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))


def test_assert_raises_of_a_function_that_it_calls():
    result = unittest.TestResult()
    Calls().run(result)
    assert result.wasSuccessful(), (result.failures, result.errors)


def test_what_nobody_holds_is_checked():
    """The error of a call whose result is dropped comes with the next look, also where it is the only call of its record."""
    execute.flush()
    torch.ones(3)[torch.tensor([1]) + 4]
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        torch.ones(1).item()
    assert torch.ones(1).item() == 1


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("indices, words", [
    (([1, 2, 7], [1, 5, 1]), "index 5 is out of bounds for dimension 1 with size 3"),
    (([1, 7, 2], [1, 5, 1]), "index 7 is out of bounds for dimension 0 with size 6"),
    (([[1], [7]], [0, 3, 0]), "index 3 is out of bounds for dimension 1 with size 3"),
    (([[1], [-7]], [0, 2, 0]), "index -7 is out of bounds for dimension 0 with size 6"),
    (([1, -9], [7]), "index 7 is out of bounds for dimension 1 with size 3"),
])
def test_of_several_indices_the_first_element_is_refused(indices, words, known):
    """Not all values of one index tensor before those of the next, whether the values are known when the call is recorded or not."""
    i, j = (torch.tensor(x) + (0 if known else torch.ones(1, dtype=torch.int64) - 1) for x in indices)
    if known:
        execute.flush()
    with pytest.raises(IndexError, match=words):
        torch.zeros(6, 3)[i, j].sum().item()


def test_there_is_nothing_to_write_to():
    """The check of the indices says so, also where a gradient is wanted; the second derivative of a product of nothing is nothing."""
    index = torch.zeros(9, 1, dtype=torch.int64).expand(9, 3)
    with pytest.raises(RuntimeError, match="index 0 is out of bounds for dimension 0 with size 0"):
        torch.zeros(0, 3).scatter_add(0, index, torch.zeros(9, 3, requires_grad=True)).sum().item()
    x, src = torch.zeros(0, 3, requires_grad=True), torch.zeros(0, 3, requires_grad=True)
    out = x.scatter_reduce(0, torch.zeros(0, 3, dtype=torch.int64), src, "prod")
    first = torch.autograd.grad(out.sum(), [x, src], create_graph=True)
    second = torch.autograd.grad(sum(g.sum() for g in first), [x, src])
    assert [tuple(g.shape) for g in second] == [(0, 3), (0, 3)]


# Parameters of distributions

def fit():
    """Steps of variational inference with several checks each; the flushes of the last ten."""
    loc, scale = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    optimizer, data = torch.optim.SGD([loc, scale], lr=1e-3), torch.ones(4, 3)
    for i in range(14):
        if i == 4:
            before = execute.stats["flushes"]
        q = torch.distributions.Normal(loc, scale)
        z = q.rsample((2,))
        loss = (q.log_prob(z).sum() - torch.distributions.Normal(z[:, None], 1.0).log_prob(data).sum()) + torch.distributions.kl_divergence(
            q, torch.distributions.Normal(0.0, 1.0)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
    return execute.stats["flushes"] - before


def test_checks_of_distributions_do_not_divide_a_step():
    assert fit() == 10


def unwaited(f):
    return (lambda: (lambda: (lambda: f())())())()


def test_a_wrong_parameter_is_told_at_the_next_look_as_it_was():
    scale = torch.tensor([1.0, -1.0])
    q = unwaited(lambda: torch.distributions.Normal(torch.zeros(2), scale))
    with torch.no_grad():
        scale.fill_(7.0)
    del q
    with pytest.raises(ValueError) as told:
        scale.sum().item()
    assert str(told.value) == ("Expected parameter scale (Tensor of shape (2,)) of distribution Normal(loc: torch.Size([2]), scale: torch.Size([2])) to "
                               "satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid values:\ntensor([ 1., -1.])")
    assert any(note.startswith("recorded at ") and "test_catching.py" in note for note in told.value.__notes__)
    assert scale.sum().item() == 14  # it is told once


def test_a_wrong_parameter_with_a_graph_shows_its_node():
    w = torch.tensor(-1.0, requires_grad=True)
    scale = w * 2
    unwaited(lambda: torch.distributions.Normal(0.0, scale))
    with pytest.raises(ValueError, match=r"found invalid values:\n-2\.0"):
        scale.item()


def test_what_explains_an_error_does_not_pile_up():
    """A loop without a look: the checks of old programs are looked at by new ones, and a graph is not kept by them."""
    w = torch.ones(3, requires_grad=True)
    dead = []
    for _ in range(80):
        q = torch.distributions.Normal(w * 2, 1.0)
        dead.append(weakref.ref(q.loc))
        q.log_prob(torch.ones(3)).sum().backward()
        execute.flush()
    del q
    assert len(guards.pending) <= guards._MOST + 1 and not any(r() is not None for r in dead[:-1])
    torch.ones(1).item()
