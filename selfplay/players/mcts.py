"""The player that chooses its actions by Monte-Carlo tree search, and its parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from selfplay.checks import IN_MATCHES, count, one_in, within
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.kept_searches import is_same_batch, is_same_draws
from selfplay.players.player import ActionValues, Player, SearchedPolicies, one_hot_policy, sample_actions
from selfplay.search.mcts.checked_search import CheckedSearch
from selfplay.search.mcts.rule import SEARCH_RULES, make_rule
from selfplay.search.mcts.tree import TreeSearchResult
from selfplay.search.mcts.tree_search import MOST_PARALLEL, MOST_SIMULATIONS, TreeSearch

USUAL_PARALLEL, SIMULATIONS_EACH = 8, 25
"""The usual number of positions that are evaluated together, and how many simulations there must be for each: so few
that searches are as strong as with one (see docs/alphazero.md)."""
MOST_TEMPERATURE = 10**6
"""At the highest temperature, all actions are equally likely."""


class _Searched(NamedTuple):
    """Searches of a batch at one ply."""

    state: State
    draws: Draws
    result: TreeSearchResult

    def is_of(self, state: State, draws: Draws | None) -> bool:
        """Whether these are searches of the same positions, with the same random numbers unless `draws` is None."""
        return is_same_batch(state, self.state) and (draws is None or is_same_draws(draws, self.draws))


class MctsPlayer(Player):
    """Takes the action that a tree search finds best, or draws one from its policy.

    Args:
        temperature: 0 takes the action of the search; above 0, an action is drawn with probability proportional to
            policy ** (1 / temperature).
        temperature_plies: number of plies with this temperature; later ones have 0. None: all.
        proof_positions: see `TreeSearchParameters`.

    Raises SettingError if the temperature is negative.
    """

    def __init__(
        self,
        search: TreeSearch,
        *,
        temperature: float = 0.0,
        temperature_plies: int | None = None,
        proof_positions: int = 0,
        name: str | None = None,
    ) -> None:
        if temperature < 0:
            raise SettingError(f"temperature={temperature}: must be at least 0")
        self.game, self.search, self.temperature = search.game, search, temperature
        self.temperature_plies = temperature_plies
        self.name = name or f"mcts {search.parts.name}"
        self._find = CheckedSearch(search, proof_positions).search if proof_positions else search.search
        self._kept: _Searched | None = None

    def act(self, state: State, draws: Draws) -> Tensor:
        return self._actions(self._result(state, draws), draws)

    def chosen(self, state: State, draws: Draws) -> tuple[Tensor, SearchedPolicies]:
        """See `selfplay.players.capabilities.Searches`; finished matches have policies 0 and values nan."""
        rows = (~state.terminated).nonzero()[:, 0]
        draws = draws._replace(match=draws.match[rows])
        result = self._result(state.select(rows), draws)
        size, device = state.batch_size, state.position.device
        actions = torch.zeros(size, dtype=torch.int64, device=device)
        policy = torch.zeros(size, self.game.num_distinct_actions, dtype=torch.float64, device=device)
        value = torch.full((size,), torch.nan, dtype=torch.float64, device=device)
        actions[rows], policy[rows], value[rows] = self._actions(result, draws), result.policy, result.value
        return actions, SearchedPolicies(policy, value)

    def searched(self, state: State, draws: Draws) -> SearchedPolicies:
        return self.chosen(state, draws)[1]

    def policy(self, state: State) -> Tensor | None:
        """float64[B, A]: the probability of each action; the rows of finished matches are 0.

        None if its searches use random numbers or continue earlier ones, or the temperature changes with the ply: what
        `act` does then depends on the match.
        """
        if self.search.is_random or self.temperature_plies is not None:
            return None
        result = self._result(state)
        if self.temperature > 0:
            return self._tempered(result)
        return one_hot_policy(result.actions, self.game.legal_action_mask(state))

    def action_values(self, state: State) -> Tensor:
        """float32[B, A], in [-1, 1]: the mean value of each action in the search of `policy`; nan if not visited."""
        return self.value_actions(state).values

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        """Of the search of `policy`, or with `draws` of that of `act`, which then does not search again.

        Preferred are the actions with the most simulations, or with which the search proved a win.
        """
        if draws is not None:
            self._kept = _Searched(state, draws, self._find(state, draws))
        result = self._result(state, draws)
        return ActionValues(
            result.action_values.to(torch.float32),
            points_per_value=self.search.parts.ends.points_per_value,
            visits=result.visits,
            priors=result.priors,
            preferred=result.actions,
        )

    def tree_search(self) -> TreeSearch:
        return self.search

    def move_to(self, device: str) -> None:
        """Evaluate positions on this device, if the evaluator can."""
        self.search.move_to(device)

    def _result(self, state: State, draws: Draws | None = None) -> TreeSearchResult:
        """The search of these positions, unless it is the last one of `value_actions`."""
        if self._kept is not None and self._kept.is_of(state, draws):
            return self._kept.result
        return self._find(state, draws)

    def _actions(self, result: TreeSearchResult, draws: Draws) -> Tensor:
        is_late = self.temperature_plies is not None and draws.ply >= self.temperature_plies
        if self.temperature == 0 or is_late:
            return result.actions
        return sample_actions(self._tempered(result), draws.uniforms(Purpose.SAMPLED_ACTION))

    def _tempered(self, result: TreeSearchResult) -> Tensor:
        """float64[B, A]: the policy with this temperature."""
        # Divided by the largest first, so that high powers do not underflow to 0.
        largest = result.policy.amax(dim=1, keepdim=True)
        weights = (result.policy / largest.clamp(min=torch.finfo(torch.float64).tiny)) ** (1 / self.temperature)
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=1)


@dataclass(frozen=True, kw_only=True)
class TreeSearchParameters:
    """How a player searches, and how it chooses an action by what it has found."""

    rule: str = field(default="puct", metadata=IN_MATCHES | one_in(SEARCH_RULES))
    """How simulations choose actions: puct, gumbel or uct."""
    constants: dict[str, float] = field(default_factory=dict, metadata=IN_MATCHES)
    """Constants of the rule that differ from their usual values."""
    simulations: int = field(default=200, metadata=IN_MATCHES | within(1, MOST_SIMULATIONS))
    """Simulations for each action."""
    proves: bool = field(default=True, metadata=IN_MATCHES)
    """Whether exact values are proved (MCTS-solver)."""
    reuse: bool = field(default=False, metadata=IN_MATCHES)
    """Whether a search continues the tree of the last ply; not for gumbel."""
    parallel: int | None = field(default=None, metadata=IN_MATCHES | within(1, MOST_PARALLEL))
    """Positions of a search that torch evaluates together; null: one for each 25 simulations, at most 8."""
    temperature: float = field(default=0.0, metadata=IN_MATCHES | within(0, MOST_TEMPERATURE))
    """In the first plies, actions are drawn with probability proportional to policy ** (1 / temperature); 0: the action
    that the search finds best."""
    temperature_plies: int | None = field(default=None, metadata=IN_MATCHES | count(0))
    """Number of plies with this temperature, later ones have 0; null: all."""
    proof_positions: int = field(default=0, metadata=IN_MATCHES | count(0))
    """Positions that a proof beside the tree may visit (see docs/alphazero.md); 0: no such proofs. Not with reuse."""

    def search_player(
        self, game: Game, evaluator: Any, name: str | None = None, usual: Mapping[str, float] | None = None
    ) -> MctsPlayer:
        """The player with these parameters.

        Args:
            evaluator: as of `TreeSearch`.
            usual: constants of the rule in place of its defaults, where the parameters have none.

        Raises SettingError for a parameter that is out of range or unknown.
        """
        if self.reuse and self.proof_positions:
            raise SettingError("reuse=true: a search that is repeated after a proof begins anew; set proof_positions=0")
        rule = make_rule(self.rule, {**(usual or {}), **self.constants})
        search = TreeSearch(
            game,
            evaluator,
            rule,
            self.simulations,
            proves=self.proves,
            reuse=self.reuse,
            parallel=self.parallel or min(USUAL_PARALLEL, max(1, self.simulations // SIMULATIONS_EACH)),
        )
        return MctsPlayer(
            search,
            temperature=self.temperature,
            temperature_plies=self.temperature_plies,
            proof_positions=self.proof_positions,
            name=name,
        )
