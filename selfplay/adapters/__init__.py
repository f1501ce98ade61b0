"""Adapters to other libraries, one file each. Each needs its library, which is an optional dependency.

This file has the code that they share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import SettingError
from selfplay.games import Game, State
from selfplay.installation import installation


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Say how to install the packages that are imported in the block if one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error.msg}; run {installation(extra)}", name=error.name) from error


Observation = dict[str, NDArray[Any]]
"""`observation`: uint8[*observation_shape], or float32 in a game whose observations have numbers; `action_mask`:
int8[A], 1 where legal, all 0 for an agent not to move."""


def dtype_of_observations(game: Game) -> type[np.uint8 | np.float32]:
    """uint8 if observations are all 0 and 1."""
    return np.uint8 if game.observation_codec.entries.are_bits else np.float32


def observed(game: Game, state: State, player: int) -> Observation:
    """What `player` (0 or 1) observes of one match (B = 1).

    On boards with stones, channel 0 has the player's own stones and channel 1 the other's. Further channels, and games
    without stones, show both players the same.
    """
    seen = game.observe(state)[0].numpy().astype(dtype_of_observations(game))
    is_to_move = int(state.current_player) == player
    # `observe` shows the board to the player who is not to move.
    if is_to_move and game.has_stones:
        seen[:2] = seen[1::-1].copy()
    mask = game.legal_action_mask(state)[0].numpy().astype(np.int8)
    return {"observation": seen, "action_mask": mask if is_to_move else np.zeros_like(mask)}


def check_render_mode(render_mode: str | None) -> None:
    """Raises SettingError unless the environments can render this way."""
    if render_mode not in (None, "ansi"):
        raise SettingError(f"render_mode={render_mode}: must be 'ansi', for boards as text, or None")
