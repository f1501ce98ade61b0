"""Values of a network mixed with the returns of random matches, as in the first AlphaGo (Silver et al., "Mastering the
game of Go with deep neural networks and tree search", Nature 529, 2016)."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import LARGEST_COUNT, Range
from selfplay.compute.compilation import part_of_compiled
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.rules import Position, Rules
from selfplay.search.mcts.evaluator import (
    BatchEvaluator,
    CompiledEvaluator,
    CompiledPositionValue,
    compile_rollouts,
    parts_of_evaluator,
)
from selfplay.search.mcts.tree import Edges


class MixedEvaluator:
    """The priors of another evaluator, and (1 - share) * its value + share * the mean return of random matches.

    Args:
        evaluator: is compiled into searches, and values finished matches as random matches do.
        share: of random matches, 0 to 1.
        rollouts: random matches for each position.

    Raises SettingError if an argument is out of range, or the evaluator is not compiled.
    """

    is_random = True

    def __init__(self, evaluator: BatchEvaluator | CompiledEvaluator, share: float, rollouts: int = 1) -> None:
        Range(0, 1).check("rollout_share", share)
        Range(1, LARGEST_COUNT).check("rollouts", rollouts)
        parts = parts_of_evaluator(evaluator)
        if parts.position_value is None:
            raise SettingError(f"rollout_share={share:g}: {parts.name} is not computed inside compiled searches")
        self._parts, self._position_value = parts, parts.position_value
        self.share, self.rollouts = float(share), rollouts
        self.name, self.ends = f"{parts.name} and {rollouts} rollouts", parts.ends

    def position_value(self, game: Game) -> CompiledPositionValue:
        return _compile_mixed(game.compiled_rules, game.pass_action, self._position_value(game))

    def parameters(self, game: Game) -> tuple[float, int, Any]:
        return self.share, self.rollouts, self._parts.parameters(game)


@cache
def _compile_mixed(rules: Rules, pass_action: int | None, other: CompiledPositionValue) -> CompiledPositionValue:
    random_matches: Callable[..., float] = compile_rollouts(rules, pass_action)

    @part_of_compiled
    def value(
        position: Position, edges: Edges, bits: int, parameters: tuple[float, int, Any], logits: NDArray[np.float64]
    ) -> float:
        share, rollouts, of_other = parameters
        of_matches = random_matches(position, edges, bits, rollouts, logits)
        return (1.0 - share) * other(position, edges, bits, of_other, logits) + share * of_matches

    return value
