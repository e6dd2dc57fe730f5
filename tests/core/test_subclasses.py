"""Classes of tensors that would not be asked are refused, not ignored."""

import subprocess
import sys

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import overriding


class Dispatching(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError("is not called")


@pytest.mark.parametrize("make", [lambda: torch.Tensor._make_subclass(Dispatching, torch.ones(2)), lambda: torch.ones(2).as_subclass(Dispatching),
                                  lambda: Dispatching([1.0, 2.0])], ids=["make", "as", "call"])
def test_dispatch_below_autograd_is_refused_by_name(make):
    with pytest.raises(NotImplementedError, match=r"Dispatching\.__torch_dispatch__"):
        make()


def test_functions_of_a_program_do_not_pass_for_those_of_torch():
    """Public functions are known by their ids: one that was replaced while the package was imported would leave its id to a function of the program, and a
    module whose `__init__` had it would lose it as a method."""
    source = """
from types import FunctionType
import torchlike_autograd
from torchlike_autograd._core import overriding
def f(): pass
made = [FunctionType(f.__code__, {}) for _ in range(20000)]
print(sum(id(g) in overriding.PATHS for g in made))
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_a_program_without_classes_of_its_own_is_not_asked_for_any():
    """Whoever makes the first class with a `__torch_function__` pays for it in every call: the package does so only where a program does."""
    source = """if True:
        import io
        import torchlike_autograd as torch
        from torchlike_autograd._core import overriding
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout())
        optimizer = torch.optim.Adam(net.parameters())
        for x, in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 2)), 2):
            torch.utils.checkpoint.checkpoint(net, x, use_reentrant=False).sum().backward()
            optimizer.step()
        torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.distributions.Normal(0.0, 1.0).sample((2, 2)))
        file = io.BytesIO()
        torch.save(net.state_dict(), file)
        file.seek(0)
        print(len(torch.load(file)), overriding.ACTIVE)
    """
    assert subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout == "2 []\n"


def test_the_variables_of_rerouted_functions_can_be_looked_at():
    """Tools that show errors read `f_locals` of every frame; a frame whose code has free variables that its function does not set ended the process."""
    class Declining(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    closures = 0
    for call in (lambda x: x.int_repr(), lambda x: torch.nn.functional.pad(x, "x"), lambda x: torch.norm(x, dim="x"), lambda x: torch.istft(x, 1)):
        for x in (Declining([5.0]), torch.ones(2), object()):
            with pytest.raises((TypeError, RuntimeError, NotImplementedError, ValueError, AttributeError)) as info:
                call(x)
            at = info.value.__traceback__
            while at is not None:
                closures += bool(at.tb_frame.f_code.co_freevars) and isinstance(dict(at.tb_frame.f_locals), dict)
                at = at.tb_next
    assert closures


@pytest.mark.parametrize("name", ["_v", "_cell", "_at", "_view", "_counter", "_leaf", "_laid", "_hooks_dict", "_value", "_array", "_numpy", "_needs", "_scalar",
                                  "_show", "_ask", "_geometry", "placements", "device_mesh", "to_local"])
def test_names_are_those_of_the_program(name):
    """A Tensor keeps nothing under a name that torch's has not: a program may set it, or a subclass define it."""
    t = torch.ones(3, requires_grad=True)
    setattr(t, name, 5)
    (t * t).sum().backward()
    assert t.grad.tolist() == [2, 2, 2] and getattr(t, name) == 5
    own = type("Own", (torch.Tensor,), {name: lambda self: "own"})
    y = torch.ones(3).as_subclass(own).requires_grad_()
    z = (y * y)[1:].sum()
    z.backward()
    assert float(z.detach()) == 2 and y.grad.tolist() == [0, 2, 2] and getattr(z, name)() == "own" and y.detach().add_(1).numpy().tolist() == [2, 2, 2]


TORCHS = """_addmm_activation _backward_hooks _base _cdata _coalesced_ _conj _conj_physical _fix_weakref _grad _grad_fn _indices _is_view _is_zerotensor
            _make_subclass _neg_view _nnz _post_accumulate_grad_hooks _rev_view_func_unsafe _typed_storage _values _version _view_func _view_func_unsafe"""


def test_only_what_is_named_as_ours_is_beside_what_torch_has():
    own = {n for c in torch.Tensor.__mro__[:-1] for n in vars(c) if n.startswith("_") and not n.startswith(("__", "_tl_", "_abc_"))}
    assert own - {*TORCHS.split()} == set()


def test_a_class_that_is_made_lets_nothing_be_forgotten():
    """What was remembered of calls goes where a class changes, not where one is made: programs make classes as they run."""
    class Earlier(torch.Tensor):
        pass

    table = next(t for t in overriding.FORGET if isinstance(t, dict))
    mark = object()
    table[mark] = mark
    type("Later", (torch.Tensor,), {})
    assert table.pop(mark) is mark
    table[mark] = mark
    Earlier.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: "asked")
    assert mark not in table and torch.ones(2).as_subclass(Earlier) + 1 == "asked"
