"""Errors of calls whose check needs data: they come at the next look, or at once where the user's code catches them there."""

import contextlib

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import record

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
