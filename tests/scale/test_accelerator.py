"""What belongs to a CUDA device, on a second host device that stands for one; in a process of its own, as JAX fixes its devices when it starts."""

import pytest
from test_scale import answer_of

from sampling import EVERYTHING


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What `run_accelerator` answers."""
    return answer_of("run_accelerator.py", 2, tmp_path_factory)


def test_operators_are_the_host_s(found):
    assert found["table"] == {}, "values, both orders of gradients, nodes; and nothing goes into a program that lies elsewhere"


def test_autocast_casts_as_pytorch_does_on_a_gpu(found):
    refused = {"_standard_gamma_grad float16", "avg_pool3d float16"}  # as on PyTorch's CPU, whatever the device; of 1,233 answers
    assert set(found["autocast"]) == refused if EVERYTHING else set(found["autocast"]) <= refused
    assert found["autocast_calls"] == {}


def test_gradients_are_made_beside_what_they_belong_to(found):
    seen = found["gradients"]
    assert seen["function"] == [[2.0, 2.0], "cuda:0"] and seen["checked"] is True
    forward, grad = seen["checkpoint"]
    assert grad == [2 * v for v in forward], "the second run draws what the first drew"
    assert seen["optimizer"][0] == seen["optimizer"][1] == pytest.approx([0.999, 0.999]) and seen["optimizer"][2] == "cpu"


def test_files_say_where_tensors_were(found):
    there, host = ["cuda:0", "cuda:0", True], ["cpu", "cpu", True]
    assert found["files"] == {"as it was": there, "a string": host, "a device": there, "a map": host, "a function": host, "a function that moves": there,
                              "one that does not say": there, "pickled": ["cuda:0", "Parameter", True], "copied": "cuda:0"}


def test_maps_draw_for_a_device(found):
    assert found["mapped_draws"] == [True, True, True], "dropout under vmap and torch.func.grad failed on a device: its mask stayed on the host"


def test_a_device_has_a_generator_of_its_own(found):
    seen = found["draws"]
    assert seen["apart"] == [True, True], "what is drawn on the device takes nothing from the host's stream, and is that stream for the seed"
    assert seen["seeded"] and seen["again"] == [True, True] and seen["where"] == ["cuda:0"] and seen["seed"] == 7 and seen["generators"] == 1
    assert seen["refused"] == ["RuntimeError: Expected a 'cpu' device type for generator but found 'cuda'",
                               "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'"]


def test_mixed_precision(found):
    seen = found["mixed_precision"]
    assert seen["dtypes"] == ["torch.float16", "torch.float32", "torch.float16", "torch.float32"] and seen["falls"]
    assert seen["unsafe"] == "RuntimeError: torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast."


def test_a_step_does_not_wait_for_the_device(found):
    seen = found["looks"]
    assert seen["codes"] == ["ArrayImpl"], "the codes of checks that need data stay on the device until somebody looks"
    assert seen["refused"] == "IndexError: Target 4 is out of bounds."
    assert seen["numpy"].startswith("TypeError: can't convert cuda:0 device type tensor to numpy.")


def test_what_is_compiled(found):
    seen = found["programs"]
    assert seen["small"] == [[2.0, 3.0, 4.0], "29.0", "cuda", 0], "the host runs small programs that are seen once"
    assert seen["compiles"] == 2, "the step, and the step whose parameters are looked at"
    assert seen["falls"] and seen["held"]
    assert seen["lent"] == 12, "parameters and both of their states give their memory, small ones too"


def test_pinned_memory(found):
    seen = found["looks"]
    assert seen["pinned"] == [False, True, "RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"]
    assert seen["loader"] == [True, True]
