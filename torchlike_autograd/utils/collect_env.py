"""torch.utils.collect_env (layer 8): what a report of a fault should say of the machine; `python -m torch.utils.collect_env` prints it."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shutil
import subprocess
import sys
from collections import namedtuple

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "run"]

SystemEnv = namedtuple("SystemEnv", (
    "torch_version", "is_debug_build", "cuda_compiled_version", "gcc_version", "clang_version", "cmake_version", "os", "libc_version", "python_version",
    "python_platform", "is_cuda_available", "cuda_runtime_version", "cuda_module_loading", "nvidia_driver_version", "nvidia_gpu_models", "cudnn_version",
    "is_xpu_available", "pip_version", "pip_packages", "conda_packages", "hip_compiled_version", "hip_runtime_version", "miopen_runtime_version",
    "caching_allocator_config", "is_xnnpack_available", "cpu_info"))

_PACKAGES = ("jax", "jaxlib", "numpy", "torchlike", "torch", "flake8", "mypy", "optree", "onnx")


def run(command):
    """(exit status, output, errors) of a command: a list, or text for a shell; 127 where there is no such program."""
    if not isinstance(command, str) and shutil.which(command[0]) is None:
        return 127, "", f"{command[0]}: not found"
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def _first(command, pattern=None):
    status, said, _ = run(command)
    line = said.partition("\n")[0] if status == 0 else ""
    if pattern:
        found = re.search(pattern, line)
        return found.group(1) if found else None
    return line or None


def _os():
    if sys.platform == "linux":
        try:
            name = platform.freedesktop_os_release()["PRETTY_NAME"]
        except (OSError, KeyError):
            name = platform.platform()
        return f"{name} ({platform.machine()})"
    return f"{platform.system()} {platform.release()} ({platform.machine()})"


def _packages():
    found = {(d.name, d.version) for d in importlib.metadata.distributions() if (d.name or "").lower().startswith(_PACKAGES)}
    return "\n".join(f"{name}=={version}" for name, version in sorted(found)) or None


def _cpu():
    return run(["lscpu"])[1] if sys.platform == "linux" and shutil.which("lscpu") else platform.processor()


def get_env_info() -> SystemEnv:
    """What is known of this process and machine; None for what could not be found out."""
    from .. import cuda, version, xpu  # cycle: the root imports torch.utils

    bits = f"{sys.maxsize.bit_length() + 1}-bit runtime"
    return SystemEnv(
        torch_version=version.__version__, is_debug_build="False", cuda_compiled_version=version.cuda, gcc_version=_first(["gcc", "--version"], r"gcc (.*)"),
        clang_version=_first(["clang", "--version"], r"clang version (.*)"), cmake_version=_first(["cmake", "--version"], r"cmake (.*)"), os=_os(),
        libc_version="-".join(platform.libc_ver()), python_version=f"{sys.version} ({bits})".replace("\n", " "), python_platform=platform.platform(),
        is_cuda_available=str(cuda.is_available()), cuda_runtime_version=None, cuda_module_loading="N/A",
        nvidia_driver_version=_first(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
        nvidia_gpu_models=run(["nvidia-smi", "-L"])[1] or None, cudnn_version=None, is_xpu_available=str(xpu.is_available()), pip_version="pip3",
        pip_packages=_packages(), conda_packages=None, hip_compiled_version="N/A", hip_runtime_version="N/A", miopen_runtime_version="N/A",
        caching_allocator_config="N/A", is_xnnpack_available="False", cpu_info=_cpu())


_REPORT = """\
PyTorch version: {torch_version} (torchlike_autograd, on JAX)
Is debug build: {is_debug_build}
CUDA used to build PyTorch: {cuda_compiled_version}
ROCM used to build PyTorch: {hip_compiled_version}

OS: {os}
GCC version: {gcc_version}
Clang version: {clang_version}
CMake version: {cmake_version}
Libc version: {libc_version}

Python version: {python_version}
Python platform: {python_platform}
Is CUDA available: {is_cuda_available}
CUDA runtime version: {cuda_runtime_version}
CUDA_MODULE_LOADING set to: {cuda_module_loading}
GPU models and configuration: {nvidia_gpu_models}
Nvidia driver version: {nvidia_driver_version}
cuDNN version: {cudnn_version}
Is XPU available: {is_xpu_available}
HIP runtime version: {hip_runtime_version}
MIOpen runtime version: {miopen_runtime_version}
Is XNNPACK available: {is_xnnpack_available}
Caching allocator config: {caching_allocator_config}

CPU:
{cpu_info}

Versions of relevant libraries:
{pip_packages}
[conda] {conda_packages}"""


def pretty_str(envinfo) -> str:
    """The report of a `SystemEnv`."""
    said = {k: "Could not collect" if v is None else v for k, v in envinfo._asdict().items()}
    if envinfo.pip_packages:
        said["pip_packages"] = "\n".join(f"[{envinfo.pip_version}] {line}" for line in envinfo.pip_packages.split("\n"))
    return _REPORT.format(**said)


def get_pretty_env_info() -> str:
    """The report as text."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print the report."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
