"""A buffer that shuffles a stream of rows."""

from collections.abc import Iterator

import torch
from torch import Tensor

REMOVED_TOGETHER = 65536
"""Number of rows removed at a time when no more rows are added."""


class ShuffleBuffer:
    """Holds rows until others replace them. Rows are given as columns (tensors) with the same first dimension.

    Args:
        size: number of rows that it holds.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: list[Tensor] = []
        self.filled = 0
        """Number of rows in it."""

    def replace(self, columns: list[Tensor], places: Tensor) -> list[Tensor]:
        """Add N rows: the first ones fill the buffer, and each of the others replaces the row at its place.

        Args:
            places: int64[N] in range(size); not used for rows that fill the buffer.

        Returns:
            The rows that were replaced, in order.
        """
        if not self._columns:
            self._columns = [column.new_empty(self._size, *column.shape[1:]) for column in columns]
        free = min(self._size - self.filled, len(places))
        for held, column in zip(self._columns, columns, strict=True):
            held[self.filled : self.filled + free] = column[:free]
        self.filled += free
        return replaced_rows(self._columns, [column[free:] for column in columns], places[free:])

    def remove(self, order: Tensor) -> Iterator[list[Tensor]]:
        """The rows at the places `order` (int64[K]), in this order, in parts."""
        for places in torch.split(order, REMOVED_TOGETHER):
            yield [held[places] for held in self._columns]


def replaced_rows(held: list[Tensor], coming: list[Tensor], places: Tensor) -> list[Tensor]:
    """Let row i of `coming` replace the row `places[i]` (int64[N]) of `held`, one after the other.

    Args:
        held: columns of the rows that are replaced; changed in place.
        coming: columns of N rows.

    Returns:
        The columns of the N rows that were replaced, in order; a row of `coming` may be among them.
    """
    order = torch.argsort(places, stable=True)
    place = places[order]
    changes = place[1:] != place[:-1]
    edge = torch.ones(min(1, len(place)), dtype=torch.bool)
    is_first, is_last = torch.cat([edge, changes]), torch.cat([changes, edge])
    replaced = []
    for waiting, column in zip(held, coming, strict=True):
        gone = torch.empty_like(column)
        gone[order[is_first]] = waiting[place[is_first]]
        # Of several rows with the same place, each replaces the one before it.
        gone[order[~is_first]] = column[order[~is_last]]
        waiting[place[is_last]] = column[order[is_last]]
        replaced.append(gone)
    return replaced
