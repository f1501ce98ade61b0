"""What is expected of the actions of a position: a player's estimates, exact values, the best line, and grades."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Draws
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.capabilities import NamesValues, capability
from selfplay.players.perfect import PerfectPlayer, ValueKind, endgame_player, is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.search.prover import RESULT_TEXTS
from selfplay.search.shared_solver import NotSolvedYetError

# ---------------------------------------------------------------------- grades

MoveGrade = Literal["inaccuracy", "mistake", "blunder"]
GRADES: tuple[MoveGrade, MoveGrade, MoveGrade] = ("inaccuracy", "mistake", "blunder")
THRESHOLDS: dict[ValueKind, tuple[float, ...]] = {"results": (0.4, 0.6, 0.8), "scores": (3, 8), "points": (2, 6, 12)}
"""For each grade the smallest difference from the best value that has it. The units are shares of the difference
between a draw and a win, own moves by which the match is won later or lost sooner, or points. Estimated results of
equally good actions seldom differ by more than the smallest (`benchmarks/false_labels.py`)."""


def grade_of(value: float | None, best: float | None, kind: ValueKind, *, is_exact: bool) -> MoveGrade | None:
    """The grade of an action; None if it is about as good as the best one, or one of the values is unknown.

    Args:
        value: the value of the action to the player who takes it; results are from -1 to 1.
        best: the value of the best action.
        is_exact: whether the values are exact. If they are, an action that throws away a win or a draw is a blunder.
    """
    if value is None or best is None:
        return None
    if is_exact and np.sign(value) != np.sign(best):
        return "blunder"
    # Values of networks are float32.
    reached = sum(best - value >= threshold - 1e-6 for threshold in THRESHOLDS[kind])
    return GRADES[reached - 1] if reached else None


def thresholds_text(game: Game) -> str:
    """The smallest loss of an action for each grade in this game, in one or two sentences."""
    points = ("points", f"{game.presentation.point_name} fewer than the best move")
    kinds = [("results", "of a win less than the best move"), ("scores", "moves later won or sooner lost")]
    if game.rules.margin is not None:
        kinds = [points] if game.counts_discs else [kinds[0], points]
    said = [f"from {', '.join(f'{one:g}' for one in THRESHOLDS[kind])} {unit}" for kind, unit in kinds]  # type: ignore[index]
    return f"Inaccuracy, mistake, blunder: {'; exactly, '.join(said)}. Throwing away a win or a draw is a blunder."


# ---------------------------------------------------------------------- what a player expects

Values = NDArray[np.float32]
"""float32[A]: the value of each action to the player to move; nan where illegal."""


class Estimate(NamedTuple):
    """What a player expects of the actions in a position."""

    player: Player
    state: State
    values: Values
    in_points: bool
    """Whether the values are numbers of points, such as discs, estimated or exact."""
    visits: NDArray[np.int64] | None
    """int64[A]: how it divided its simulations among the actions, if it counts them; 0 where illegal."""
    is_exact: bool
    """Whether the player solves the position, so that the values are exact."""
    preferred: int | None = None
    """The action that its search finds best, because the values of others are less certain; None: the one with the
    highest value."""
    neutral: float = 0.0
    """The value of an even match."""
    proved: NDArray[np.bool_] | None = None
    """bool[A]: the actions whose values are results (1, 0, -1) proved by search; None: none."""

    @property
    def best(self) -> int | None:
        """The lowest of the best actions; None if the value of no action is known."""
        if self.preferred is not None:
            return self.preferred
        return None if np.isnan(self.values).all() else int(np.nanargmax(self.values))

    @property
    def kind(self) -> ValueKind:
        """What the values are; estimates that are not points are results."""
        if self.in_points:
            return "points"
        has_scores = self.is_exact and self.proved is None and not isinstance(self.player, PerfectPlayer)
        return "scores" if has_scores else "results"

    def value(self, action: int | None) -> float | None:
        """The value of an action; None if it is not known."""
        return None if action is None or not np.isfinite(self.values[action]) else float(self.values[action])

    def knows(self, action: int | None) -> bool:
        """Whether the value of an action is exact."""
        return self.is_exact or (self.proved is not None and action is not None and bool(self.proved[action]))

    def words(self, action: int | None) -> str | None:
        """The value of an action in words, such as "wins in 8", if it is known and exact."""
        value = self.value(action)
        if action is None or value is None or not self.knows(action):
            return None
        if self.proved is not None and not self.in_points:
            return RESULT_TEXTS[value]
        naming = capability(self.player, NamesValues)
        return None if naming is None else naming.value_text(value, self.state)

    def grade(self, action: int) -> MoveGrade | None:
        """How much worse than the best action an action is, by these values; None also if only one of both is exact."""
        best = self.best
        value, best_value = self.value(action), self.value(best)
        if value is None or best is None or best_value is None or self.knows(action) != self.knows(best):
            return None
        # A value that is neither points nor exact is at most as far from the value of an even match as a win is.
        win = self.neutral or 1.0
        is_exact = self.knows(action) and self.knows(best)
        return grade_of(value / win, best_value / win, self.kind, is_exact=is_exact)

    def with_searched(self, actions: Sequence[int], values: Values, compared: Sequence[int]) -> "Estimate":
        """With only the values of these actions, nan: the value stays; the best of the compared ones is preferred."""
        changed = np.full_like(self.values, np.nan)
        changed[list(actions)] = np.where(np.isnan(values), self.values[list(actions)], values)
        best = max(compared, key=lambda action: changed[action])
        # The best of many values is the best by chance more often than the one that the search prefers.
        others = [action for action in actions if action not in compared]
        changed[others] = np.minimum(changed[others], np.nextafter(changed[best], np.float32(-np.inf)))
        return self._replace(values=changed, preferred=best)

    def with_results(self, results: Values, *, are_all: bool) -> "Estimate":
        """With these proved results of actions, nan where nothing is proved, in place of estimates from -1 to 1.

        are_all: whether the results of all legal actions are proved.
        """
        proved = ~np.isnan(results)
        if not proved.any():
            return self
        values = np.where(proved, results, self.values)
        # A proved result comes before an equal estimate.
        below = np.nextafter(values, np.float32(-np.inf))
        rank = np.where(proved, values, below if self.preferred is None else np.float32(np.nan))
        best = self.preferred
        if best is not None and not proved[best]:
            rank[best] = below[best]
        if best is None or rank[best] < np.nanmax(rank):
            best = int(np.nanargmax(rank))
        values = np.where(proved, values, np.minimum(values, below[best] if proved[best] else values[best]))
        return self._replace(values=values, preferred=best, proved=proved, is_exact=are_all)


def estimate_of(player: Player, game: Game, state: State, draws: Draws) -> Estimate | None:
    """What `player` expects in a position (B = 1); None if it does not value actions, or the match is over.

    Args:
        draws: the random numbers of the ply, which it would use to act.
    """
    if bool(state.terminated):
        return None
    if (found := player.value_actions(state, draws)) is None:
        return None
    values, visits = found.values[0].numpy(), None if found.visits is None else found.visits[0].numpy()
    if found.is_exact is not None and bool(found.is_exact):
        return Estimate(player, state, values, game.rules.margin is not None, visits, is_exact=True)
    unit, preferred = found.points_per_value, None if found.preferred is None else int(found.preferred)
    values = values * np.float32(unit or 1.0)
    return Estimate(player, state, values, unit is not None, visits, False, preferred, found.neutral)


def best_estimate(player: Player | None, game: Game, state: State, draws: Draws) -> Estimate | None:
    """The exact values near the end, as of `endgame_player`; elsewhere what `player` expects, as `estimate_of`."""
    if (solver := endgame_player(game, state)) is not None:
        with suppress(NotSolvedYetError):
            return estimate_of(solver, game, state, draws)
    return None if player is None else estimate_of(player, game, state, draws)


# ---------------------------------------------------------------------- perfect play


def results_known_at_once(game: Game, state: State) -> Values | None:
    """The result of each action of a position (B = 1) with perfect play: 1, 0 or -1; nan if illegal.

    None unless `perfect_player_of` has enumerated the game already, and the position can be reached in it.
    """
    player = perfect_player_of(game) if is_found_out(game) else None
    if player is None or player.value_kind != "results":
        return None
    with suppress(IllegalActionError):
        return player.action_values(state)[0].numpy()
    return None


def best_actions(values: Values) -> tuple[int, ...]:
    """The actions with the largest value, ascending."""
    return tuple(np.flatnonzero(values == np.nanmax(values)).tolist())
