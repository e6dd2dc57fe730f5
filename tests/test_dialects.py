"""The spellings: every row of the table that they answer (`compat_matrix/oracle_spellings` says where the answers come from)."""

import copy
import gc
import io
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import spellings
from torchlike_autograd.dialects import oneflow, oneflow_first

TABLE = spellings.read()


@pytest.mark.parametrize("spelling", spellings.SPELLINGS)
@pytest.mark.parametrize("name", TABLE["rows"])
def test_row(name, spelling):
    expected = TABLE["rows"][name][spelling]
    if expected is None:
        pytest.skip("the table has no answer")
    got = spellings.answer(name, spellings.spelling(spelling))
    assert spellings.agrees(expected, got), got


@pytest.mark.parametrize("name", spellings.read()["rows"])
def test_the_first_spelling_does_what_todays_does(name):
    assert not spellings.first_as_today(name, spellings.read()["rows"][name], spellings.spelling("oneflow first"))


def test_every_row_has_a_body_and_every_spelling_a_column():
    assert set(TABLE["rows"]) == set(spellings.BODIES)
    assert all(set(row) == set(spellings.SPELLINGS) for row in TABLE["rows"].values())


@pytest.mark.parametrize("name", TABLE["signatures"])
def test_signatures(name):
    for spelling, text in TABLE["signatures"][name].items():
        assert spellings.takes(text, spellings.signature(spellings.spelling(spelling), name))


def test_other_names_are_the_packages():
    import torchlike_autograd as torch

    assert oneflow.ones is oneflow_first.ones and oneflow.ones.__wrapped__ is torch.ones and oneflow.float32 is torch.float32
    assert issubclass(oneflow.autograd.Function, torch.autograd.Function) and oneflow_first.autograd.Function is oneflow.autograd.Function
    assert oneflow.grad_enable is oneflow.autograd.enable_grad is torch.enable_grad
    x = oneflow.ones(2, requires_grad=True)
    with oneflow.no_grad():
        assert not (x * 2).requires_grad


def test_tensors_go_backward_by_oneflows_rules():
    x = oneflow.tensor([1.0, 2.0], requires_grad=True)
    y = x + x
    assert y.numpy().tolist() == [2.0, 4.0] and isinstance(oneflow.nn.Linear(1, 1).weight, oneflow.Tensor)
    with pytest.raises(RuntimeError, match=r"^Grad can be implicitly created only for scalar outputs"):
        y.backward()
    with pytest.raises(TypeError, match="inputs"):
        y.backward(oneflow.ones(2), inputs=[x])
    total = y.sum()
    total.backward(create_graph=True)
    first = x.grad
    total.backward(oneflow.tensor(2, dtype=oneflow.int64))
    assert x.grad is first and first.tolist() == [6.0, 6.0] and type(first) is oneflow.Tensor
    with pytest.raises(RuntimeError, match="has been released"):
        total.backward()  # though the nodes of sums keep nothing


MADE = [lambda: oneflow.tensor([1.0, 2.0], requires_grad=True), lambda: oneflow.ones(2, requires_grad=True), lambda: oneflow.nn.Linear(2, 1).weight]


@pytest.mark.parametrize("made", MADE)
def test_a_leaf_that_has_been_in_a_graph_is_known(made):
    roots = oneflow.ones(2, requires_grad=True)

    def asked(leaf):
        return oneflow.autograd.grad((roots * 2).sum(), leaf)

    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        asked(made())
    leaf = made()
    held = leaf * 3
    gc.freeze()  # as programs may: what records is not shown by `gc` then
    try:
        assert asked(leaf) == (None,)
    finally:
        gc.unfreeze()
    assert held.sum().item() and asked(leaf) == (None,)  # the second time after it was computed
    assert oneflow.autograd.grad((leaf * leaf).sum(), leaf)[0].tolist() == (leaf * 2).tolist()


def test_hooks_are_oneflows():
    x = oneflow.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda grad: seen.append(type(grad)))
    x._register_post_grad_accumulation_hook(lambda grad: grad * 2 + 1)
    (x * 3).sum().backward()
    assert seen == [oneflow.Tensor] and x.grad.tolist() == [7.0, 7.0]
    with oneflow.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 0):
        y = x * x
    with pytest.raises(TypeError, match=r"^unpack_hook should return a Tensor, but got `<class 'int'>` instead"):
        y.sum().backward()


def test_what_saved_nothing_goes_backward_again_below_another_root():
    x = oneflow.tensor([1.0, 2.0], requires_grad=True)
    y = x + x
    for _ in range(3):
        y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    z = x * x
    z.sum().backward()
    with pytest.raises(RuntimeError, match=r"^This FunctionNode with name .* has been released"):
        z.sum().backward()


def test_inference_mode_turns_recording_off_and_no_more():
    x = oneflow.ones(2, requires_grad=True)
    with oneflow.inference_mode():
        kept = x * 3
        with oneflow.inference_mode(False):
            assert oneflow.is_grad_enabled()
        assert not oneflow.is_grad_enabled()
    assert oneflow.is_grad_enabled() and not kept.requires_grad
    (kept * x).sum().backward()  # PyTorch: inference tensors cannot be saved for backward
    assert x.grad.tolist() == [3.0, 3.0] and oneflow.inference_mode()(lambda: oneflow.is_grad_enabled())() is False


def test_methods_that_are_oneflows():
    x = oneflow.tensor([-5.0, 5.0], requires_grad=True)
    assert (x % 3).tolist() == [-2.0, 2.0] and (7 % x.detach()).tolist() == [2.0, 2.0]  # PyTorch: 1 and -3
    assert x.is_local and not x.is_global and x.cast(oneflow.int64).dtype is oneflow.int64 and type(oneflow.cast(x, oneflow.int64)) is oneflow.Tensor
    assert x.silu().tolist() == oneflow.silu(x).tolist() == oneflow.nn.functional.silu(x).tolist()
    assert oneflow.zeros(2).copy_(np.array([3, 4])).tolist() == [3.0, 4.0]
    chosen = oneflow.tensor([0, 1]).where(x, 2 * x)
    assert chosen.tolist() == [-10.0, 5.0] and oneflow.where(oneflow.tensor([0, 2]))[0].tolist() == [1]
    hessian = oneflow.autograd.functional.hessian(lambda x: (x**3).sum(), x)
    assert type(hessian) is oneflow.Tensor and hessian.tolist() == [[-30.0, 0.0], [0.0, 30.0]]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: through_file({"x": [x]})["x"][0]])
def test_tensors_of_oneflow_are_copied_and_kept_in_files(again):
    x = oneflow.tensor([1.0, 2.0], requires_grad=True)
    other = again(x)
    assert other is not x and other.tolist() == [1.0, 2.0] and other.is_leaf and other.requires_grad and repr(other) == repr(x) == \
        "tensor([1., 2.], requires_grad=True)"


def through_file(x):
    file = io.BytesIO()
    oneflow.save(x, file)
    file.seek(0)
    return oneflow.load(file)


@pytest.mark.parametrize("saving", [True, False])
def test_functions_that_saved_something_are_released(saving):
    class Double(oneflow.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(*[x] * saving)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = oneflow.ones(3, requires_grad=True)
    y = Double.apply(x)
    y.sum().backward()
    assert y.grad_fn._is_data_valid() is False
    if saving:
        with pytest.raises(RuntimeError, match=r"^This FunctionNode with name `Double` has been released"):
            y.sum().backward()
    else:
        y.sum().backward()
        assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_functions_are_called_on_their_instances_too():
    class Double(oneflow.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    for call in (Double.apply, Double().apply, Double()):
        x = oneflow.ones(3, requires_grad=True)
        call(x).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_context_tells_what_is_kept_and_errors_the_name_of_the_function():
    kept = []

    class Twice(oneflow.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            kept.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert type(grad) is type(ctx.saved_tensors[0]) is oneflow.Tensor
            return ()

    y = Twice.apply(oneflow.ones(3, requires_grad=True))
    assert kept[0]._is_data_valid()
    oneflow.autograd.grad(y.sum(), y)  # does not reach its node
    assert kept[0]._is_data_valid()
    with pytest.raises(RuntimeError, match=r"^function Twice returned an incorrect number of gradients \(expected 1, got 0\)"):
        y.sum().backward()


def test_modules_are_imported_by_name():
    import torchlike_autograd.dialects.oneflow.nn.functional as functional
    from torchlike_autograd.dialects.oneflow.autograd import grad
    from torchlike_autograd.dialects.oneflow.nn import Linear

    import torchlike_autograd as torch

    assert functional is torch.nn.functional and Linear is torch.nn.Linear and grad is oneflow.autograd.grad
    with pytest.raises(ModuleNotFoundError):
        import torchlike_autograd.dialects.oneflow.nowhere
    with pytest.raises(ModuleNotFoundError):
        import torchlike_autograd.dialects.libtorch.nn  # noqa: F401


def test_a_network_of_the_cpp_frontend_is_trained():
    from torchlike_autograd.dialects import libtorch as torch

    torch.manual_seed(0)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = self.register_module("fc1", torch.nn.Linear(4, 8))
            self.fc2 = self.register_module("fc2", torch.nn.Linear(torch.nn.LinearOptions(8, 3).bias(False)))
            self.scale = self.register_parameter("scale", torch.ones([1]))
            self.shift = self.register_buffer("shift", torch.zeros([1]))

        def forward(self, x):
            return torch.log_softmax(self.fc2(torch.relu(self.fc1.forward(x))) * self.scale + self.shift, 1)

    net = Net()
    assert [p.sizes() for p in net.parameters()] == [[1], [8, 4], [8], [3, 8]] and [b.sizes() for b in net.buffers()] == [[1]]
    optimizer = torch.optim.SGD(net.parameters(), torch.optim.SGDOptions(0.5).momentum(0.9))
    x, y, losses = torch.randn([16, 4]), torch.randint(0, 3, [16], torch.kLong), []
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nll_loss(net.forward(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] * 0.7 and net.fc1.weight.grad().defined()
    layers = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), net)
    assert layers(torch.ones([5, 2])).sizes() == [5, 3] and layers[0].weight.sizes() == [4, 2] and layers.size() == 3


def test_handles_of_the_cpp_frontend():
    from torchlike_autograd.dialects import libtorch as torch

    x = torch.zeros([2, 2], torch.kDouble).set_requires_grad(True)
    assert x.options().dtype() is x.scalar_type() is torch.kDouble and x.strides() == [2, 1] and x.nbytes() == 32 and x.itemsize() == 8
    assert torch.ones([2], torch.device(torch.kCPU)).sizes() == [2] and torch.arange(3, torch.kFloat).dtype is torch.kFloat
    assert not x.sum() and bool(x.sum() == 0) and int(x.sum() + 2) == 2 and (x.detach() + 5 % torch.tensor([3.0])).sum().item() == 8
    values, indices = torch.max(torch.eye(2), 1)
    assert values.get().tolist() == [1, 1] and indices.get().tolist() == [0, 1] and torch.linalg.norm(torch.ones([4])).item() == 2
    y = torch.zeros([2, 2]).index_put_([0, torch.indexing.Slice()], 5)
    assert y.index(["...", 1]).get().tolist() == [5, 0] and y.is_same(y) and not y.is_same(y.clone())
    y.reset()
    assert not y.defined()

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, bias, k):
            ctx.save_for_backward([a, bias])
            ctx.saved_data["k"] = k
            return a * k if not bias.defined() else a * k + bias

        @staticmethod
        def backward(ctx, grads):
            _, bias = ctx.get_saved_variables()
            return [grads[0] * ctx.saved_data["k"], grads[0] if bias.defined() else torch.Tensor(), torch.Tensor()]

    a = torch.ones([2], torch.requires_grad())
    Scaled.apply(a, torch.Tensor(), 3).sum().backward()  # an undefined argument is an undefined tensor in `forward`
    assert a.grad().get().tolist() == [3, 3]
