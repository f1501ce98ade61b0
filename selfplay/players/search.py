"""The player that chooses its actions by look-ahead search."""

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field

import torch
from torch import Tensor

from selfplay.checks import check_parameters, within
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SettingError, TimeLimitError
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.outcomes import EndValues
from selfplay.games.state import State
from selfplay.players.player import ActionValues, Player, SearchedPolicies, one_hot_policy, pick_actions, uniform_policy
from selfplay.players.value_net import best_values
from selfplay.search.deadline import current_deadline
from selfplay.search.exact_solver import empties, make_exact_solver, solver_class
from selfplay.search.searcher import Searcher, SearchParameters, check_depth


@dataclass(frozen=True, kw_only=True)
class SearchPlayerParameters(SearchParameters):
    """How a player searches, and how it chooses an action by the values that it finds."""

    time_limit: float | None = field(default=None, metadata=within(above=0))
    """Seconds for a move, in which the search deepens up to its depth; null: no limit. With a limit matches are not
    reproducible."""
    endgame: int = 0
    """With at most this number of empty squares moves are exact, in games with an exact solver, unless that takes too
    long."""
    endgame_bits: int = 20
    """Size of the table of the exact solver, 2**endgame_bits entries."""
    slack: float | None = field(default=None, metadata=within(0))
    """Draws one of the moves whose values are at most this below the best, of certain wins or losses only the soonest
    or latest; null: takes the lowest of the best."""


class SearchPlayer(Player):
    """Takes the best action found by a search of fixed depth.

    Args:
        depth: plies to look ahead, 1 or more.

    Raises:
        SettingError: an argument is out of range, or the game has no exact solver.
    """

    def __init__(
        self,
        searcher: Searcher,
        depth: int,
        parameters: SearchPlayerParameters = SearchPlayerParameters(),
        name: str | None = None,
    ) -> None:
        check_depth(depth)
        check_parameters(parameters)
        self.game, self.searcher, self.depth, self.time_limit = searcher.game, searcher, depth, parameters.time_limit
        self.endgame, self.slack = parameters.endgame, parameters.slack
        if self.endgame and not 0 <= self.endgame <= (most := solver_class(self.game).practical_empties):
            raise SettingError(f"endgame={self.endgame}: must be a number of empty squares from 0 to {most}")
        self.solver = make_exact_solver(self.game, parameters.endgame_bits) if self.endgame else None
        self.name = name or f"{searcher.algorithm} {depth}"

    def without_time_limit(self) -> "SearchPlayer":
        """The same player without a time limit. Both share their tables, so only one may be used at a time."""
        unlimited = copy(self)
        unlimited.time_limit = None
        return unlimited

    def act(self, state: State, draws: Draws) -> Tensor:
        if self.slack is None:
            return self._best(state)[0]
        return pick_actions(self._candidates(state, self.slack)[0], draws.bits(Purpose.TIE_BREAK))

    def chosen(self, state: State, draws: Draws) -> tuple[Tensor, SearchedPolicies]:
        """See `selfplay.players.capabilities.Searches`; the policies of finished matches are 0.

        A policy is 0 for actions that are never taken, and equal for the others.
        """
        if self.slack is None:
            actions, values = self._best(state)
            policy = one_hot_policy(actions.clamp(min=0), self.game.legal_action_mask(state))
        else:
            candidates, values = self._candidates(state, self.slack)
            actions = pick_actions(candidates, draws.bits(Purpose.TIE_BREAK))
            policy = uniform_policy(candidates)
        return actions, SearchedPolicies(policy, values.clamp(-1, 1).where(~state.terminated, torch.nan))

    def searched(self, state: State, draws: Draws) -> SearchedPolicies:
        return self.chosen(state, draws)[1]

    def policy(self, state: State) -> Tensor:
        if self.slack is not None:
            return uniform_policy(self._candidates(state, self.slack)[0])
        return one_hot_policy(self._best(state)[0].clamp(min=0), self.game.legal_action_mask(state))

    def action_values(self, state: State) -> Tensor:
        """float32[B, A]: the value of each action to the player to move, on the scale of the evaluation.

        In positions that are solved exactly: the values of the exact solver.
        """
        values = torch.full((state.batch_size, self.game.num_distinct_actions), torch.nan)
        open_rows = torch.ones(state.batch_size, dtype=torch.bool)
        if self.solver is not None:
            for row in self.solves(state).nonzero()[:, 0].tolist():
                with suppress(TimeLimitError):
                    limit = self._solving_seconds()
                    for action, value in self.solver.action_values(state, row, time_limit=limit).items():
                        values[row, action] = value
                    open_rows[row] = False
        searched = self.searcher.action_values(state.select(open_rows), self.depth, time_limit=self.time_limit)
        values[open_rows] = searched.to(torch.float32)
        return values

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        values = self.action_values(state)
        return ActionValues(values, points_per_value=self.points_per_value, is_exact=self.solves(state))

    @property
    def points_per_value(self) -> float | None:
        """As of `ActionValues`."""
        if not self.searcher.evaluation.predicts_outcome:
            return None
        return EndValues(*self.searcher.evaluation.parameters(self.game).finished.tolist()).points_per_value

    def solves(self, state: State) -> Tensor:
        """bool[B]: the positions that are solved exactly, if the time limit suffices."""
        if self.solver is None:
            return torch.zeros(state.batch_size, dtype=torch.bool)
        return empties(self.game, state) <= self.endgame

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in a position that is solved exactly, in words."""
        return "" if self.solver is None else self.solver.value_text(round(value), state, row)

    def _candidates(self, state: State, slack: float) -> tuple[Tensor, Tensor]:
        """bool[B, A]: the actions that are as good as the best one, up to `slack`; none where the match is over.

        And float64[B], the value of the best one, on the scale of the evaluation.
        """
        first_rows, inverse = distinct_positions(state.position)
        distinct = state.select(first_rows)
        values = self.action_values(distinct)
        best = best_values(values)
        chosen, is_solved = values >= best[:, None] - slack, self.solves(distinct)
        if self.game.rules.margin is None:
            # Values do not say when a match is won or lost, but shallower searches do.
            win = float(self.searcher.evaluation.parameters(self.game).finished[0])
            is_decided = ~is_solved[:, None] & (best.abs() >= win)[:, None] & ~distinct.terminated[:, None]
            for depth in range(1, self.depth if bool(is_decided.any()) else 1):
                shallow = self.searcher.action_values(distinct, depth)
                kept = chosen & torch.where(best[:, None] > 0, shallow >= win, shallow > -win)
                chosen = torch.where(is_decided & kept.any(dim=1, keepdim=True), kept, chosen)
        worth = best.double().where(~is_solved, self._outcomes(best))
        return chosen[inverse], worth[inverse]

    def _best(self, state: State) -> tuple[Tensor, Tensor]:
        """int64[B]: the lowest of the best actions; -1 where the match is over. And float64[B], their values.

        The values are on the scale of the evaluation, also of positions that are solved exactly.
        """
        first_rows, inverse = distinct_positions(state.position)
        distinct = state.select(first_rows)
        actions, values = torch.full((distinct.batch_size,), -1), torch.empty(distinct.batch_size, dtype=torch.float64)
        open_rows = ~self._solve(distinct, actions, values)
        if self.time_limit is None:
            found = self.searcher.search_batch(distinct.select(open_rows), self.depth)
            actions[open_rows], values[open_rows] = torch.from_numpy(found.actions), torch.from_numpy(found.values)
        else:
            for row in open_rows.nonzero()[:, 0].tolist():
                one = distinct.select(torch.tensor([row]))
                result = self.searcher.search(one, self.depth, time_limit=self.time_limit)
                actions[row], values[row] = result.action, result.value
        return actions[inverse], values[inverse]

    def _solve(self, state: State, actions: Tensor, values: Tensor) -> Tensor:
        """bool[B]: the positions that have been solved exactly; their actions and values are written."""
        is_solved = self.solves(state)
        if self.solver is None or not is_solved.any():
            return is_solved
        if self._solving_seconds() is None:
            best, points = self.solver.best_actions(state.select(is_solved))
            actions[is_solved], values[is_solved] = torch.from_numpy(best), self._outcomes(torch.from_numpy(points))
            return is_solved
        for row in is_solved.nonzero()[:, 0].tolist():
            try:
                found = self.solver.solve(state, row, time_limit=self._solving_seconds())
            except TimeLimitError:
                is_solved[row] = False
                continue
            actions[row] = -1 if found.action is None else found.action
            values[row] = self._outcomes(torch.tensor(found.value))
        return is_solved

    def _solving_seconds(self) -> float | None:
        """How long a position may be solved: at most half the time that the deadline of the context leaves, so that it
        can be searched instead. None for no limit.
        """
        limits = [limit for limit in (self.time_limit, current_deadline().part(1 / 2)) if limit is not None]
        return min(limits, default=None)

    def _outcomes(self, values: Tensor) -> Tensor:
        """float64: values of the exact solver on the scale of the evaluation."""
        win, point = self.searcher.evaluation.parameters(self.game).finished.tolist()
        outcomes: Tensor = win * values.sign().double() + point * values
        return outcomes
