"""Numbers of positions, such as the points that some rules count, compiled into kernels that process a whole batch."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import Words, compiled_for_many, part_of_compiled
from selfplay.compute.compiled_words import load, num_parts, part, store, word_rows
from selfplay.games.rules import Position, Rules


@cache
def compile_numbers(numbers: Callable[[Any], tuple[Word, ...]], position: Any) -> Callable[[Words, NDArray[Any]], None]:
    """A kernel (packed positions of this class, any dtype, [B, K]) that writes the K numbers of each position."""
    unpack = position.unpack

    @compiled_for_many
    def write_numbers(positions: Words, written: NDArray[Any]) -> None:
        for i in range(len(positions)):
            row = numbers(unpack(load(positions, i)))
            for k in range(len(row)):
                written[i, k] = part(row[k], 0)

    return write_numbers


def compile_margins(rules: Rules) -> Callable[[Tensor], Tensor]:
    """The function `Kernels.margin` of a game with these rules."""
    margin = rules.margin
    assert margin is not None

    @part_of_compiled
    def margin_alone(position: Position) -> tuple[Word]:
        return (margin(position),)

    write = compile_numbers(margin_alone, rules.position)
    return lambda positions: _written_by(write, positions, 1)[:, 0]


def compile_points(rules: Rules) -> Callable[[Tensor], Tensor]:
    """The function `Kernels.points` of a game with these rules."""
    assert rules.points is not None
    return partial(_written_by, compile_numbers(rules.points, rules.position), num_numbers=2)


def _written_by(write: Callable[[Words, NDArray[Any]], None], positions: Tensor, num_numbers: int) -> Tensor:
    found = torch.empty(len(positions), num_numbers, dtype=torch.int64)
    write(word_rows(positions), found.numpy())
    return found


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
