"""The loss that training in batches minimises, and the validation loss that chooses the best epoch.

`selfplay.training.row_by_row.descend_row_by_row` computes the same training loss, with its gradient, in compiled code.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from selfplay.compute.devices import CPU
from selfplay.training.held_out import HeldOut
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup

VALIDATION_BLOCK = 65536
"""Rows in one forward pass."""


def weighted_squared_errors(values: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """float32[N]: weight * (value - target)**2 of each example, whose mean over a batch training minimises.

    `values`, `targets`, `weights`: float32[N].
    """
    return weights * (values - targets).square()


def validation_loss(
    network: nn.Module,
    held_out: Iterable[HeldOut],
    observation_shape: tuple[int, ...],
    processes: ProcessGroup = SINGLE_PROCESS,
    device: str = CPU,
) -> float:
    """The mean squared error over the held-out rows of all processes.

    Args:
        held_out: the rows of this process, in parts; the network evaluates the distinct observations of each part.
    """
    network.eval()
    sums = torch.zeros(2, dtype=torch.float64)
    with torch.inference_mode():
        for part in held_out:
            distinct, inverse, targets = (column.to(device) for column in part)
            blocks = torch.split(distinct, VALIDATION_BLOCK)
            values = torch.cat([network(block.float().reshape(-1, *observation_shape)).value for block in blocks])
            errors = (values[inverse] - targets).double().square()
            sums += torch.tensor([float(errors.sum()), len(errors)], dtype=torch.float64)
    total, count = processes.all_reduce(sums).tolist()
    return float(total / count)
