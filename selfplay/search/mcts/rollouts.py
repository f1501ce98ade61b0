"""The evaluator that plays random matches from a position to their ends, and considers all actions equally probable."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled, register_rules
from selfplay.compute.random_numbers import below, fold
from selfplay.games.game import Game
from selfplay.games.match_outcome import EndValues
from selfplay.games.rules import Rules
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.tree import Edges
from selfplay.settings.checks import require_count


class RolloutEvaluator:
    """The mean return of `rollouts` random matches. Raises SettingError unless there is at least one."""

    name = "rollouts"
    ends = EndValues(win=1.0, point=0.0)
    is_random = True

    def __init__(self, rollouts: int = 1) -> None:
        require_count("rollouts", rollouts, 1)
        self.rollouts = rollouts

    def position_value(self, game: Game) -> CompiledPositionValue:
        return _compile_rollouts(game.rules)

    def parameters(self, game: Game) -> int:
        """The number of random matches."""
        return self.rollouts


@cache
def _compile_rollouts(rules: Rules) -> CompiledPositionValue:
    legal_actions, play, is_terminal, return_to_move = (
        rules.legal_actions,
        rules.play,
        rules.is_terminal,
        rules.return_to_move,
    )
    register_rules()

    @part_of_compiled
    def random_move(bits: int, word: int) -> int:
        """One of the set bits as a word, each equally likely."""
        for _ in range(below(word, bit_count(bits))):
            bits &= bits - 1
        return bits & -bits

    @part_of_compiled
    def rollout(own: int, opp: int, word: int) -> float:
        """The return of the player to move after random actions of both players."""
        ply = 0
        while True:
            bits = legal_actions(own, opp)
            if bits == 0 and is_terminal(own, opp):
                break
            own, opp = play(own, opp, random_move(bits, fold(word, ply)) if bits != 0 else np.int64(0))
            ply += 1
        value = float(return_to_move(own, opp))
        return value if ply % 2 == 0 else 0.0 - value

    @part_of_compiled
    def value(own: int, opp: int, edges: Edges, word: int, rollouts: int, logits: NDArray[np.float64]) -> float:
        logits[: len(edges)] = 0.0
        total = 0.0
        for number in range(rollouts):
            total += rollout(own, opp, fold(word, number))
        return total / rollouts

    found: Callable[..., float] = value
    return found
