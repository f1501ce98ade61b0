"""The points of a game, which some rules count, compiled into kernels that process a whole batch."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words, compiled_for_many
from selfplay.compute.compiled_words import load, num_parts, part, store, word_rows
from selfplay.games.rules import Rules


def compile_margins(rules: Rules) -> Callable[[Tensor], Tensor]:
    """The function `Kernels.margin` of a game with these rules."""
    margin, unpack = rules.margin, rules.position.unpack
    assert margin is not None

    @compiled_for_many
    def write_margins(positions: Words, found: NDArray[np.int64]) -> None:
        for i in range(len(positions)):
            found[i] = part(margin(unpack(load(positions, i))), 0)

    return _filled_by(write_margins)


def compile_points(rules: Rules) -> Callable[[Tensor], Tensor]:
    """The function `Kernels.points` of a game with these rules."""
    points, unpack = rules.points, rules.position.unpack
    assert points is not None

    @compiled_for_many
    def write_points(positions: Words, found: NDArray[np.int64]) -> None:
        for i in range(len(positions)):
            one, other = points(unpack(load(positions, i)))
            found[i, 0], found[i, 1] = part(one, 0), part(other, 0)

    return _filled_by(write_points, 2)


def _filled_by(write: Callable[[Words, NDArray[np.int64]], None], *shape: int) -> Callable[[Tensor], Tensor]:
    """(positions) to int64[B, *shape], the array that a kernel fills."""

    def of_batch(positions: Tensor) -> Tensor:
        found = torch.empty(len(positions), *shape, dtype=torch.int64)
        write(word_rows(positions), found.numpy())
        return found

    return of_batch


def compile_owned(rules: Rules) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """The function `Kernels.owned` of a game with these rules."""
    owned, unpack = rules.owned, rules.position.unpack
    assert owned is not None
    parts = num_parts(owned(rules.initial)[0])

    @compiled_for_many
    def write_owned(positions: Words, mine: Words, others: Words) -> None:
        for i in range(len(positions)):
            one, other = owned(unpack(load(positions, i)))
            store(mine, i, one)
            store(others, i, other)

    def of_batch(positions: Tensor) -> tuple[Tensor, Tensor]:
        mine, others = torch.empty(2, len(positions), parts, dtype=torch.int64)
        write_owned(word_rows(positions), word_rows(mine), word_rows(others))
        return mine, others

    return of_batch
