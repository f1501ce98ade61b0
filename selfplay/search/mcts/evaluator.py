"""What a tree search needs to know of networks, tables and rollouts: the value of a position and the prior of actions.

There are two kinds of evaluators. A `BatchEvaluator` evaluates the leaves of all trees at the same time, and equal
leaves once. A `CompiledEvaluator` is compiled into the search, which then runs without returning to Python. This file
has two of these: random matches, and the values of afterstates.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, inf

from selfplay.checks import LARGEST_COUNT, Range
from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import nth_bit, part
from selfplay.compute.random_numbers import below, fold
from selfplay.error_places import is_outside
from selfplay.errors import ConformanceError, SettingError, shortened
from selfplay.games.game import Game
from selfplay.games.general_rules import pass_of
from selfplay.games.outcomes import EndValues
from selfplay.games.rules import Position, Rules, over_of
from selfplay.games.state import State
from selfplay.outside_errors import errors_of_outside
from selfplay.search.evaluation import CompiledValue, Evaluation, EvaluationParameters, finished_value, moves_again
from selfplay.search.mcts.tree import Edges

CompiledPositionValue = Callable[..., float]
"""(position, edges, bits, parameters, logits) to the value of an unfinished position to the player to move.

It writes the logit of the prior of each edge (`selfplay.search.mcts.tree.Edge`) into `logits` (float64). `bits` is a
random int64 that no other position of any search shares, except where a match, ply and seed are the same.
"""


class PositionValues(NamedTuple):
    """The values and policies that a `BatchEvaluator` gives for N unfinished positions."""

    value: Tensor
    """float[N], in [-1, 1]: the expected outcome for the player to move."""
    logits: Tensor
    """float[N, A]: softmax over the legal actions gives the priors; ignored where illegal."""


MATCH_RETURN = EndValues(win=1.0, point=0.0)


class BatchEvaluator(Protocol):
    """Evaluates batches of positions. The result for a position must not depend on the others.

    It can have a `name`, and `ends` (EndValues), the values of finished matches; those of unfinished positions have the
    same scale, -1 to 1. By default these are the name of its class, and 1 for a win and -1 for a loss.
    """

    def evaluate(self, state: State) -> PositionValues:
        """The values of unfinished positions, which are on the CPU."""


class CompiledEvaluator(Protocol):
    """Evaluates positions inside the compiled search.

    It can have `name` and `ends` as a BatchEvaluator, and three attributes more: `is_random`, whether it uses its
    random bits (by default it does not), a method `parameters(game)`, which gives new parameters for one search (by
    default 0) and raises SettingError if the evaluator does not fit the game, and, if it uses nothing of a game but the
    functions of its rules, `position_value_by(rules, pass_action)`, so that it is compiled once for all games
    (`selfplay.games.general_rules`). If the parameters are a named tuple, the compiled function can read only its
    attributes (see `by_reference`).
    """

    def position_value(self, game: Game) -> CompiledPositionValue:
        """The compiled function; every call returns the same function."""


class EvaluatorParts(NamedTuple):
    """What a search needs of an evaluator, with defaults for what it does not have."""

    name: str
    ends: EndValues
    is_random: bool
    evaluate: Callable[[State], PositionValues] | None
    position_value: Callable[[Game], CompiledPositionValue] | None
    parameters: Callable[[Game], Any]
    position_value_by: Callable[[Rules, int | None], CompiledPositionValue] | None


def parts_of_evaluator(evaluator: BatchEvaluator | CompiledEvaluator) -> EvaluatorParts:
    """The parts of an evaluator. Raises SettingError, which names what is missing, if it cannot evaluate positions."""
    name = getattr(evaluator, "name", type(evaluator).__name__)
    evaluate, position_value = (getattr(evaluator, method, None) for method in ("evaluate", "position_value"))
    if not callable(evaluate) and not callable(position_value):
        raise SettingError(f"evaluator {shortened(name)}: has no method evaluate(state) and no position_value(game)")
    ends = getattr(evaluator, "ends", MATCH_RETURN)
    if not isinstance(ends, tuple) or len(ends) != 2:
        raise SettingError(f"evaluator {shortened(name)}: ends={shortened(repr(ends))}: must be EndValues(win, point)")
    if evaluate is not None and is_outside(type(evaluator).__module__):
        evaluate = _reporting(evaluate, str(name), type(evaluator).__module__)
    is_random = position_value is not None and bool(getattr(evaluator, "is_random", False))
    parameters = getattr(evaluator, "parameters", lambda game: 0)
    by_rules = getattr(evaluator, "position_value_by", None)
    return EvaluatorParts(str(name), EndValues(*ends), is_random, evaluate, position_value, parameters, by_rules)


def _reporting(
    evaluate: Callable[[State], PositionValues], name: str, module: str
) -> Callable[[State], PositionValues]:
    """The method of an evaluator from outside this package, whose errors become one line that names its file.

    Numbers that no search can use are errors, too.
    """

    def reporting(state: State) -> PositionValues:
        with errors_of_outside("evaluator", name, module):
            found = evaluate(state)
            for number in _unusable(found):
                raise ConformanceError(f"evaluator {shortened(name)!r}: {number}")
            return found

    return reporting


MOST_VALUE = 1 + 1e-4
"""The largest value of a position, which may be rounded."""


def _unusable(found: object) -> Iterator[str]:
    """What is wrong with the numbers of positions; `checked_values` looks at their shapes."""
    value, logits = found if isinstance(found, tuple) and len(found) == 2 else (None, None)
    if isinstance(value, Tensor) and len(wrong := value[~(value.abs() <= MOST_VALUE)]):
        yield f"must give values from -1 to 1, not {float(wrong[0]):g}"
    if isinstance(logits, Tensor) and bool((logits.isnan() | (logits == inf)).any()):
        yield "must give logits that are numbers, or -inf"


def checked_values(values: PositionValues, name: str, positions: int, num_actions: int) -> tuple[Tensor, Tensor]:
    """What an evaluator gives for this number of positions. Raises SettingError if it has another shape."""
    shapes = [tuple(getattr(part, "shape", ())) for part in values] if isinstance(values, tuple) else []
    if shapes != [(positions,), (positions, num_actions)]:
        wanted = f"PositionValues(value=float[{positions}], logits=float[{positions}, {num_actions}])"
        raise SettingError(f"evaluator {shortened(name)}: evaluate must return {wanted}")
    value, logits = values
    return value.cpu().double(), logits.cpu().double()


class RolloutEvaluator:
    """The mean return of `rollouts` random matches. Raises SettingError unless there is at least one."""

    name = "rollouts"
    ends = MATCH_RETURN
    is_random = True

    def __init__(self, rollouts: int = 1) -> None:
        Range(1, LARGEST_COUNT).check("rollouts", rollouts)
        self.rollouts = rollouts

    def position_value(self, game: Game) -> CompiledPositionValue:
        return self.position_value_by(game.compiled_rules, game.pass_action)

    def position_value_by(self, rules: Rules, pass_action: int | None) -> CompiledPositionValue:
        return compile_rollouts(rules, pass_action)

    def parameters(self, game: Game) -> int:
        """The number of random matches."""
        return self.rollouts


@cache
def compile_rollouts(rules: Rules, pass_action: int | None) -> CompiledPositionValue:
    """The function of `RolloutEvaluator`; its parameter is the number of random matches."""
    _, legal_actions, play, is_terminal, return_to_move, *_ = rules
    is_again, pass_in = moves_again(rules), pass_of(pass_action)

    @part_of_compiled
    def rollout(position: Position, bits: int) -> float:
        """The return of the player to move after random actions of both players."""
        ply = turns = 0
        while True:
            legal = legal_actions(position)
            if legal == 0 and is_terminal(position):
                break
            action = pass_in(position)
            if legal != 0:
                action = nth_bit(legal, below(fold(bits, ply), bit_count(legal)))
            position = play(position, action)
            ply += 1
            turns += not is_again(position)
        value = float(part(return_to_move(position), 0))
        return value if turns % 2 == 0 else 0.0 - value

    @part_of_compiled
    def value(position: Position, edges: Edges, bits: int, rollouts: int, logits: NDArray[np.float64]) -> float:
        logits[: len(edges)] = 0.0
        total = 0.0
        for number in range(rollouts):
            total += rollout(position, fold(bits, number))
        return total / rollouts

    return value


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
        Range(above=0).check("prior_temperature", temperature)
        self.evaluation, self.ends, self.temperature = evaluation, ends, float(temperature)
        self.name = evaluation.name

    def position_value(self, game: Game) -> CompiledPositionValue:
        return compile_afterstates(game.compiled_rules, self.evaluation.unfinished_value(game))

    def parameters(self, game: Game) -> tuple[float, EvaluationParameters]:
        """Raises SettingError if the evaluation does not fit the game."""
        return self.temperature, self.evaluation.parameters(game)


@cache
def compile_afterstates(rules: Rules, unfinished_value: CompiledValue) -> CompiledPositionValue:
    """The function of `AfterstateEvaluator`; its parameters are the temperature and `EvaluationParameters`."""
    play, is_over, value_at_end, is_again = rules.play, over_of(rules), finished_value(rules), moves_again(rules)

    @part_of_compiled
    def value(
        position: Position,
        edges: Edges,
        bits: int,
        parameters: tuple[float, EvaluationParameters],
        logits: NDArray[np.float64],
    ) -> float:
        temperature, (finished, unfinished) = parameters
        best = -np.inf
        for i in range(len(edges)):
            after = play(position, edges[i].action)
            action_value = value_at_end(after, finished) if is_over(after) else unfinished_value(after, unfinished)
            if not is_again(after):
                action_value = 0.0 - action_value
            logits[i] = action_value / temperature
            best = max(best, action_value)
        return best

    return value
