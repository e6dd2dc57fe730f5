"""What `TestCase` compares with files, references and other processes (layer 8)."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np

from ..._core import publish as _publish
from ..._tensor import Tensor


def _upright(x):
    """An array that a tensor can be made of, which one with negative strides is not."""
    return x.copy() if isinstance(x, np.ndarray) and min(x.strides, default=0) < 0 else x


class RecordedCase(unittest.TestCase):
    """Comparisons with recorded texts, with NumPy, and what other processes say."""

    def assertExpected(self, s, subname=None):
        """A text is what stands in `expect/<test>[-subname].expect` beside the file of the test; RuntimeError where there is no such file."""
        if not isinstance(s, str):
            raise TypeError("assertExpected is strings only")
        module = type(self).__module__
        name = self.id().removeprefix(f"{module}.")
        path = os.path.join(os.path.dirname(os.path.realpath(sys.modules[module].__file__)), "expect", f"{name}-{subname}" if subname else name)
        shown = f"{name} ({subname})" if subname else name
        try:
            with open(f"{path}.expect") as f:
                expected = f.read()
        except FileNotFoundError:
            raise RuntimeError(f"I got this output for {shown}:\n\n{s}\n\nNo expect file exists; write it to {path}.expect to accept it") from None
        self.assertMultiLineEqual(expected, s)

    def assertExpectedRaises(self, exc_type, callable, *args, subname=None, **kwargs):
        """`assertExpected` of the words of what is raised."""
        try:
            callable(*args, **kwargs)
        except exc_type as e:
            self.assertExpected(str(e), subname)
            return
        self.fail(msg="Did not raise when expected to")

    def assertExpectedStripMangled(self, s, subname=None):
        """`assertExpected` without the numbers of mangled names."""
        self.assertExpected(re.sub(r"__torch__[^ ]+", "", s), subname)

    def assertMultiLineEqualMaybeCppStack(self, s, expect, *args, **kwargs):
        """`assertMultiLineEqual`: no traces of C++ are shown here."""
        self.assertMultiLineEqual(s, expect, *args, **kwargs)

    def assertNoUnraisable(self, callable, *args, **kwargs):
        """Nothing is raised where nobody can catch it (in destructors) while something is called."""
        raised, was = [], gc.isenabled()
        gc.disable()
        try:
            with unittest.mock.patch("sys.unraisablehook", raised.append):
                callable(*args, **kwargs)
        finally:
            if was:
                gc.enable()
        self.assertFalse(raised, f"unraisable: {raised}")

    def compare_with_reference(self, torch_fn, ref_fn, sample_input, **kwargs):
        """A function of tensors gives for a sample what one of arrays gives."""
        arrays = sample_input.numpy()
        found = torch_fn(sample_input.input, *sample_input.args, **sample_input.kwargs)
        self.assertEqual(found, _upright(ref_fn(arrays.input, *arrays.args, **arrays.kwargs)), exact_device=False, **kwargs)

    def compare_with_numpy(self, torch_fn, np_fn, tensor_like, device=None, dtype=None, **kwargs):
        """A function of one tensor gives what one of one array gives."""
        if isinstance(tensor_like, Tensor):
            if device is not None or dtype is not None:
                raise AssertionError(f"{'device' if device is not None else 'dtype'} must be None when tensor_like is a Tensor")
            t = tensor_like
        else:
            t = _publish.load_all()["torch.tensor"](tensor_like, device=device, dtype=dtype)
        cpu = t.detach().cpu()
        array = (cpu.float() if str(cpu.dtype) == "torch.bfloat16" else cpu).numpy()
        kwargs.setdefault("exact_dtype", False)
        self.assertEqual(_upright(np_fn(array)), torch_fn(t), **kwargs)

    @staticmethod
    def run_process_no_exception(code, env=None):
        """(stdout, stderr), as bytes, of another Python that runs `code` with this package as torch."""
        done = subprocess.run([sys.executable, "-m", __name__.partition(".")[0], "-c", code], capture_output=True, env=env, check=False)
        return done.stdout, done.stderr

    @staticmethod
    def runWithPytorchAPIUsageStderr(code):
        """What such a process writes to stderr; nothing here counts uses of the API, so that it names none."""
        env = {k: v for k, v in os.environ.items() if k not in ("CI", "TEST_SHOWLOCALS")}
        return RecordedCase.run_process_no_exception(code, env={**env, "PYTORCH_API_USAGE_STDERR": "1"})[1].decode("ascii")

    @staticmethod
    def remove_empty_lines(input_string):
        """A text without its empty lines."""
        return "\n".join(line for line in input_string.split("\n") if line.strip())

    @staticmethod
    def remove_comment_lines(input_string):
        """A text without the lines that are comments."""
        return "\n".join(line for line in input_string.split("\n") if not line.strip().startswith("#"))
