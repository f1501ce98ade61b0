"""The evaluator by the values of the positions that the actions lead to, for evaluations that compiled searches use.

An action is worth minus the value of the position that it leads to, or its exact value if it ends the match. Priors are
softmax(values of actions / temperature), and the position is worth the value of its best action.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled, register_rules
from selfplay.games.game import Game
from selfplay.games.match_outcome import EndValues
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, Evaluation, EvaluationParameters, finished_value
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.tree import Edges
from selfplay.settings.checks import require_above_0

PRIOR_TEMPERATURE = 0.1
"""Of two actions whose values differ by 0.1, the better one has e times the prior."""


class AfterstateEvaluator:
    """Values and priors from an evaluation of afterstates.

    Args:
        evaluation: its values are from -1 to 1, as those of tables.
        ends: the values of finished matches.
        temperature: of the priors, above 0.

    Raises SettingError if the temperature is out of range.
    """

    is_random = False

    def __init__(self, evaluation: Evaluation, ends: EndValues, temperature: float = PRIOR_TEMPERATURE) -> None:
        require_above_0("prior_temperature", temperature)
        self.evaluation, self.ends, self.temperature = evaluation, ends, float(temperature)
        self.name = evaluation.name

    def position_value(self, game: Game) -> CompiledPositionValue:
        return _compile_afterstates(game.rules, self.evaluation.unfinished_value(game))

    def parameters(self, game: Game) -> tuple[float, EvaluationParameters]:
        """Raises SettingError if the evaluation does not fit the game."""
        return self.temperature, self.evaluation.parameters(game)


@cache
def _compile_afterstates(rules: Rules, unfinished_value: CompiledValue) -> CompiledPositionValue:
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end = finished_value(rules)
    register_rules()

    @part_of_compiled
    def value(
        own: int,
        opp: int,
        edges: Edges,
        word: int,
        parameters: tuple[float, EvaluationParameters],
        logits: NDArray[np.float64],
    ) -> float:
        temperature, (finished, unfinished) = parameters
        best = -np.inf
        for i in range(len(edges)):
            move = edges[i].move
            mine, other = play(own, opp, move)
            if legal_actions(mine, other) == 0 and is_terminal(mine, other):
                action_value = 0.0 - value_at_end(mine, other, finished)
            else:
                action_value = 0.0 - unfinished_value(mine, other, unfinished)
            logits[i] = action_value / temperature
            best = max(best, action_value)
        return best

    found: Callable[..., float] = value
    return found
