"""The player of the matches that a policy is learned from: tree search with exploration."""

from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.games.state import State
from selfplay.players.capabilities import SearchedPolicies
from selfplay.players.mcts import MctsPlayer
from selfplay.players.player import sample_actions
from selfplay.players.random import RandomPlayer
from selfplay.search.mcts.tree_search import TreeSearch, TreeSearchResult
from selfplay.settings.sections import TreeSearchSettings


class _Searched(NamedTuple):
    """The searches of one ply of a batch."""

    key: int
    match: Tensor
    state: State
    rows: Tensor
    """int64[N]: the matches that were searched."""
    result: TreeSearchResult
    """The results of these."""

    def is_of(self, state: State, draws: Draws) -> bool:
        same_match = self.key == draws.key and torch.equal(self.match, draws.match)
        return same_match and torch.equal(self.state.own, state.own) and torch.equal(self.state.opp, state.opp)


class SearchLearner(MctsPlayer):
    """Explores by random opening plies, by actions drawn from the policy in the first plies, and by the search's noise.

    It keeps the searches of the matches that it is playing, so that `searched` does not search again.

    Args:
        settings: temperature, temperature_plies and opening_plies; the search has its own.
    """

    def __init__(self, search: TreeSearch, settings: TreeSearchSettings, name: str | None = None) -> None:
        super().__init__(search, temperature=settings.temperature, name=name)
        self.temperature_plies, self.opening_plies = settings.temperature_plies, settings.opening_plies
        self.random = RandomPlayer(search.game)
        self._plies: dict[int, _Searched] = {}

    def act(self, state: State, draws: Draws) -> Tensor:
        if draws.ply == 0:
            self._plies.clear()
        self._plies[draws.ply] = searched = self._search(state, draws)
        actions = self.random.act(state, draws)
        actions[searched.rows] = self._chosen(searched.result, draws._replace(match=draws.match[searched.rows]))
        return actions

    def searched(self, state: State, draws: Draws) -> SearchedPolicies:
        """The policies and values of the searches; those of random opening plies and finished matches are 0 and nan."""
        kept = self._plies.get(draws.ply)
        found = kept if kept is not None and kept.is_of(state, draws) else self._search(state, draws)
        size, device = state.batch_size, state.own.device
        policy = torch.zeros(size, self.game.num_distinct_actions, dtype=torch.float64, device=device)
        value = torch.full((size,), torch.nan, dtype=torch.float64, device=device)
        policy[found.rows], value[found.rows] = found.result.policy, found.result.value
        return SearchedPolicies(policy, value)

    def _search(self, state: State, draws: Draws) -> _Searched:
        rows = (~state.terminated & (draws.ply >= self._opening_lengths(draws))).nonzero()[:, 0]
        result = self.search.search(state.select(rows), draws._replace(match=draws.match[rows]))
        return _Searched(draws.key, draws.match, state, rows, result)

    def _opening_lengths(self, draws: Draws) -> Tensor:
        """int64[B]: the number of random plies at the start of each match."""
        lengths: Tensor = below(draws._replace(ply=0).words(Purpose.OPENING), self.opening_plies + 1)
        return lengths

    def _chosen(self, result: TreeSearchResult, draws: Draws) -> Tensor:
        if self.temperature == 0 or draws.ply >= self.temperature_plies:
            return result.actions
        return sample_actions(self._tempered(result), draws.uniforms(Purpose.SAMPLED_ACTION))
