"""The parent's end of a worker process."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[1]
THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
UNFAIR = ("JAX_COMPILATION_CACHE_DIR",)


class WorkerFailed(Exception):
    """A worker raised, fell silent or died; the text says which."""


class Worker:
    """One live contestant, that is asked and answers."""

    def __init__(self, kind: str, step: str, options) -> None:
        self.kind = kind
        self.patience = options.patience
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (as long as the process lives)
        command = [interpreter(kind, options), "-m", "benchmarks.worker", kind, step]
        command += [f"--threads={options.threads}", f"--platform={options.platform}"]
        command += ["--quick"] * options.quick
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            bufsize=1,
        )

    def ask(self, do: str, **details) -> dict:
        """Send one command and wait for its answer."""
        timer = threading.Timer(self.patience, self.process.kill)
        timer.start()
        try:
            print(json.dumps({"do": do, **details}), file=self.process.stdin)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            raise WorkerFailed(self.last_words())
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerFailed(reply["error"])
        return reply

    def last_words(self) -> str:
        """Say why a process that does not answer has ended."""
        status = self.process.wait(timeout=self.patience)
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines()
        return f"ended with status {status}: {said[-1] if said else 'nothing said'}"

    def close(self) -> None:
        """End the process, kindly at first."""
        try:
            self.process.communicate('{"do": "stop"}\n', timeout=10)
        except (subprocess.TimeoutExpired, BrokenPipeError, ValueError):
            self.process.kill()
            self.process.wait()
        self.errors.close()


def interpreter(kind: str, options) -> str:
    """Return the Python that runs a contestant; PyTorch usually lives in one of its own."""
    return options.torch_python if kind == "torch" else sys.executable


def environment(options) -> dict:
    """Return the environment of a worker: same threads, same platform, no warm disk cache."""
    variables = {k: v for k, v in os.environ.items() if k not in UNFAIR}
    host = "" if options.platform == "cpu" else ",cpu"
    variables["JAX_PLATFORMS"] = options.platform + host
    variables.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the contestants share the GPU
    variables["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    )
    if options.threads:
        variables.update(dict.fromkeys(THREAD_LIMITS, str(options.threads)))
    return variables
