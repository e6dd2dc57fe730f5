"""Several devices: eight of the host's in one process, and two processes; both in processes of their own, as JAX fixes its devices when it starts."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import pytest

from sampling import sample

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TIME_LIMIT = 600


def start(script, devices, *args):
    """A Python process with so many host devices."""
    path = os.pathsep.join([str(ROOT), str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    return subprocess.Popen([sys.executable, str(script), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def answer(process):
    """The JSON object that a process printed last."""
    out, err = process.communicate(timeout=TIME_LIMIT)
    assert process.returncode == 0, err[-3000:]
    return json.loads(out.splitlines()[-1])


def asked_once(folder, ask):
    """What `ask()` returns, asked by the first of the processes that run tests; `folder` is the same for all."""
    found, asking = folder / "answer.json", folder / "asking"
    while not found.exists():
        try:
            asking.mkdir()
        except FileExistsError:
            time.sleep(0.1)
            continue
        try:
            whole = asking / "whole"
            whole.write_text(json.dumps(ask()))
            whole.rename(found)
        finally:
            shutil.rmtree(asking)  # after an error the next one asks, and fails itself
    return json.loads(found.read_text())


def answer_of(script, devices, tmp_path_factory):
    """What a script answers, run once for all processes that run tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / script
    folder.mkdir(exist_ok=True)
    return asked_once(folder, lambda: answer(start(HERE / script, devices)))


@pytest.fixture(scope="module")
def eight(tmp_path_factory):
    """What eight devices answer."""
    return answer_of("run_sharded.py", 8, tmp_path_factory)


@pytest.mark.parametrize("name", ["adam", "looked"])
def test_spread_training_is_training_on_one_device(eight, name):
    found = eight["jax_mesh"][name]
    spread, alone = found["losses"]
    assert spread == pytest.approx(alone, rel=1e-6)
    assert found["difference"] < 2e-6
    assert found["specs"] == ["P(None, 'model')"] * 2 + ["P('model',)"] * 2, "weights and gradients lie as the weights were put"
    programs = 2 if name == "looked" else 1  # two where the loss is looked at before its backward pass
    assert found["last"] == {"flushes": programs, "compiles": 0, "op_by_op": 0}, "one partitioned program a step"


def test_no_parameter_is_gathered(eight):
    assert eight["jax_mesh"]["collectives"] == ["all-reduce"]


@pytest.mark.parametrize("name, parts", [("sharded", 2), ("one", 1)])
def test_weights_and_states_give_their_memory_to_what_replaces_them(eight, name, parts):
    found = eight["memory"][name]
    assert found["losses"][0] == pytest.approx(found["losses"][1], rel=1e-5) and found["difference"] < 1e-5
    assert found["lent"] == 3 * 256 * 512 * 4 // parts, "the weight and Adam's two states, of which every device holds its part"


def test_what_somebody_holds_stays_as_it_was(eight):
    found = eight["memory"]
    assert found["same"] and found["held"][0] == pytest.approx(found["held"][1], abs=0.05) and len(set(found["shared"])) == 1


def test_spread_tensors_are_looked_at_and_made(eight):
    found = eight["jax_mesh"]
    assert found["looks"] == [120.0, 7.0, [14.0, 15.0], "cpu", True]
    assert found["leaf"] == ["Parameter", True, "RedistributeBackward", [[8.0, 8.0]] * 4]
    assert found["pieces"] == [["cpu", True]]


def test_dtensor(eight):
    found = eight["dtensor"]
    assert found["losses"][0] == pytest.approx(found["losses"][1], rel=1e-6)
    assert found["placements"] == ["(Replicate(), Shard(dim=1))"] * 2 + ["(Shard(dim=0), Replicate())"]
    assert found["mesh"] == ["DeviceMesh((data=4, model=2), 'cpu', stride=(2, 1))", "DeviceMesh((model=2), 'cpu', stride=(1,))"]
    assert found["local"] == [16, 16] and found["instances"] == [True, False] and found["grad"] == 240.0
    assert found["like"] == [["(Shard(dim=0), Replicate())"] * 8, [False, True] + [False] * 6, True, False]
    assert found["text"] == ("DTensor(local_tensor=tensor([[0., 1.],\n        [2., 3.]]), device_mesh=DeviceMesh((data=4, model=2), 'cpu', stride=(2, 1)), "
                             "placements=(Shard(dim=0), Replicate()))")


def test_plain_tensors_beside_dtensors(eight):
    found = eight["beside_plain"]
    names = {"add": "add.Tensor", "mm": "mm.default", "in place": "add_.Tensor", "out": "add.out", "copy": "copy_.default", "set": "copy_.default",
             "index": "index.Tensor", "equal": "equal.default", "linear": "mm.default", "recurrent": "mkldnn_rnn_layer.default"}
    words = "got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!"
    assert found["said"] == {k: f"aten.{n} {words}" for k, n in names.items()}, "the words of PyTorch 2.13"
    assert all(found["fine"].values()), found["fine"]
    assert found["given"], "PyTorch takes a plain gradient too"


def test_files_keep_placements(eight):
    found = eight["beside_plain"]
    assert found["loaded"] == ["(Shard(dim=0),)"] * 3 and found["same"] and found["kinds"] == ["Tensor", "Parameter"]


def test_tensor_parallel(eight):
    found = eight["tensor_parallel"]
    spread, alone = found["losses"]
    assert spread == pytest.approx(alone, rel=1e-5)
    assert found["flushes"] == 1, "styles do not look at what they place: one program a step"
    columns, rows, whole = ["(Shard(dim=0),)"] * 2, ["(Shard(dim=1),)"] * 2, ["(Replicate(),)"] * 2
    assert found["placements"] == {"0.weight": columns, "1.weight": whole, "1.bias": whole, "2.weight": columns, "2.bias": columns, "4.weight": rows,
                                   "4.bias": whole, "5.weight": columns, "5.bias": columns}
    assert found["local"] == [[[3.0, 3.0]] * 8, "(Replicate(),)"] and found["given"] == "(Replicate(),)"
    ours, *theirs = found["errors"]
    assert ours.startswith("DTensor.from_local: this process sees 8 devices of the mesh")
    assert theirs == ["Can not redistribute from R to P(sum), redistributing to Partial is for internal use only!",
                      "ColwiseParallel currently only support nn.Linear and nn.Embedding!",
                      "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, <class 'int'> found!",
                      "desired module inputs should not be None!"]
    assert found["texts"] == ["ColwiseParallel(input_layouts=(Replicate(),), output_layouts=(Shard(dim=-1),), use_local_output=True)",
                              "RowwiseParallel(input_layouts=(Shard(dim=-1),), output_layouts=(Replicate(),), use_local_output=True)",
                              "SequenceParallel(sequence_dim=1, use_local_output=False)"]


@pytest.mark.parametrize("algorithm", ["SGD", "AdamW", "RMSprop", "Adagrad"])
def test_weights_of_one_shape_stay_as_each_was_spread(eight, algorithm):
    found = eight["equal_shapes"][algorithm]
    cols, rows = [["(Shard(dim=0),)"], ["(Shard(dim=0),)"]], [["(Shard(dim=1),)"], ["(Replicate(),)"]]
    assert found["placements"] == cols + rows + cols + rows
    assert found["difference"] < 2e-6


def test_what_a_file_holds_is_spread_as_the_parameters_are(eight):
    cols, rows, whole = ["(Shard(dim=0),)"] * 2, ["(Shard(dim=1),)"] * 2, ["(Replicate(),)"] * 2
    assert eight["equal_shapes"]["loaded"] == [cols, cols, rows, whole] * 2


def test_checkpoints_around_spread_weights(eight):
    for spread, alone in eight["checkpointed"]:
        assert len(spread) == len(alone)
        for a, b in zip(spread, alone):
            assert a == [pytest.approx(row, rel=1e-4, abs=1e-5) for row in b]


def test_a_second_host_device(eight):
    found = eight["host_devices"]
    assert found["devices"] == ["cpu:1", "cpu:1", "cpu"] and found["grad"] == [2.0, 2.0, 2.0] and found["node"] == "ToCopyBackward0" and found["there"]
    assert found["error"] == "Expected all tensors to be on the same device, but found at least two devices, cpu:1 and cpu!"
    assert found["both"] == [[1.0, 2.0, 3.0]] * 2


def test_shard_map(eight):
    value, grad = eight["functions"]["value"], eight["functions"]["grad"]
    assert value == pytest.approx([value[0]] * 3, rel=1e-6)
    assert grad[0] == [pytest.approx(row, rel=1e-6) for row in grad[1]]
    cut = eight["functions"]["cut"]
    assert cut[0] == [pytest.approx(row, rel=1e-6) for row in cut[1]], "torch's gradients, where JAX's derivative would not see the detach"
    assert eight["functions"]["inside"] == [[2.0] * 4] * 24, "of two rows of ones on each device"


def test_what_does_not_divide_lies_whole_and_says_so(eight):
    found = eight["uneven"]
    by_two, whole, cols = "(Replicate(), Shard(dim=0))", "(Replicate(), Replicate())", "(Replicate(),)"
    assert found["placements"] == [by_two, by_two, whole, by_two, cols, cols]
    assert found["said"] == [f"a dim of {n} elements does not split in 4 equal parts, and JAX splits in equal parts only: along the mesh's data every device "
                             "has all of it" for n in (5, 6)]
    assert found["difference"] < 1e-5 and found["module"] < 1e-4


def test_what_is_made_from_a_spread_tensor_is_spread(eight):
    there = ["(Shard(dim=0),)", True]
    assert eight["made_from"] == dict.fromkeys(("zeros", "empty", "full", "bernoulli", "poisson"), there) | {"ones": ["(Replicate(),)", True]}


def test_gradients_lie_as_their_leaves_whatever_they_come_from(eight):
    assert {k: v for k, v in eight["cotangents"].items() if v != ["(Shard(dim=0),)"] * 2 + [True]} == {}


def test_two_processes():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    processes = [start(HERE / "run_process.py", 2, str(rank), port) for rank in (0, 1)]
    for rank, found in enumerate(map(answer, processes)):
        assert found["processes"] == 2
        assert found["losses"][0] == pytest.approx(found["losses"][1], rel=1e-6) and found["difference"] < 2e-6
        assert found["last"] == {"flushes": 1, "compiles": 0, "op_by_op": 0}
        assert found["placements"] == "(Replicate(), Shard(dim=1))" and found["local"] == [16, 16] and found["coordinate"] == [rank, 0]
        parts = found["parts"]
        assert parts["sharded"] == [[0.0, 0.0], [1.0, 1.0]] and parts["sum"] == parts["twice"] == [[1.0, 1.0]] and parts["mean"] == [[0.5, 0.5]]
        assert parts["own"] == [[float(rank)] * 2]


@pytest.mark.parametrize("script", sample(["data_parallel.py", "tensor_parallel.py"], 2))
def test_examples_say_the_same_on_one_device_and_on_eight(script):
    runner = ROOT / "examples" / script
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "torchlike_autograd", str(runner)]
    flags = [{"XLA_FLAGS": f"--xla_force_host_platform_device_count={n}"} for n in (1, 8)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**env, **more}) for more in flags]
    texts = []
    for process in running:
        out, err = process.communicate(timeout=TIME_LIMIT)
        assert process.returncode == 0, err[-3000:]
        texts.append([[float(x) for x in line.split()[1::2]] for line in out.splitlines()])
    assert texts[0] and texts[0] == [pytest.approx(line, abs=2e-5) for line in texts[1]]


def test_divisions_are_those_of_one_device(eight):
    assert eight["divided"] == [0, 0]
