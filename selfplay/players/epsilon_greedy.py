"""Epsilon-greedy play: mostly what another player would do, now and then a random action."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer

if TYPE_CHECKING:
    from selfplay.games.match_record import MatchRecord


class EpsilonGreedyPlayer(Player):
    """Plays like `greedy`, but at ply t of a match plays a random legal action with probability epsilons[t].

    Args:
        greedy: the player whose actions are taken otherwise.
        epsilons: exploration rates in [0, 1] by ply; the last one holds for all later plies.

    Raises:
        SettingError: there is no rate, or one is out of range.
    """

    def __init__(self, game: Game, greedy: Player, epsilons: Sequence[float]) -> None:
        if not epsilons or not all(0 <= epsilon <= 1 for epsilon in epsilons):
            raise SettingError(f"epsilons={list(epsilons)}: give one or more rates from 0 to 1")
        self.greedy = greedy
        self.random = RandomPlayer(game)
        self.epsilons = tuple(epsilons)
        self.learns, self.follows, self.plays_anywhere = greedy.learns, greedy.follows, greedy.plays_anywhere
        self.name = f"epsilon-greedy {greedy.name}"

    def act(self, state: State, draws: Draws) -> Tensor:
        if self._epsilon(draws) == 0:
            return self.greedy.act(state, draws)
        return torch.where(self.explores(draws), self.random.act(state, draws), self.greedy.act(state, draws))

    def policy(self, state: State) -> Tensor:
        """Raises SettingError if the rate changes with the ply, because a position does not tell the ply."""
        epsilon = self.epsilons[0]
        if any(other != epsilon for other in self.epsilons):
            raise SettingError(f"epsilons={list(self.epsilons)} differ by ply, so no policy of positions alone exists")
        return epsilon * self.random.policy(state) + (1 - epsilon) * self.greedy.policy(state)

    def follow(self, actions: Sequence[int]) -> None:
        self.greedy.follow(actions)

    def action_values(self, state: State) -> Tensor | None:
        return self.greedy.action_values(state)

    def move_to(self, device: str) -> None:
        self.greedy.move_to(device)

    def bytes_on_device(self) -> int:
        return self.greedy.bytes_on_device()

    def explores(self, draws: Draws) -> Tensor:
        return draws.uniforms(Purpose.EXPLORE) < self._epsilon(draws)

    def after_match(self, record: "MatchRecord", seats: tuple[int, ...]) -> None:
        self.greedy.after_match(record, seats)

    def matches_seen(self) -> int:
        return self.greedy.matches_seen()

    def status(self) -> object | None:
        return self.greedy.status()

    def _epsilon(self, draws: Draws) -> float:
        return self.epsilons[min(draws.ply, len(self.epsilons) - 1)]
