"""The rows that are held out of training to measure the validation loss."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.dataset.targets import Rows
from selfplay.errors import StageError
from selfplay.training.examples import distinct_rows


class HeldOut(NamedTuple):
    """The rows that only measure: M distinct observations and which of them each of N rows shows."""

    observations: Tensor
    """uint8[M, D]: 0 or 1"""
    inverse: Tensor
    """int64[N]"""
    targets: Tensor
    """float32[N]"""


def is_held_out(match: NDArray[np.int64], fraction: float, key: int) -> NDArray[np.bool_]:
    """bool[N]: whether the matches of these numbers are held out, a share `fraction` of all, drawn by their numbers."""
    draws = Draws(key, torch.from_numpy(match), 0)
    held_out: NDArray[np.bool_] = (draws.uniforms(Purpose.VALIDATION_SPLIT) < fraction).numpy()
    return held_out


def require_both_sides(held_out: int, rows: int, matches: int) -> None:
    """Raise StageError if, of the rows of so many matches, none are left to train or to measure on."""
    if held_out in (0, rows):
        raise StageError(f"{matches} matches are too few to hold out some of them; set more matches")


def held_out_of(rows: Rows) -> HeldOut:
    """These rows, to measure on."""
    distinct, inverse = distinct_rows(rows.observations)
    return HeldOut(*(torch.from_numpy(array) for array in (distinct, inverse, rows.targets)))
