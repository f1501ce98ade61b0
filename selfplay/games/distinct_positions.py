"""The distinct positions of a batch, so that each is valued or searched once."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_words import load, position_hash, word_rows

EMPTY_SLOT = -1


@compiled
def _distinct(positions: Words, slots: NDArray[np.int64], first: NDArray[np.int64], inverse: NDArray[np.int64]) -> int:
    """Number the distinct positions with a hash table: `slots` holds their numbers, `first` their first rows."""
    mask = len(slots) - 1
    count = 0
    for i in range(len(positions)):
        position = load(positions, i)
        slot = position_hash(position) & mask
        while True:
            number = slots[slot]
            if number == EMPTY_SLOT:
                slots[slot] = number = count
                first[count] = i
                count += 1
                break
            if load(positions, first[number]) == position:
                break
            slot = (slot + 1) & mask
        inverse[i] = number
    return count


def distinct_positions(positions: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct positions among int64[B, W], packed as in `State`, in the order of their first appearance.

    Returns:
        first_rows: int64[N], the first row that holds each distinct position.
        inverse: int64[B], the number in range(N) of each row's position.
    """
    size = len(positions)
    slots = np.full(1 << max(4, (2 * size).bit_length()), EMPTY_SLOT, dtype=np.int64)
    first_rows, inverse = torch.empty(size, dtype=torch.int64), torch.empty(size, dtype=torch.int64)
    count = _distinct(word_rows(positions), slots, first_rows.numpy(), inverse.numpy())
    return first_rows[:count], inverse
