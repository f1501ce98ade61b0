"""What is recorded of a match with people: its plies, and what a player expects of the actions in a position."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.capabilities import (
    CountsVisits,
    PreparesAction,
    ValuesActions,
    exact_solver_of,
    points_per_value,
)
from selfplay.players.player import Player

HUMAN = "human"
"""The name of a person, where names of players are expected."""

Players = tuple[Player | None, Player | None]
"""Two players; None is a person."""

Values = NDArray[np.float32]
"""float32[A]: the value of each action to the player to move; nan where illegal."""


class Ply(NamedTuple):
    """One ply of the current match."""

    seat: int
    """The seat that acted: 0 moves first, 1 second."""
    action: int
    text: str
    """The text of the action."""
    by_person: bool
    is_forced: bool
    """Whether passing was the only legal action."""
    is_random: bool | None
    """Whether an exploring player acted at random; None for a person, a forced pass or a player that never explores."""
    reason: str | None = None
    """Why the player chose the action, if the player explains its actions."""

    @property
    def is_choice(self) -> bool:
        """Whether a person chose it."""
        return self.by_person and not self.is_forced


class Estimate(NamedTuple):
    """What a player expects of the actions in a position."""

    values: Values
    in_points: bool
    """Whether the values are numbers of points, such as discs, estimated or exact."""
    visits: NDArray[np.int64] | None
    """int64[A]: how it divided its simulations among the actions, if it counts them; 0 where illegal."""


def estimate_of(player: Player, game: Game, state: State, draws: Draws) -> Estimate | None:
    """What `player` expects in a position (B = 1); None if it does not value actions, or the match is over.

    Args:
        draws: the random numbers of the ply, with which it would act.
    """
    valuing = None if bool(state.terminated) else player.as_a(ValuesActions)
    if valuing is None:
        return None
    if (preparing := player.as_a(PreparesAction)) is not None:
        preparing.prepare(state, draws)
    counting = player.as_a(CountsVisits)
    visits = None if counting is None else counting.visit_counts(state)[0].numpy()
    is_exact = exact_solver_of(player, state) is not None
    unit = points_per_value(player)
    in_points = game.rules.margin is not None if is_exact else unit is not None
    scale = 1.0 if is_exact else unit or 1.0
    return Estimate(valuing.action_values(state)[0].numpy() * np.float32(scale), in_points, visits)
