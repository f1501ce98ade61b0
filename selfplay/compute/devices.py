"""Where a process computes: on the CPU, with how many threads and how its memory is kept, or on an NVIDIA GPU.

torch is imported inside the functions, so that a program that only reads its settings does not import it.
"""

import ctypes
import gc
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Final

from selfplay.errors import SettingError

CPU, CUDA = "cpu", "cuda"
DEVICES = ("auto", CPU, CUDA)
PORTABLE: Final = "portable"
NATIVE: Final = "native"
NUMERICS = (PORTABLE, NATIVE)
"""How a network computes on the CPU: by `selfplay.compute.portable`, the same on every processor, or as torch does."""


def require_device(name: str) -> None:
    """Raise SettingError unless `name` is auto or an available device. Imports torch only for cuda."""
    if name not in DEVICES:
        raise SettingError(f"device={name}: must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if name != CUDA:
        return
    import torch

    if torch.version.cuda is None:
        raise SettingError(
            "device=cuda: this build of torch supports only the CPU; install one with CUDA, or set device=auto"
        )
    if not torch.cuda.is_available():
        raise SettingError("device=cuda: torch finds no GPU; set device=cpu or auto")


def chosen_device(name: str) -> str:
    """The device that the setting `device=name` selects, cpu or cuda; auto selects the GPU if there is one.

    Raises SettingError as `require_device`.
    """
    require_device(name)
    if name == CPU:
        return CPU
    import torch

    return CUDA if torch.cuda.is_available() else CPU


@contextmanager
def computing_on(device: str, threads: int, searching: int | None) -> Iterator[None]:
    """Compute in the block with `threads` threads of torch, and reproducibly on a GPU; restore everything afterwards.

    torch has one number of threads for the whole process: other threads of the host that use torch during the block may
    get it too.

    Args:
        device: cpu or cuda.
        searching: the number for `SEARCH_THREADS`; None: one per core.
    """
    import torch

    before = torch.get_num_threads(), SEARCH_THREADS.set(usable_cores() if searching is None else searching)
    torch.set_num_threads(threads)
    try:
        with _reproducible_gpu() if device == CUDA else nullcontext():
            yield
    finally:
        torch.set_num_threads(before[0])
        SEARCH_THREADS.reset(before[1])


@contextmanager
def _reproducible_gpu() -> Iterator[None]:
    """In the block, results are the same byte for byte on GPUs of one kind: sums in a fixed order, float32 in full."""
    from torch.backends import cudnn

    before = cudnn.deterministic, cudnn.allow_tf32
    cudnn.deterministic, cudnn.allow_tf32 = True, False
    try:
        # cuBLAS reads the variable on first use.
        with default_variables({"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}):
            yield
    finally:
        cudnn.deterministic, cudnn.allow_tf32 = before


@contextmanager
def default_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set those of these variables of the environment that are not set, for the block."""
    added = variables.keys() - os.environ.keys()
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that memory of the CPU or of the GPU ran out."""
    import torch

    # For CPU memory torch raises a plain RuntimeError, recognizable only by its text.
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def free_bytes() -> int:
    """The free memory of the GPU, including what torch has reserved but does not use."""
    import torch

    free, _ = torch.cuda.mem_get_info()
    return int(free) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def cuda_devices_in_use() -> list[int]:
    """The number of the GPU that this process uses; empty if it has not used one."""
    import torch

    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.cuda.current_device()] if in_use else []


SEARCH_THREADS: ContextVar[int] = ContextVar("search_threads", default=1)
"""The number of threads in which a solver or searcher that is made in this context searches a position.

It belongs to the thread that sets it; a new thread begins with 1 unless it runs in a copy of the context. Each solver
and searcher has the number as its attribute `num_threads`, which can be set too.
"""


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3) of the GNU C library."""
KEPT_BYTES = 64 << 20
"""The free memory at the end of the heap that is not returned to the system."""
MAPPED_BYTES = 32 << 20
"""Allocations from this size are mapped and unmapped one by one; 32 MiB is the largest size that mallopt accepts."""


def tune_process() -> None:
    """Speed up a process of our own, a command or a worker: rare garbage collection, and freed memory is kept.

    Imports create many objects and no garbage. Each step of training allocates and frees the same few megabytes. If
    they are at the end of the heap, the GNU C library by default returns them to the system, and each step needs new
    pages (see docs/design_notes.md).
    """
    gc.set_threshold(200_000)
    if platform.libc_ver()[0] != "glibc":
        return
    library = ctypes.CDLL(None)
    library.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
    library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)
