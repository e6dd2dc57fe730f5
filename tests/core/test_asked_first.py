"""The very first call of a process asks `__torch_function__` of an object that is no tensor, whoever wrote the function."""

import subprocess
import sys

import pytest

PROGRAM = """
import torchlike_autograd as torch
import torchlike_autograd.nn.functional as F

class Like:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__

print({})
"""
CALLS = {"F.relu(Like())": "relu", "torch.split(Like(), 2)": "split", "torch.reshape(Like(), (2,))": "reshape", "torch.autograd.grad(Like(), Like())": "grad",
         "torch.stack([Like()])": "stack"}


@pytest.mark.parametrize("call", CALLS)
def test_the_first_call_asks(call):
    done = subprocess.run([sys.executable, "-c", PROGRAM.replace("{}", call)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == CALLS[call], done.stderr


def test_errors_stay_what_they_are():
    program = PROGRAM.replace("{}", "1)\ntry:\n    F.relu(object())\nexcept TypeError as e:\n    print(e")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert "relu(): argument 'input' (position 1) must be Tensor, not object" in done.stdout, done.stderr
