"""The matches that are held out of training, to measure the validation loss on their rows."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import StageError
from selfplay.training.examples import distinct_rows, policy_sums

FEW_MATCHES = 1000


class HeldOut(NamedTuple):
    """N held-out rows, as M distinct observations and the number of each row's observation."""

    packed: Tensor
    """uint8[M, ceil(D / 8)]: the observations, one bit for each entry."""
    inverse: Tensor
    """int64[N]: numbers in range(M)"""
    targets: Tensor
    """float32[N]"""
    policies: Tensor | None = None
    """float32[M, A]: the sum of the policies of the rows with each observation, ILLEGAL where an action is illegal;
    None without policies."""


def require_some_of_both(num_rows: int, num_held_out: int) -> None:
    """Raise StageError if all rows or none of them are held out."""
    if num_held_out in (0, num_rows):
        raise StageError("there are too few matches to hold out some of them; set more matches")


def is_held_out(match: NDArray[np.int64], fraction: float, key: int) -> NDArray[np.bool_]:
    """bool[N]: whether the matches with these numbers (int64[N]) are held out.

    Args:
        fraction: share of the matches that is held out, chosen at random by the number of the match.
    """
    draws = Draws(key, torch.from_numpy(match), 0)
    held_out: NDArray[np.bool_] = (draws.uniforms(Purpose.VALIDATION_SPLIT) < fraction).numpy()
    return held_out


def holds_out_some(matches: int, fraction: float, key: int) -> bool:
    """Whether some, but not all, of the matches 0 to `matches` - 1 are held out."""
    # Nearly always the first few already differ.
    for number in (min(matches, FEW_MATCHES), matches):
        held_out = is_held_out(np.arange(number), fraction, key)
        if held_out.any() and not held_out.all():
            return True
    return False


def held_out_rows(
    packed: NDArray[np.uint8], targets: NDArray[np.float32], policies: NDArray[np.float32] | None
) -> HeldOut:
    """Rows, given by their `Columns`, in the form on which networks are measured."""
    first_rows, inverse = distinct_rows(packed)
    held_out = HeldOut(*(torch.from_numpy(array) for array in (packed[first_rows], inverse, targets)))
    if policies is None:
        return held_out
    sums = np.stack([*policy_sums(policies, inverse, np.ones(len(policies)))], axis=1)
    return held_out._replace(policies=torch.from_numpy(sums.astype(np.float32)))
