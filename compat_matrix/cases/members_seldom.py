"""Members of classes around tensors that few programs ask for."""

import os
import socket

from compat_matrix.case import case, raises


@case("members_seldom.data_parallel")
def _(torch):
    import importlib

    dist = importlib.import_module(f"{torch.__name__}.distributed")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(s.getsockname()[1]))
    dist.init_process_group("gloo", rank=0, world_size=1)
    try:
        with_buffers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        made = [torch.nn.parallel.DistributedDataParallel(m) for m in (with_buffers, torch.nn.Linear(2, 2))]
        yield "buffers", [(m.broadcast_buffers, m.will_sync_module_buffers()) for m in made]
        m = made[0]
        m.broadcast_buffers = False
        yield "after", m.broadcast_buffers, m.forward_sync_buffers, m.will_sync_module_buffers()
        yield "joins", str(m.join_device), m.join_process_group is m.process_group, m.join_hook(divide_by_initial_world_size=True).post_hook(True)
        yield "gather", raises(lambda: m.gather([torch.ones(2)], "cpu"))
    finally:
        dist.destroy_process_group()


@case("members_seldom.profile")
def _(torch):
    with torch.autograd.profiler.profile() as p:
        torch.ones(2).add(1)
    yield "events", type(p.function_events).__name__
    yield "ids", [len(i) for i in (p.create_trace_id(), p.default_trace_id())], p.create_trace_id() == p.create_trace_id()
    yield "stacks", raises(lambda: p.export_stacks("nowhere"))
