"""Where a process computes: on the CPU, with how many threads, or on an NVIDIA GPU."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Final

import torch
from torch.backends import cudnn

from selfplay.compute.process import default_variables, usable_cores
from selfplay.errors import SettingError, shortened

CPU, CUDA = "cpu", "cuda"
DEVICES = ("auto", CPU, CUDA)
PORTABLE: Final = "portable"
NATIVE: Final = "native"
NUMERICS = (PORTABLE, NATIVE)
"""How a network computes on the CPU: by `selfplay.compute.portable`, the same on every processor, or as torch does."""


def require_device(name: str) -> None:
    """Raise SettingError unless `name` is auto or an available device."""
    if name not in DEVICES:
        raise SettingError(f"device={shortened(name)}: must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if name != CUDA:
        return
    if torch.version.cuda is None:
        raise SettingError(
            "device=cuda: this build of torch supports only the CPU; install one with CUDA, or set device=auto"
        )
    if not torch.cuda.is_available():
        raise SettingError("device=cuda: torch finds no GPU; set device=cpu or auto")


def chosen_device(name: str) -> str:
    """The device that `name` selects, cpu or cuda; auto selects the GPU if there is one.

    Raises SettingError as `require_device`.
    """
    require_device(name)
    if name == CPU:
        return CPU
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
    before = cudnn.deterministic, cudnn.allow_tf32
    cudnn.deterministic, cudnn.allow_tf32 = True, False
    try:
        # cuBLAS reads the variable on first use.
        with default_variables({"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}):
            yield
    finally:
        cudnn.deterministic, cudnn.allow_tf32 = before


def cuda_devices_in_use() -> list[int]:
    """The number of the GPU that this process uses; empty if it has not used one."""
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.cuda.current_device()] if in_use else []


SEARCH_THREADS: ContextVar[int] = ContextVar("search_threads", default=1)
"""The number of threads in which a solver or searcher that is made in this context searches a position.

It belongs to the thread that sets it; a new thread begins with 1 unless it runs in a copy of the context. Each solver
and searcher has the number as its attribute `num_threads`, which can be set too.
"""
