"""The rows of a dataset in memory: positions as the two words of `State`, with their matches, plies and targets."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """N positions with their targets, ordered by match and ply: afterstates, or positions with a policy."""

    match: NDArray[np.int64]
    """int64[N]: the number of the match in which the position was reached."""
    ply: NDArray[np.int32]
    """int32[N]: the ply that led to it, from 0; -1 for the starting position, which only rows with a policy have."""
    own: NDArray[np.int64]
    """int64[N]: the word of the player to move in the position."""
    opp: NDArray[np.int64]
    """int64[N]: the word of the player who has just moved."""
    target: NDArray[np.float32]
    """float32[N] in [-1, 1]: the discounted outcome of the player who has just moved."""
    policy: NDArray[np.float32] | None = None
    """float32[N, A]: the probability of each action of the player to move; None if the dataset has no policies."""

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> "Rows":
        """The rows where `chosen` (bool[N]) is true, or with these numbers (int64[K] or a slice)."""
        columns: list[Any] = [None if column is None else column[chosen] for column in self]
        return Rows(*columns)

    def in_order(self) -> "Rows":
        """The same rows sorted by match; rows of one match keep their order."""
        return self.select(np.argsort(self.match, kind="stable"))


def concatenate(parts: Sequence[Rows]) -> Rows:
    """All rows of `parts`, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)]
    return Rows(*columns)


def actions_of(parts: Iterable[Rows]) -> tuple[int, Iterable[Rows]]:
    """The number of actions in the policies of `parts`, 0 if they have none; and all the parts."""
    remaining = iter(parts)
    first = list(islice(remaining, 1))
    policy = first[0].policy if first else None
    return 0 if policy is None else policy.shape[1], chain(first, remaining)
