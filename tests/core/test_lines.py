"""Where the user's code stands: in a loop or not."""

import sys

from torchlike_autograd._core.lines import in_loop


def _here():
    return in_loop(sys._getframe())


def test_a_function_without_loops_is_in_none():
    before = [_here(), *map(lambda _: _here(), range(2))]  # noqa: C417 -- `map` turns outside of Python
    for _ in range(2):
        pass
    assert [*before, _here()] == [False, False, False, False]


def test_a_function_that_a_loop_calls_is_in_it():
    seen = []
    for _ in range(2):
        seen.append(_here())
    while len(seen) < 3:
        seen.append(_nested())
    seen.extend([_here() for _ in range(1)])
    assert seen == [True, True, True, True]


def _nested():
    return (lambda: _here())()


def test_what_comes_after_a_turn_or_instead_is_not_in_the_loop():
    for _ in range(2):
        pass
    else:
        after = _here()
    try:
        for i in range(2):
            raise KeyError(i)
    except KeyError:
        caught = _here()
    assert (after, caught) == (False, False)


def test_a_generator_is_in_the_loop_that_asks_it():
    def values():
        yield _here()
        yield _here()

    seen = []
    for value in values():
        seen.append(value)
    assert seen == [True, True]
