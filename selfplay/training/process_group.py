"""The processes of `torchrun`, as they train one network together: each takes its share of every batch.

torchrun --nproc-per-node 2 train/train_agent.py --level 3
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfplay.compute.devices import CUDA, chosen_device
from selfplay.errors import SettingError, StageError
from selfplay.process_rank import process_count, process_rank, wait_to_be_ended

# A process that works alone should not wait for torch here.
if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Team:
    """All processes, as one of them sees them; what it does by the others is done by all at the same point."""

    rank: int = 0
    """From 0; the first holds the run's lock, writes files and speaks."""
    size: int = 1

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def share(self, count: int) -> slice:
        """This process's part of so many things, which are shared out in order; it may be empty."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def sum(self, numbers: "Tensor") -> "Tensor":
        """The sum of `numbers` over all processes, the same in each."""
        if self.size > 1:
            from torch import distributed

            distributed.all_reduce(numbers)
        return numbers

    def of_first(self, number: int) -> int:
        """The number that the first process gave."""
        if self.size == 1:
            return number
        import torch
        from torch import distributed

        told = torch.tensor([number])
        distributed.broadcast(told, src=0)
        return int(told)

    def parallel(self, network: "nn.Module") -> "nn.Module":
        """`network` with the first process's weights; its backward passes leave the mean of the gradients of all."""
        if self.size == 1:
            return network
        from torch.nn.parallel import DistributedDataParallel

        # The gradients are views into the optimizer's vector and stay there.
        return DistributedDataParallel(network, gradient_as_bucket_view=False, forward_sync_buffers=False)


ALONE = Team()


@contextmanager
def joined_team(device: str) -> Iterator[Team]:
    """The team of the processes that torchrun started, from when all are there; without torchrun a process is alone.

    Args:
        device: auto, cpu or cuda; on GPUs each process of a machine has one of its own.

    Raises:
        SettingError: a device that is not there, or fewer GPUs than processes.
        StageError: another process has ended before its time.
    """
    if process_count() == 1:
        yield ALONE
        return
    import torch
    from torch import distributed

    on_gpus = chosen_device(device) == CUDA
    if on_gpus and (here := int(os.environ.get("LOCAL_WORLD_SIZE", "1"))) > (there := torch.cuda.device_count()):
        raise SettingError(f"{here} processes for {there} GPUs: give --nproc-per-node {there}, or device=cpu")
    _stay_on_this_machine()
    try:
        if on_gpus:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpus else "gloo")
        yield Team(process_rank(), process_count())
    except RuntimeError as error:
        if not _is_loss_of_another(error):
            raise
        wait_to_be_ended()
        raise StageError("another process of this training has ended; start torchrun again") from error
    distributed.destroy_process_group()


def _stay_on_this_machine() -> None:
    """If all processes run here, have them talk over the loopback device, whatever this machine's name stands for."""
    if os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]:
        os.environ["MASTER_ADDR"] = "127.0.0.1"
        with suppress(OSError):
            loopback = next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), None)
            if loopback:
                os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)


def _is_loss_of_another(error: RuntimeError) -> bool:
    from torch import distributed

    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()
