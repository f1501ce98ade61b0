"""Grades of actions that are worse than the best, in the words of chess players."""

from typing import Literal

import numpy as np

from selfplay.games.game import Game
from selfplay.players.perfect import ValueKind

Grade = Literal["inaccuracy", "mistake", "blunder"]
GRADES: tuple[Grade, Grade, Grade] = ("inaccuracy", "mistake", "blunder")
THRESHOLDS: dict[ValueKind, tuple[float, ...]] = {"results": (0.2, 0.4, 0.6), "scores": (3, 8), "points": (2, 6, 12)}
"""How much worse than the best value an action is from each grade on: parts of the way from a draw to a win, own moves
by which the match is won later or lost sooner, or points."""


def grade_of(value: float | None, best: float | None, kind: ValueKind, *, is_exact: bool) -> Grade | None:
    """The grade of an action; None if it is about as good as the best one, or one of the values is unknown.

    Args:
        value: of the action, to the player who takes it; of results from -1 to 1.
        best: of the best action.
        is_exact: whether the values are exact: then an action that throws away a win or a draw is a blunder.
    """
    if value is None or best is None:
        return None
    if is_exact and np.sign(value) != np.sign(best):
        return "blunder"
    # Values of networks are float32.
    reached = sum(best - value >= threshold - 1e-6 for threshold in THRESHOLDS[kind])
    return GRADES[reached - 1] if reached else None


def thresholds_text(game: Game) -> str:
    """From how much on an action of this game has each grade, in one or two sentences."""
    if game.rules.margin is not None:
        kinds = [("points", f"{game.presentation.point_name} fewer than the best move")]
    else:
        kinds = [("results", "of a win less than the best move"), ("scores", "moves later won or sooner lost")]
    said = [f"from {', '.join(f'{one:g}' for one in THRESHOLDS[kind])} {unit}" for kind, unit in kinds]  # type: ignore[index]
    return f"Inaccuracy, mistake, blunder: {'; exactly, '.join(said)}. To throw away a win or a draw is a blunder."
