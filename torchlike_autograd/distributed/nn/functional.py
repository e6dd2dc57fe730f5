"""torch.distributed.nn.functional: torch's error without a process group."""

from .. import all_reduce as _without_group

all_gather = all_reduce = all_to_all = all_to_all_single = broadcast = gather = reduce = reduce_scatter = scatter = _without_group
