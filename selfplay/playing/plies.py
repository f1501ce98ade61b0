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
    SolvesPositions,
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

    player: Player
    state: State
    """The position (B = 1)."""
    values: Values
    in_points: bool
    """Whether the values are numbers of points, such as discs, estimated or exact."""
    visits: NDArray[np.int64] | None
    """int64[A]: how it divided its simulations among the actions, if it counts them; 0 where illegal."""
    solver: SolvesPositions | None
    """The player, if it solves the position, so that the values are exact."""

    @property
    def best(self) -> int | None:
        """The lowest of the best actions; None if the value of no action is known."""
        return None if np.isnan(self.values).all() else int(np.nanargmax(self.values))

    def value(self, action: int | None) -> float | None:
        """The value of an action; None if it is not known."""
        return None if action is None or not np.isfinite(self.values[action]) else float(self.values[action])

    def words(self, action: int | None) -> str | None:
        """The value of an action in words, such as "wins in 8", if it is known and exact."""
        value = self.value(action)
        return None if self.solver is None or value is None else self.solver.value_text(value, self.state)


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
    solver, unit = exact_solver_of(player, state), points_per_value(player)
    in_points = unit is not None if solver is None else game.rules.margin is not None
    scale = (unit or 1.0) if solver is None else 1.0
    values = valuing.action_values(state)[0].numpy() * np.float32(scale)
    return Estimate(player, state, values, in_points, visits, solver)
