"""The rows of a dataset in memory: positions as the two words of `State`, with their matches, plies and targets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """N afterstates with their targets, ordered by match and ply."""

    match: NDArray[np.int64]
    """int64[N]: the number of the match in which the afterstate was reached."""
    ply: NDArray[np.int32]
    """int32[N]: the ply that led to it, from 0."""
    own: NDArray[np.int64]
    """int64[N]: the word of the player to move in the afterstate."""
    opp: NDArray[np.int64]
    """int64[N]: the word of the player who has just moved."""
    target: NDArray[np.float32]
    """float32[N] in [-1, 1]: the discounted outcome of the player who has just moved."""

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> "Rows":
        """The rows where `chosen` (bool[N]) is true, or with these numbers (int64[K] or a slice)."""
        columns: list[Any] = [column[chosen] for column in self]
        return Rows(*columns)

    def in_order(self) -> "Rows":
        """The same rows sorted by match; rows of one match keep their order."""
        return self.select(np.argsort(self.match, kind="stable"))


def concatenate(parts: Sequence[Rows]) -> Rows:
    """All rows of `parts`, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    return Rows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
