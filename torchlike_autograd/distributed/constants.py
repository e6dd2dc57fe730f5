"""torch.distributed.constants."""

from .distributed_c10d import default_pg_timeout

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_nccl_timeout = None  # there is no NCCL
