"""torch.multiprocessing.spawn (layer 8): a function in several processes, and the errors of those that fail.

The package's attribute of this name is the function; `from torch.multiprocessing.spawn import ...` reaches the rest.
"""

from __future__ import annotations

from multiprocessing import get_context as _context

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "spawn", "start_processes"]


class ProcessException(Exception):
    """A child process failed."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """A child process ended with an exception."""


class ProcessExitedException(ProcessException):
    """A child process ended with a code."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _child(fn, i, args, errors):
    import traceback

    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """Children under way; `join` waits for them and raises what one of them raised."""

    def __init__(self, processes, errors):
        self.processes, self.error_queues = processes, errors

    def pids(self):
        """Their ids."""
        return [p.pid for p in self.processes]

    def join(self, timeout=None, grace_period=None):
        """True once all have ended well, False after `timeout` seconds."""
        for i, p in enumerate(self.processes):
            p.join(timeout)
            if p.exitcode is None:
                return False
            if p.exitcode:
                self._raise(i, p)
        return True

    def _raise(self, i, p):
        for other in self.processes:
            if other.is_alive():
                other.terminate()
        if not self.error_queues[i].empty():
            raise ProcessRaisedException(f"\n\n-- Process {i} terminated with the following error:\n{self.error_queues[i].get()}", i, p.pid)
        raise ProcessExitedException(f"process {i} terminated with exit code {p.exitcode}", i, p.pid, p.exitcode)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn", numa_options=None):
    """Call ``fn(i, *args)`` in `nprocs` processes; None once they have ended, or a context where `join` is False."""
    mp = _context(start_method)
    errors = [mp.SimpleQueue() for _ in range(nprocs)]
    processes = [mp.Process(target=_child, args=(fn, i, args, errors[i]), daemon=daemon) for i in range(nprocs)]
    for p in processes:
        p.start()
    context = ProcessContext(processes, errors)
    if not join:
        return context
    context.join()
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """`start_processes` by spawning."""
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
