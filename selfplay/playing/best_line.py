"""The moves that follow from a position if both players take the best action by the same values."""

import time

import numpy as np
import torch

from selfplay.errors import SelfPlayError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.capabilities import ValuesActions
from selfplay.players.player import Player

LONGEST = 10


def best_line(game: Game, player: Player, state: State, seconds: float, longest: int = LONGEST) -> list[int]:
    """The best actions from a position (B = 1) on, of equal ones the lowest.

    Args:
        player: gives the values; without values the line is empty.
        seconds: no further action is added after this time.
        longest: the largest number of actions.
    """
    valuing, latest = player.as_a(ValuesActions), time.monotonic() + seconds
    actions: list[int] = []
    while valuing is not None and len(actions) < longest and not bool(state.terminated) and time.monotonic() < latest:
        try:
            values = valuing.action_values(state)[0].numpy()
        except SelfPlayError:
            # Perfect play does not know the values of this position yet.
            break
        if np.isnan(values).all():
            break
        actions.append(int(np.nanargmax(values)))
        state = game.step_unchecked(state, torch.tensor(actions[-1:]))
    return actions
