"""One of two processes under jax.distributed on loopback, with two host devices each: `run_process.py RANK PORT`; prints one JSON object."""

import json
import sys

import jax

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"127.0.0.1:{sys.argv[2]}", num_processes=2, process_id=int(sys.argv[1]))

from run_sharded import largest, plain, train  # noqa: E402

import torchlike_autograd as torch  # noqa: E402
from torchlike_autograd.distributed.device_mesh import DeviceMesh, init_device_mesh  # noqa: E402
from torchlike_autograd.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor  # noqa: E402


def main():
    """Train on the mesh of both and alone."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))

    def put(a, *spec):
        return distribute_tensor(torch.tensor(a), mesh, [Shard(spec.index(n)) if n in spec else Replicate() for n in ("data", "model")])

    losses, w1, w2, last = train(put)
    reference = train(plain)
    difference = max(largest(w1.detach().full_tensor(), reference[1]), largest(w2.detach().full_tensor(), reference[2]))
    return {"parts": parts(), "losses": [losses, reference[0]], "difference": difference, "last": last, "placements": repr(w1.grad.placements),
            "local": list(w1.detach().to_local().shape), "coordinate": list(mesh.get_coordinate()), "processes": jax.process_count()}


def parts():
    """Each process has the part of one device."""
    mesh = DeviceMesh("cpu", [0, 2])
    mine = torch.full((1, 2), float(jax.process_index()))
    whole = DTensor.from_local(mine, mesh, [Shard(0)])
    added = {name: DTensor.from_local(mine, mesh, [Partial(name)]).full_tensor().tolist() for name in ("sum", "avg")}
    grid = DeviceMesh("cpu", [[0], [2]])
    twice = DTensor.from_local(mine, grid, [Partial(), Shard(1)]).full_tensor().tolist()
    return {"sharded": whole.full_tensor().tolist(), "own": whole.to_local().tolist(), "sum": added["sum"], "mean": added["avg"], "twice": twice}


if __name__ == "__main__":
    print(json.dumps(main()))
