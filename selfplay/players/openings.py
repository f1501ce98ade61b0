"""Random openings of many lengths, in the matches that levels learn from."""

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player, PlayerWrapper, SearchedPolicies
from selfplay.players.random import RandomPlayer


def opening_lengths(draws: Draws, most: int) -> Tensor:
    """int64[B]: the number of random plies with which each match begins, each from 0 to `most` equally likely."""
    lengths: Tensor = below(draws._replace(ply=0).bits(Purpose.OPENING), most + 1)
    return lengths


class OpeningPlayer(PlayerWrapper):
    """Plays random actions in the opening of each match, whose length is `opening_lengths`, and then as `player`."""

    def __init__(self, game: Game, player: Player, most_plies: int) -> None:
        super().__init__(player)
        self.game, self.random, self.most_plies = game, RandomPlayer(game), most_plies

    def act(self, state: State, draws: Draws) -> Tensor:
        actions, rows = self.random.act(state, draws), self._is_past(draws).nonzero()[:, 0]
        if len(rows):
            actions[rows] = self.player.act(state.select(rows), draws._replace(match=draws.match[rows]))
        return actions

    def searched(self, state: State, draws: Draws) -> SearchedPolicies | None:
        """As of the player inside; the policies of openings are 0 and their values nan."""
        rows = self._is_past(draws).nonzero()[:, 0]
        found = self.player.searched(state.select(rows), draws._replace(match=draws.match[rows]))
        if found is None:
            return None
        size, device = state.batch_size, state.position.device
        policy = torch.zeros(size, self.game.num_distinct_actions, dtype=torch.float64, device=device)
        value = torch.full((size,), torch.nan, dtype=torch.float64, device=device)
        policy[rows], value[rows] = found.policy, found.value
        return SearchedPolicies(policy, value)

    def explores(self, draws: Draws) -> Tensor | None:
        explored = self.player.explores(draws)
        return None if explored is None else explored & self._is_past(draws)

    def _is_past(self, draws: Draws) -> Tensor:
        """bool[B]: whether the opening of each match is over."""
        return draws.ply >= opening_lengths(draws, self.most_plies)
