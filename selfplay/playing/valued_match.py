"""The values that the players of the current match give to its actions."""

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.players.capabilities import (
    CountsVisits,
    PreparesAction,
    ValuesActions,
    exact_solver_of,
    points_per_value,
)
from selfplay.players.player import Player
from selfplay.playing.seated_match import Players, SeatedMatch

Values = NDArray[np.float32]
"""float32[A]: the value of each action to the player to move; nan where illegal."""


Visits = NDArray[np.int64]
"""int64[A]: the number of simulations through each action; 0 where illegal."""


class ValuedMatch(SeatedMatch):
    """The current match with the values of its actions.

    Values in points, such as discs, are numbers of points, whatever the scale on which the player computes them.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        match: the number of the current match.
        observer: values the actions of a match between two people; None: nobody does.
    """

    def __init__(
        self, game: Game, players: Players, first_player: int, key: int, match: int, observer: Player | None
    ) -> None:
        super().__init__(game, players, first_player)
        self.key, self.match, self.observer = key, match, observer
        self._values: dict[int, Values | None] = {}
        self._visits: dict[int, Visits | None] = {}

    def action_values(self, ply: int | None = None) -> Values | None:
        """The values that the player to move gives to each action, or its opponent if a person is to move.

        They are computed at the first call for each position and kept, because some players search for a long time.

        Args:
            ply: the values before this ply of the match, numbered from 0; None: in the current position.

        Returns:
            None if there is no such player, it does not value actions, or the match is over.
        """
        number = len(self._history) if ply is None else ply
        if number not in self._values:
            self._values[number], self._visits[number] = self._estimates(number)
        return self._values[number]

    def _estimates(self, number: int) -> tuple[Values | None, Visits | None]:
        """The values before ply `number`, and how the search behind them divided its simulations."""
        adviser, state = self.adviser(number), self.state_before(number)
        valuing = None if adviser is None or bool(state.terminated) else adviser.as_a(ValuesActions)
        if adviser is None or valuing is None:
            return None, None
        if (preparing := adviser.as_a(PreparesAction)) is not None:
            preparing.prepare(state, Draws(self.key, torch.tensor([self.match]), number))
        counting = adviser.as_a(CountsVisits)
        visits = None if counting is None else counting.visit_counts(state)[0].numpy()
        return valuing.action_values(state)[0].numpy() * np.float32(self._value_unit(number)), visits

    def known_values(self, ply: int | None = None) -> Values | None:
        """The values that `action_values` has already computed for this ply; None if there are none."""
        return self._values.get(len(self._history) if ply is None else ply)

    def known_visits(self, ply: int | None = None) -> Visits | None:
        """How the search behind `known_values` divided its simulations; None if the player does not count them."""
        number = len(self._history) if ply is None else ply
        return self._visits.get(number) if number in self._values else None

    def values_in_points(self, ply: int | None = None) -> bool:
        """Whether the values before this ply are points, estimated or exact."""
        adviser = self.adviser(ply)
        if adviser is None:
            return False
        if exact_solver_of(adviser, self.state_before(ply)) is not None:
            return self.game.rules.margin is not None
        return points_per_value(adviser) is not None

    def _value_unit(self, ply: int) -> float:
        """The factor from values of the adviser before this ply to the values that are shown."""
        adviser = self.adviser(ply)
        if adviser is None or exact_solver_of(adviser, self.state_before(ply)) is not None:
            return 1.0
        return points_per_value(adviser) or 1.0

    def adviser(self, ply: int | None = None) -> Player | None:
        """The player whose values `action_values` returns: of two people, the observer."""
        seat = int(self.state_before(ply).current_player)
        own, other = self.seats[seat], self.seats[1 - seat]
        return own or other or self.observer
