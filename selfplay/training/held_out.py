"""The rows that are held out of training to measure the validation loss."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.dataset.rows import Rows
from selfplay.errors import StageError
from selfplay.games.game import Game
from selfplay.training.examples import distinct_rows, mark_illegal


class HeldOut(NamedTuple):
    """N held-out rows, as M distinct observations and the number of each row's observation."""

    observations: Tensor
    """uint8[M, D]: 0 or 1"""
    inverse: Tensor
    """int64[N]: numbers in range(M)"""
    targets: Tensor
    """float32[N]"""
    policies: Tensor | None = None
    """float32[M, A]: the sum of the policies of the rows with each observation, ILLEGAL where an action is illegal;
    None without policies."""


class ValidationSplit:
    """Decides which rows are held out, and counts matches and rows.

    Args:
        fraction: share of the matches that is held out, chosen at random by the number of the match.
        key: the stream of random numbers of a level's training.
    """

    def __init__(self, fraction: float, key: int) -> None:
        self._fraction, self._key = fraction, key
        self.num_rows, self.num_held_out, self._matches, self._last = 0, 0, 0, -1

    def count(self, match: NDArray[np.int64]) -> NDArray[np.bool_]:
        """bool[N]: whether the next N rows, of these matches, are held out; the rows of a match must be adjacent."""
        held_out = is_held_out(match, self._fraction, self._key)
        self.num_rows += len(match)
        self.num_held_out += int(held_out.sum())
        self._matches += int(np.count_nonzero(np.diff(match, prepend=self._last)))
        self._last = match[-1] if len(match) else self._last
        return held_out

    def require_both_sides(self) -> None:
        """Raise StageError if there are no rows to train on, or no held-out rows."""
        if self.num_held_out in (0, self.num_rows):
            raise StageError(f"{self._matches} matches are too few to hold out some of them; set more matches")


def is_held_out(match: NDArray[np.int64], fraction: float, key: int) -> NDArray[np.bool_]:
    """bool[N]: whether the matches with these numbers (int64[N]) are held out; arguments as for `ValidationSplit`."""
    draws = Draws(key, torch.from_numpy(match), 0)
    held_out: NDArray[np.bool_] = (draws.uniforms(Purpose.VALIDATION_SPLIT) < fraction).numpy()
    return held_out


def held_out_rows(rows: Rows, game: Game) -> HeldOut:
    """`rows` in the form on which networks are measured."""
    codec = game.observation_codec
    packed = codec.pack(rows.own, rows.opp)
    first_rows, inverse = distinct_rows(packed)
    distinct = np.unpackbits(packed[first_rows], axis=1, count=codec.size)
    held_out = HeldOut(*(torch.from_numpy(array) for array in (distinct, inverse, rows.target)))
    if rows.policy is None:
        return held_out
    sums = np.stack([np.bincount(inverse, weights=column, minlength=len(first_rows)) for column in rows.policy.T], 1)
    policies = mark_illegal(sums.astype(np.float32), packed[first_rows], game)
    return held_out._replace(policies=torch.from_numpy(policies))
