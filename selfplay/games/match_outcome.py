"""What a match is played for: its return, or the lead in points at its end."""

import torch
from torch import Tensor

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State

RETURN, DISC_DIFFERENCE = "return", "disc_difference"


def end_values(game: Game, outcome: str) -> tuple[float, float]:
    """What a won match is worth, and each point of the lead at the end: (1, 0), or (0, 1 / number of squares).

    Raises SettingError if the game counts no points.
    """
    if outcome == RETURN:
        return 1.0, 0.0
    if game.rules.margin is None or game.num_squares is None:
        raise SettingError(f"outcome={outcome}: {game.name} counts no points; give outcome=return")
    return 0.0, 1.0 / game.num_squares


def outcome_of_first(game: Game, state: State, outcome: str) -> Tensor:
    """float32[B] in [-1, 1]: how matches that are over ended for player 0; of no meaning where they go on.

    Raises SettingError if the game counts no points.
    """
    win, point = end_values(game, outcome)
    if outcome == RETURN:
        return win * state.returns
    assert game.rules.margin is not None, "end_values has seen to it"
    lead: Tensor = game.rules.margin(state.own, state.opp)
    # 0 is added so that no draw becomes -0.0.
    return point * torch.where(state.current_player == 0, lead, -lead).to(torch.float32) + 0.0


def outcome_of_mover(game: Game, state: State, outcome: str) -> Tensor:
    """float32[B]: the same for the player who has just moved."""
    first = outcome_of_first(game, state, outcome)
    return torch.where(state.current_player == 1, first, -first) + 0.0
