"""`import torch` resolved to us: the command line, tracebacks, exit codes, and undoing."""

import importlib.metadata
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import torchlike_autograd
from torchlike_autograd import install_as_torch, uninstall_as_torch

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(*args, cwd=None):
    """A fresh interpreter with the package on its path."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-m", "torchlike_autograd", *args], capture_output=True, text=True, env=env, cwd=cwd, timeout=120)


def test_script_sees_its_own_arguments_and_folder(tmp_path):
    (tmp_path / "helper.py").write_text("VALUE = 7\n")
    script = tmp_path / "program.py"
    script.write_text("import sys, torch, helper\nfrom torch.autograd import grad\nprint(sys.argv[1:], __name__, helper.VALUE, torch.ones(2).sum().item())\n"
                      "sys.exit(3)\n")
    done = run(str(script), "a", "-b")
    assert (done.returncode, done.stdout) == (3, "['a', '-b'] __main__ 7 2.0\n"), done.stderr


def test_code_and_module(tmp_path):
    assert run("-c", "import sys, torch; print(torch.tensor([1, 2]), sys.argv)", "x").stdout == "tensor([1, 2]) ['-c', 'x']\n"
    (tmp_path / "mod.py").write_text("import torch.nn.functional as F, sys\nprint(F.__name__.endswith('functional'), sys.argv[1:])\n")
    assert run("-m", "mod", "y", cwd=tmp_path).stdout == "True ['y']\n"



def test_pythons_submodules_that_torch_imports_are_there():
    """Programs say `mp.connection` with no import of their own: importing torch brings it."""
    names = "concurrent.futures, multiprocessing.connection, multiprocessing.resource_sharer, multiprocessing.spawn, multiprocessing.util"
    done = run("-c", f"import torch, multiprocessing, concurrent; print(len(({names})))")
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr


def test_children_that_are_started_afresh_import_torch_too(tmp_path):
    """torch.multiprocessing's and Python's own, by "spawn" and "forkserver"."""
    script = tmp_path / "program.py"
    script.write_text("""import multiprocessing, torch
from torch.multiprocessing.spawn import ProcessException, ProcessRaisedException
def child(i, queue, fails):
    if i == fails:
        raise ValueError("one fails")
    queue.put(torch.ones(i + 2).sum().item())
if __name__ == "__main__":
    queue = torch.multiprocessing.get_context("spawn").SimpleQueue()
    print(torch.multiprocessing.spawn(child, (queue, None), nprocs=1), queue.get())
    try:
        torch.multiprocessing.spawn(child, (queue, 0), nprocs=1)
    except ProcessRaisedException as e:
        print(isinstance(e, ProcessException), e.error_index, "ValueError: one fails" in str(e))
    context = multiprocessing.get_context("forkserver")
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(1, queue, None))
    process.start()
    print(queue.get(), process.join(), process.exitcode)
""")
    done = run(str(script))
    assert (done.returncode, done.stdout) == (0, "None 2.0\nTrue 0 True\n3.0 None 0\n"), done.stderr


def test_any_python_that_a_program_starts_imports_torch_too(tmp_path):
    done = run("-c", """
import subprocess, sys
for code in ("from torch.nn import Linear; import torch; print(Linear, torch.ones(2).sum())",
             "from functorch import vmap; import torch; print(vmap(torch.neg)(torch.ones(2)))"):
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout, end="")
""", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "<class 'torch.nn.modules.linear.Linear'> tensor(2.)\ntensor([-1., -1.])\n"), done.stderr


def test_python_that_drops_texts_and_asserts_runs_it(tmp_path):
    """`python -OO`: no function has a docstring then."""
    code = "import torch, torch._functorch.deprecated, torch.optim; x = torch.ones(2, requires_grad=True); (x * x).sum().backward(); print(x.grad)"
    done = run("-c", f"""
import subprocess, sys
print(subprocess.run([sys.executable, "-OO", "-c", {code!r}], capture_output=True, text=True, check=True).stdout, end="")
""", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "tensor([2., 2.])\n"), done.stderr


def test_an_interpreter_without_this_package_finds_its_own_torch(tmp_path):
    children = pathlib.Path(torchlike_autograd.__file__).parent / "_children"
    (tmp_path / "torch.py").write_text("name = 'its own'")
    done = subprocess.run([sys.executable, "-S", "-c", "import torch; print(torch.name)"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (children, tmp_path)))})
    assert (done.returncode, done.stdout) == (0, "its own\n"), done.stderr


def test_modules_that_files_name_can_be_imported():
    """What there is not says so when it is called."""
    done = run("-c", """
import torch
from functorch.compile import aot_function, make_boxed_compiler, make_boxed_func
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import default_partition
from torch.optim.swa_utils import _group_tensors_by_device_and_dtype
print(make_boxed_func(max)([1, 2]), make_boxed_func(max)._boxed_call, make_boxed_compiler(lambda f, inputs: f)(max, [])([3, 4]))
for f in aot_function, core_aten_decompositions, aot_autograd, default_partition:
    try:
        f()
    except NotImplementedError as e:
        print(str(e).partition(":")[0])
for ask in (lambda: torch.classes.mine.Thing, lambda: torch._utils._element_size(3)):
    try:
        ask()
    except RuntimeError as e:
        print(e)
print(torch.classes.loaded_libraries, torch._utils._element_size(torch.bfloat16), torch.profiler.profiler._default_schedule_fn(0))
""")
    assert (done.returncode, done.stdout) == (0, """2 True 4
functorch.compile.aot_function
torch._decomp.core_aten_decompositions
torch._dynamo.backends.common.aot_autograd
torch._functorch.partitioners.default_partition
Tried to instantiate class 'mine.Thing', but it does not exist! Ensure that it is registered via torch::class_
expected torch.dtype, but got <class 'int'>
set() 2 ProfilerAction.RECORD
"""), done.stderr

def test_traceback_is_the_programs(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import torch\n\ndef f():\n    raise KeyError('mine')\n\nf()\n")
    done = run(str(script))
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path / "stub")}, timeout=60)
    assert done.returncode == 1
    assert "__main__.py" not in done.stderr and done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert done.stderr.splitlines()[-1] == "KeyError: 'mine'" and plain.returncode == 1


@pytest.mark.parametrize("end", ["", "import sys; sys.exit(0)"])
@pytest.mark.parametrize("when", ["deferred", "immediate"])
def test_what_nobody_looked_at_is_checked_at_the_end(monkeypatch, when, end):
    monkeypatch.setenv("TLA_EXECUTION", when)
    done = run("-c", f"import torch\ntorch.distributions.Normal(torch.zeros(2), -torch.ones(2))\nprint('on')\n{end}")
    assert done.returncode == 1 and "ValueError: Expected parameter scale (Tensor of shape (2,)) of distribution Normal(" in done.stderr
    assert done.stdout == ("on\n" if when == "deferred" else "")


def test_missing_script():
    done = run("no_such_file.py")
    assert done.returncode == 2 and "can't open file" in done.stderr


def test_install_and_undo():
    before, finders = set(sys.modules), list(sys.meta_path)
    with install_as_torch():
        import torch
        import torch.autograd.function
        import torch.nn.functional as F

        assert torch is torchlike_autograd and F is torchlike_autograd.nn.functional
        assert torch.autograd.function.Function is torchlike_autograd.autograd.Function
        with pytest.raises(ModuleNotFoundError, match=r"torch\.no_such_module"):
            import torch.no_such_module
        with pytest.raises(RuntimeError, match="already in force"):
            install_as_torch()
        assert str(torch.nn.Linear) == "<class 'torch.nn.modules.linear.Linear'>" and pickle.loads(pickle.dumps(torch.nn.Linear(1, 1))).in_features == 1
        assert torch.Tensor.__module__ == "torch" and torch.optim.Adam.__module__ == "torch.optim.adam" and str(torch.Size) == "<class 'torch.Size'>"
        assert type(torch.ones(1)).__module__.split(".")[0] == "torch"  # as libraries find the package of an array
        assert importlib.metadata.version("torch") == torch.__version__
        with pytest.raises(TypeError, match=r"must be Tensor, not torch\.dtype"):
            torch.sin(torch.float32)
    assert torchlike_autograd.nn.Linear.__module__ == "torchlike_autograd.nn.modules.linear"
    assert sys.meta_path == finders
    assert not [k for k in set(sys.modules) - before if k == "torch" or k.startswith("torch.")]
    uninstall_as_torch()


def test_refuses_beside_real_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    with pytest.raises(RuntimeError, match="already imported"):
        install_as_torch()


def test_scoped_to_a_package(tmp_path, monkeypatch):
    (tmp_path / "wants_torch.py").write_text("import torch\nVALUE = torch.ones(3).sum().item()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with install_as_torch(packages=["wants_torch"]):
        import wants_torch

        assert wants_torch.VALUE == 3.0 and "torch" not in sys.modules
    del sys.modules["wants_torch"]


LATE = """
def late():
    import torch.nn, pickle
    from torch.nn import functional as F
    return torch, F, pickle, len([1])
"""


def test_functions_of_a_package_import_late(tmp_path, monkeypatch):
    """Also beside PyTorch; what the package imports of others is theirs, and all is as before once it is undone."""
    (tmp_path / "wants_torch_late.py").write_text(LATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    real = type(sys)("torch")
    monkeypatch.setitem(sys.modules, "torch", real)
    with install_as_torch(packages=["wants_torch_late"]):
        import wants_torch_late

        torch, functional, other, n = wants_torch_late.late()
        assert torch is torchlike_autograd and functional is torchlike_autograd.nn.functional and other is pickle and n == 1
        assert sys.modules["torch"] is real and "torch.nn" not in sys.modules
    with pytest.raises(ModuleNotFoundError, match=r"torch\.nn"):  # the one beside it has none
        wants_torch_late.late()
    del sys.modules["wants_torch_late"]


def test_missing_names_say_so():
    with pytest.raises(AttributeError, match="no_such_name"):
        torchlike_autograd.no_such_name  # noqa: B018


def test_classes_of_modules_that_load_late():
    """Also those of modules without a list of public names, and of modules that the program imports first after the installation."""
    code = ("import torch, torch.nn.utils.prune as p, torch.nn.utils.parametrize as q; "
            "print(p.L1Unstructured.__module__, q.ParametrizationList.__module__, torch.nn.utils.prune.Identity)")
    done = run("-c", code)
    assert done.stdout.split(" ", 2) == ["torch.nn.utils.prune", "torch.nn.utils.parametrize", "<class 'torch.nn.utils.prune.Identity'>\n"], done.stderr


def test_names_from_modules_of_ours():
    done = run("-c", "import torch; print(torch._mkldnn)")  # its module is not one of torch's
    assert done.stdout == "torch._mkldnn\n", done.stderr


def test_functions_named_as_their_modules():
    """Importing the module by torch's name leaves the function where the package has it."""
    code = ("import torch, torch._higher_order_ops.scan, torch.autograd.gradcheck; from torch._higher_order_ops.cond import cond; "
            "print(callable(torch._higher_order_ops.scan), torch._higher_order_ops.cond is cond is torch.cond, callable(torch.autograd.gradcheck))")
    done = run("-c", code)
    assert done.stdout == "True True True\n", done.stderr
