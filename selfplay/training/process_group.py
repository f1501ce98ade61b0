"""The processes that torchrun starts to train one network together; each computes its share of every batch.

    torchrun --nproc-per-node 2 train/train_agent.py --level 3

The terms are those of torch.distributed.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from selfplay.compute.devices import CUDA, chosen_device
from selfplay.compute.process import process_count, process_rank, wait_to_be_ended
from selfplay.errors import SettingError, StageError


@dataclass(frozen=True)
class ProcessGroup:
    """The group of processes that train together, from the view of one of them.

    `all_reduce`, `broadcast` and `data_parallel` are collective: every process must call them in the same order.
    """

    rank: int = 0
    """The number of this process, from 0; process 0 holds the run's lock, writes files, logs and shows progress."""
    world_size: int = 1
    """The number of processes."""

    def all_reduce(self, numbers: Tensor) -> Tensor:
        """Replace `numbers` in place by their sum over all processes, and return them."""
        if self.world_size > 1:
            distributed.all_reduce(numbers)
        return numbers

    def broadcast(self, number: int) -> int:
        """The `number` of rank 0, in every process."""
        if self.world_size == 1:
            return number
        received = torch.tensor([number])
        distributed.broadcast(received, src=0)
        return int(received)

    def data_parallel(self, network: nn.Module, *, find_unused_parameters: bool) -> nn.Module:
        """`network` with the weights of rank 0; each backward pass averages the gradients of all processes."""
        # The gradients are views of the optimizer's vector and must stay there.
        return DistributedDataParallel(
            network,
            gradient_as_bucket_view=False,
            forward_sync_buffers=False,
            find_unused_parameters=find_unused_parameters,
        )


SINGLE_PROCESS = ProcessGroup()


@contextmanager
def joined_process_group(device: str) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started, several, once all of them are ready.

    Args:
        device: auto, cpu or cuda. With GPUs, each process on a machine uses a different one.

    Raises:
        SettingError: the device is not available, or there are fewer GPUs than processes.
        StageError: another process ended early.
    """
    on_gpus = chosen_device(device) == CUDA
    if on_gpus and (here := int(os.environ.get("LOCAL_WORLD_SIZE", "1"))) > (gpus := torch.cuda.device_count()):
        raise SettingError(f"{here} processes for {gpus} GPUs: use --nproc-per-node {gpus}, or device=cpu")
    try:
        if on_gpus:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        with _loopback_if_local():
            distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpus else "gloo")
        yield ProcessGroup(process_rank(), process_count())
    except RuntimeError as error:
        if not (isinstance(error, distributed.DistError) or "gloo" in str(error).lower()):
            raise
        # The connection to another process is lost.
        wait_to_be_ended()
        raise StageError("another process of this training has ended; start torchrun again") from error
    distributed.destroy_process_group()


@contextmanager
def _loopback_if_local() -> Iterator[None]:
    """If all processes run on this machine, connect them by the loopback device instead of by the host name."""
    before = dict(os.environ)
    if os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]:
        os.environ["MASTER_ADDR"] = "127.0.0.1"
        with suppress(OSError):
            loopback = next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), None)
            if loopback:
                os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)
    try:
        yield
    finally:
        for name in ("MASTER_ADDR", "GLOO_SOCKET_IFNAME"):
            if name in before:
                os.environ[name] = before[name]
            else:
                os.environ.pop(name, None)
