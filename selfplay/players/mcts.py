"""The player that chooses its actions by Monte-Carlo tree search, also in the matches that a policy is learned from."""

from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.errors import SettingError
from selfplay.games.state import State
from selfplay.players.capabilities import PlaysOnDevice
from selfplay.players.player import Player, SearchedPolicies, one_hot_policy, sample_actions
from selfplay.players.random import RandomPlayer
from selfplay.search.mcts.tree import TreeSearchResult
from selfplay.search.mcts.tree_search import TreeSearch


class _Searched(NamedTuple):
    """Searches of a batch at one ply."""

    state: State
    draws: Draws
    rows: Tensor
    """int64[N]: the matches that were searched."""
    result: TreeSearchResult

    def is_of(self, state: State, draws: Draws | None) -> bool:
        """Whether these are searches of the same positions, with the same random numbers unless `draws` is None."""
        own = self.draws
        is_same = torch.equal(self.state.own, state.own) and torch.equal(self.state.opp, state.opp)
        if draws is None or not is_same:
            return is_same
        return (own.key, own.ply) == (draws.key, draws.ply) and torch.equal(own.match, draws.match)


class MctsPlayer(Player):
    """Takes the action that a tree search finds best, or draws one from its policy.

    Args:
        temperature: 0 takes the action of the search; above 0, an action is drawn with probability proportional to
            policy ** (1 / temperature).

    Raises SettingError if the temperature is negative.
    """

    def __init__(self, search: TreeSearch, *, temperature: float = 0.0, name: str | None = None) -> None:
        if temperature < 0:
            raise SettingError(f"temperature={temperature}: must be at least 0")
        self.game, self.search, self.temperature = search.game, search, temperature
        self.name = name or f"mcts {search.evaluator.name}"
        self._prepared: _Searched | None = None

    def act(self, state: State, draws: Draws) -> Tensor:
        result = self._result(state, draws)
        if self.temperature == 0:
            return result.actions
        return sample_actions(self._tempered(result), draws.uniforms(Purpose.SAMPLED_ACTION))

    def policy(self, state: State) -> Tensor | None:
        """float64[B, A]: the probability of each action; the rows of finished matches are 0.

        None if its searches use random numbers or continue earlier ones: what `act` does then depends on the match.
        """
        if self.search.is_random:
            return None
        result = self._result(state)
        if self.temperature > 0:
            return self._tempered(result)
        return one_hot_policy(result.actions, self.game.legal_action_mask(state))

    def action_values(self, state: State) -> Tensor:
        """float32[B, A], in [-1, 1]: the mean value of each action in the search of `policy`; nan if not visited."""
        return self._result(state).action_values.to(torch.float32)

    def points_per_value(self) -> float | None:
        return self.search.evaluator.ends.points_per_value

    def visit_counts(self, state: State) -> Tensor:
        """int64[B, A]: the number of simulations through each action in the search of `policy`."""
        return self._result(state).visits

    def preferred_actions(self, state: State) -> Tensor:
        """int64[B]: the actions with the most simulations in the search of `policy`, or with which it proved a win."""
        return self._result(state).actions

    def move_to(self, device: str) -> None:
        """Evaluate positions on this device, if the evaluator can; the trees stay in the memory of the CPU."""
        if isinstance(self.search.evaluator, PlaysOnDevice):
            self.search.evaluator.move_to(device)

    def bytes_on_device(self) -> int:
        evaluator = self.search.evaluator
        return evaluator.bytes_on_device() if isinstance(evaluator, PlaysOnDevice) else 0

    def prepare(self, state: State, draws: Draws) -> None:
        self._prepared = _Searched(state, draws, torch.tensor([0]), self.search.search(state, draws))

    def _result(self, state: State, draws: Draws | None = None) -> TreeSearchResult:
        """The search of these positions, unless it was prepared."""
        prepared = self._prepared
        if prepared is not None and prepared.is_of(state, draws):
            return prepared.result
        return self.search.search(state, draws)

    def _tempered(self, result: TreeSearchResult) -> Tensor:
        """float64[B, A]: the policy with this temperature."""
        # Divided by the largest first, so that high powers do not underflow to 0.
        largest = result.policy.amax(dim=1, keepdim=True)
        weights = (result.policy / largest.clamp(min=torch.finfo(torch.float64).tiny)) ** (1 / self.temperature)
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=1)


class SearchLearner(MctsPlayer):
    """Explores by random opening plies, by actions drawn from the policy in the first plies, and by the search's noise.

    It keeps the searches of the matches that it is playing, so that `searched` does not search again.

    Args:
        temperature: see `MctsPlayer`.
        temperature_plies: number of plies with this temperature; later ones have 0.
        opening_plies: each match begins with 0 to this number of random plies, which give no policies.
    """

    def __init__(
        self,
        search: TreeSearch,
        *,
        temperature: float = 1.0,
        temperature_plies: int = 8,
        opening_plies: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(search, temperature=temperature, name=name)
        self.temperature_plies, self.opening_plies = temperature_plies, opening_plies
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
        opening_lengths: Tensor = below(draws._replace(ply=0).bits(Purpose.OPENING), self.opening_plies + 1)
        rows = (~state.terminated & (draws.ply >= opening_lengths)).nonzero()[:, 0]
        result = self.search.search(state.select(rows), draws._replace(match=draws.match[rows]))
        return _Searched(state, draws, rows, result)

    def _chosen(self, result: TreeSearchResult, draws: Draws) -> Tensor:
        if self.temperature == 0 or draws.ply >= self.temperature_plies:
            return result.actions
        return sample_actions(self._tempered(result), draws.uniforms(Purpose.SAMPLED_ACTION))
