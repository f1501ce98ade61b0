"""Lessons in files: what was read is checked before anything learns from it, because anybody can write a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray

from selfplay.agents.checkpoints import LARGEST_WEIGHT
from selfplay.games import Game
from selfplay.games.board_checks import are_positions
from selfplay.games.distinct_positions import distinct_positions
from selfplay.training.lessons import Lessons, legal_words


def lessons_in(arrays: Mapping[str, NDArray[Any]], game: Game, worth: DTypeLike) -> Lessons:
    """The lessons in these arrays, by field, which were read from a file.

    `worth`: the type of the worth of positions. Raises ValueError, with the reason, if they cannot be lessons of this
    game.
    """
    if (problem := _problem(arrays, game, worth)) is not None:
        raise ValueError(f"has no lessons of {game.name} ({problem})")
    return Lessons(**arrays)


def _problem(arrays: Mapping[str, NDArray[Any]], game: Game, worth: DTypeLike) -> str | None:
    """What is wrong with these arrays, by field; None if they are lessons of this game."""
    types = dict.fromkeys(Lessons._fields, np.dtype(np.int64)) | {"worth": np.dtype(worth)}
    if {name: array.dtype for name, array in arrays.items()} != types:
        return "its arrays have other names or types"
    positions, values, good, poor = Lessons(**arrays)
    if len({positions.shape[:1], values.shape, good.shape, poor.shape}) > 1 or values.ndim != 1:
        return "its arrays are not columns of one length"
    if not are_reasonable(values):
        return "a worth is not a reasonable number"
    if not are_positions(game.rules.position, positions):
        return "a position is not a board"
    state = game.state_at(torch.from_numpy(positions))
    if len(distinct_positions(state.position)[0]) < len(positions):
        return "a position is there twice"
    if (good & poor).any() or ((good | poor) & ~legal_words(game, state)).any():
        return "an action is not legal, or both good and poor"
    return None


def are_reasonable(numbers: NDArray[Any]) -> bool:
    """Whether these are finite numbers whose sums do not overflow, as the weights of a level must be."""
    return bool(((numbers >= -LARGEST_WEIGHT) & (numbers <= LARGEST_WEIGHT)).all())
