"""What is expected of the actions of a position: a player's estimates, exact values, the best line, and grades."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Draws
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.capabilities import NamesValues
from selfplay.players.perfect import PerfectPlayer, ValueKind, endgame_player, is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.search.deadline import current_deadline
from selfplay.search.shared_solver import NotSolvedYetError

# ---------------------------------------------------------------------- grades

Grade = Literal["inaccuracy", "mistake", "blunder"]
GRADES: tuple[Grade, Grade, Grade] = ("inaccuracy", "mistake", "blunder")
THRESHOLDS: dict[ValueKind, tuple[float, ...]] = {"results": (0.2, 0.4, 0.6), "scores": (3, 8), "points": (2, 6, 12)}
"""For each grade the smallest difference from the best value that has it. The units are shares of the difference
between a draw and a win, own moves by which the match is won later or lost sooner, or points."""


def grade_of(value: float | None, best: float | None, kind: ValueKind, *, is_exact: bool) -> Grade | None:
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

    @property
    def are_exact_points(self) -> bool:
        """Whether the values are the exact numbers of points won at the end of the match."""
        return self.in_points and self.is_exact

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
        return "scores" if self.is_exact and not isinstance(self.player, PerfectPlayer) else "results"

    def value(self, action: int | None) -> float | None:
        """The value of an action; None if it is not known."""
        return None if action is None or not np.isfinite(self.values[action]) else float(self.values[action])

    def words(self, action: int | None) -> str | None:
        """The value of an action in words, such as "wins in 8", if it is known and exact."""
        value, player = self.value(action), self.player.unwrapped
        if not self.is_exact or value is None or not isinstance(player, NamesValues):
            return None
        return player.value_text(value, self.state)

    def grade(self, action: int) -> Grade | None:
        """How much worse than the best action an action is, by these values."""
        value, best = self.value(action), self.value(self.best)
        if value is None or best is None:
            return None
        # A value that is neither points nor exact is at most as far from the value of an even match as a win is.
        win = self.neutral or 1.0
        return grade_of(value / win, best / win, self.kind, is_exact=self.is_exact)


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


# ---------------------------------------------------------------------- perfect play

LONGEST_LINE = 10
"""The largest number of actions in a line of best moves."""


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


class Judge:
    """Gives the best values of actions that are known in a game.

    Use it in one thread at a time.

    Args:
        make_player: makes the player that values positions without exact values, when it is first needed.
    """

    def __init__(self, game: Game, make_player: Callable[[], Player]) -> None:
        self.game, self._make_player = game, make_player

    @cached_property
    def player(self) -> Player:
        """Values positions without exact values."""
        return self._make_player()

    def estimate(self, state: State, draws: Draws, seconds: float | None = None) -> Estimate | None:
        """The exact values of the actions of a position (B = 1), or else those of the player.

        Args:
            draws: as for `estimate_of`.
            seconds: how long to wait for the exact values of a game that can be solved; None for no limit.

        Returns:
            None if the match is over.
        """
        if bool(state.terminated):
            return None
        perfect = perfect_player_of(self.game)
        solver = endgame_player(self.game, state) if perfect is None else perfect.with_time_limit(seconds)
        if solver is not None:
            with suppress(NotSolvedYetError):
                exact = estimate_of(solver, self.game, state, draws)
                return None if exact is None else exact._replace(is_exact=True)
        estimate = estimate_of(self.player, self.game, state, draws)
        if estimate is None or estimate.preferred is None:
            return estimate
        # Other actions, with fewer simulations, are not known to be better.
        best, values = estimate.preferred, estimate.values.copy()
        others = np.arange(len(values)) != best
        values[others] = np.minimum(values[others], np.nextafter(values[best], np.float32(-np.inf)))
        return estimate._replace(values=values)

    def line(self, state: State, draws: Draws, estimate: Estimate, seconds: float) -> list[int]:
        """The best action of a position (B = 1) by `estimate`, and those that follow if both players take the best.

        After an exact value there are only exact ones. No further action is added after this number of seconds, or
        after the deadline of the context.
        """
        deadline = current_deadline()
        latest = time.monotonic() + min(seconds, deadline.left)
        following: Estimate | None = estimate
        actions: list[int] = []
        while following is not None and following.best is not None and following.is_exact >= estimate.is_exact:
            actions.append(following.best)
            state = self.game.step_unchecked(state, torch.tensor(actions[-1:]))
            left = latest - time.monotonic()
            if len(actions) == LONGEST_LINE or left <= 0:
                break
            following = self.estimate(state, draws._replace(ply=draws.ply + len(actions)), left)
            if deadline.is_over:
                # The search was cut short.
                break
        return actions
