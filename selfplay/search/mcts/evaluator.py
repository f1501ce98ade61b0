"""What a tree search needs to know of networks, tables and rollouts: the value of a position and the prior of actions.

An evaluator is one of two kinds. A `BatchEvaluator` is asked for the leaves of all trees at the same time, equal ones
once. A `CompiledEvaluator` is compiled into the search, which then runs without returning to Python.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from selfplay.games.game import Game
from selfplay.games.match_outcome import EndValues
from selfplay.games.state import State

CompiledPositionValue = Callable[..., float]
"""(own, opp, edges, word, parameters, logits) to the value of an unfinished position to the player to move.

It writes the logit of the prior of each edge (`selfplay.search.mcts.tree.Edge`) into `logits` (float64). `word` is a
random int64 that no other position of any search shares, except where a match, ply and seed are the same.
"""


class PositionValues(NamedTuple):
    """What a `BatchEvaluator` knows of N unfinished positions."""

    value: Tensor
    """float[N], in [-1, 1]: the expected outcome for the player to move."""
    logits: Tensor
    """float[N, A]: softmax over the legal actions gives the priors; ignored where illegal."""


class Evaluator(Protocol):
    """Common to both kinds."""

    name: str
    ends: EndValues
    """The values of finished matches; those of unfinished positions have the same scale, -1 to 1."""


@runtime_checkable
class BatchEvaluator(Evaluator, Protocol):
    """Evaluates batches of positions. What it says of one must not depend on the others."""

    def evaluate(self, state: State) -> PositionValues:
        """The values of unfinished positions, which are on the CPU."""


@runtime_checkable
class CompiledEvaluator(Evaluator, Protocol):
    """Evaluates positions inside the compiled search."""

    is_random: bool
    """Whether it uses its random word."""

    def position_value(self, game: Game) -> CompiledPositionValue:
        """The compiled function; every call returns the same function."""

    def parameters(self, game: Game) -> Any:
        """New parameters for one search. Raises SettingError if the evaluator does not fit the game."""
