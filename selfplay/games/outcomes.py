"""Outcomes: the values of the ends of matches.

An outcome has a name in `OUTCOMES`; another one is a function like `match_return` anywhere, named
`my_module:my_outcome` or offered as an entry point in the group `selfplay.outcomes`.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.registry import Registry


class EndValues(NamedTuple):
    """The value of the end of a match: `win` times the return, plus `point` times the lead in points."""

    win: float
    point: float

    @property
    def points_per_value(self) -> float | None:
        """The points that a value of 1 stands for, such as discs; None if values are not only points."""
        return 1 / self.point if self.win == 0 and self.point > 0 else None


Outcome = Callable[[Game], EndValues]
"""From a game to the values of its ends, in [-1, 1] in total. Raises SettingError if it needs points that the game does
not count."""


def match_return(game: Game) -> EndValues:
    """1 for a win, 0 for a draw and -1 for a loss, in every game."""
    return EndValues(win=1.0, point=0.0)


def disc_difference(game: Game) -> EndValues:
    """The lead in points divided by the largest possible one: by default the squares of the board and the komi.

    Raises SettingError if the game does not count points, or has no board and does not say how many there can be.
    """
    if game.rules.margin is None:
        raise SettingError(f"outcome=disc_difference: {game.name} does not count points; set outcome=return")
    if game.largest_lead is None:
        raise SettingError(
            f"outcome=disc_difference: {game.name} has no board to count points on; set most_points in its class"
        )
    return EndValues(win=0.0, point=1.0 / game.largest_lead)


OUTCOMES: Registry[Outcome] = Registry(
    "outcome",
    {
        "return": "selfplay.games.outcomes:match_return",
        "disc_difference": "selfplay.games.outcomes:disc_difference",
    },
    group="selfplay.outcomes",
    arguments=("game",),
    result=(EndValues,),
)
"""The outcomes that can be chosen by name."""


def outcome_of_first(game: Game, state: State, ends: EndValues) -> Tensor:
    """float32[B] in [-1, 1]: the outcome of finished matches for player 0; undefined for unfinished ones."""
    values = ends.win * state.returns
    if ends.point and game.rules.margin is not None:
        values = values + ends.point * game.score(state)
    # 0 is added so that draws are not -0.0.
    return values + 0.0


def outcome_of_other(game: Game, state: State, ends: EndValues) -> Tensor:
    """float32[B] in [-1, 1]: `outcome_of_first`, but for the player who is not to move."""
    first = outcome_of_first(game, state, ends)
    return torch.where(state.current_player == 1, first, -first) + 0.0
