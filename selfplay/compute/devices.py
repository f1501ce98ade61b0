"""Where a process computes: on the CPU, with how many threads, or on an NVIDIA GPU."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

import torch
from torch.backends import cudnn

from selfplay.compute.process import default_variables, usable_cores
from selfplay.errors import SettingError

CPU, CUDA = "cpu", "cuda"
DEVICES = ("auto", CPU, CUDA)
PORTABLE: Final = "portable"
NATIVE: Final = "native"
NUMERICS = (PORTABLE, NATIVE)
"""How a network computes on the CPU: by `selfplay.compute.portable`, the same on every processor, or as torch does."""


def require_device(name: str) -> None:
    """Raise SettingError unless `name` is auto or an available device."""
    if name not in DEVICES:
        raise SettingError(f"device={name}: must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if name != CUDA:
        return
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
    return CUDA if torch.cuda.is_available() else CPU


@contextmanager
def computing_on(device: str, threads: int, searching: int | None) -> Iterator[None]:
    """Compute in the block with `threads` threads of torch, and reproducibly on a GPU; restore everything afterwards.

    torch has one number of threads for the whole process: other threads of the host that use torch during the block may
    get it too.

    Args:
        device: cpu or cuda.
        searching: the number of threads as for `set_search_threads`.
    """
    before = torch.get_num_threads(), search_threads
    torch.set_num_threads(threads)
    set_search_threads(searching)
    try:
        with _reproducible_gpu() if device == CUDA else nullcontext():
            yield
    finally:
        torch.set_num_threads(before[0])
        set_search_threads(before[1])


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


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that memory of the CPU or of the GPU ran out."""
    # For CPU memory torch raises a plain RuntimeError, recognizable only by its text.
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def free_bytes() -> int:
    """The free memory of the GPU, including what torch has reserved but does not use."""
    free, _ = torch.cuda.mem_get_info()
    return int(free) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def cuda_devices_in_use() -> list[int]:
    """The number of the GPU that this process uses; empty if it has not used one."""
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.cuda.current_device()] if in_use else []


search_threads = 1
"""The number of threads in which a new solver or searcher searches a position; see `set_search_threads`."""


def set_search_threads(number: int | None) -> None:
    """Set the number of threads in which solvers and searchers made from now on search a position.

    None: one per core.
    """
    global search_threads
    search_threads = usable_cores() if number is None else number
