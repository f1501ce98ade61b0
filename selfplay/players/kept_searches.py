"""Keeps what searches find during matches that levels learn from."""

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.state import State
from selfplay.players.capabilities import Searches
from selfplay.players.player import Player, PlayerWrapper, SearchedPolicies


class KeepsSearches(PlayerWrapper):
    """Plays as `player`, and keeps the searches of the matches that it is playing, so that `searched` repeats none."""

    def __init__(self, player: Player) -> None:
        assert isinstance(player, Searches)
        super().__init__(player)
        self.searching: Searches = player
        self._plies: dict[int, tuple[State, Draws, SearchedPolicies]] = {}

    def act(self, state: State, draws: Draws) -> Tensor:
        if draws.ply == 0:
            self._plies.clear()
        actions, found = self.searching.chosen(state, draws)
        self._plies[draws.ply] = state, draws, found
        return actions

    def searched(self, state: State, draws: Draws) -> SearchedPolicies:
        kept = self._plies.get(draws.ply)
        if kept is not None and is_same_batch(state, kept[0]) and is_same_draws(draws, kept[1]):
            return kept[2]
        return self.searching.chosen(state, draws)[1]


def is_same_batch(one: State, other: State) -> bool:
    """Whether these are the same positions, in the same order."""
    return torch.equal(one.position, other.position)


def is_same_draws(one: Draws, other: Draws) -> bool:
    """Whether these are the same random numbers."""
    return (one.key, one.ply) == (other.key, other.ply) and torch.equal(one.match, other.match)
