"""Where thousands of matches are played and networks trained: on the CPU, or on a GPU of NVIDIA's through CUDA.

The rules of a game and the random numbers are functions on whole words. On the CPU they run compiled over the memory of
the tensors; on any other device the same functions run as torch operations.
"""

import os
from typing import TYPE_CHECKING

from selfplay.errors import SettingError

# A program that only reads its settings should not wait for torch.
if TYPE_CHECKING:
    from torch import Tensor

CPU, CUDA = "cpu", "cuda"
DEVICES = ("auto", CPU, CUDA)


def runs_compiled(tensor: "Tensor") -> bool:
    """Whether compiled code walks over the memory of this tensor; elsewhere the same is done by torch operations."""
    return tensor.device.type == CPU


def require_device(name: str) -> None:
    """Raises SettingError unless `name` is auto or a device that is there. Only the name cuda waits for torch."""
    if name not in DEVICES:
        raise SettingError(f"device={name}: give {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if name != CUDA:
        return
    import torch

    if torch.version.cuda is None:
        raise SettingError("device=cuda: this torch is built for the CPU alone; install one with CUDA, or give auto")
    if not torch.cuda.is_available():
        raise SettingError("device=cuda: torch finds no GPU here; give device=cpu or auto")


def chosen_device(name: str) -> str:
    """The device, cpu or cuda, that `device=name` means here; auto is the GPU if there is one.

    Raises SettingError as `require_device`.
    """
    require_device(name)
    if name == CPU:
        return CPU
    import torch

    if not torch.cuda.is_available():
        return CPU
    _make_repeatable()
    return CUDA


def _make_repeatable() -> None:
    """Let the same seed give the same bytes on GPUs of one kind, and let float32 mean float32."""
    import torch

    # Sums in a fixed order; cuBLAS reads this when it is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.allow_tf32 = False


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory, of the machine or of the GPU, did not suffice."""
    import torch

    # torch says so in words alone where the machine's memory is meant.
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def free_bytes() -> int:
    """What the GPU's memory still holds, with what torch has set aside and does not use."""
    import torch

    free, _ = torch.cuda.mem_get_info()
    return int(free) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def cuda_devices_in_use() -> list[int]:
    """The GPU that this process computes on, by its number; none if it has used none."""
    import torch

    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.cuda.current_device()] if in_use else []
