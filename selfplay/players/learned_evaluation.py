"""Evaluations for searches out of what a level has learned: weights of features, or tables of patterns."""

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from selfplay.errors import InvalidFileError
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.choices import OUTCOMES

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.runs.checkpoints import Checkpoint
    from selfplay.search.evaluation import Evaluation, Valuation
    from selfplay.search.pattern_evaluation import PatternEvaluation

log = logging.getLogger(__name__)


@runtime_checkable
class WeightedFeatures(Protocol):
    """A network that sums up features, each times its weight."""

    def feature_weights(self) -> dict[str, float]:
        """The weight of each feature by its name, to the player to move."""


def learned_evaluation(path: Path, game: "Game") -> "Evaluation":
    """The weights of the features in the checkpoint at `path`, as an evaluation of the positions of `game`.

    Open positions have the value that the network gives them. A win is worth the least power of ten that no open
    position can exceed, so that a search prefers a won match to any promise of one; of won matches it prefers those
    by more points, a thousandth of a win each.

    Raises InvalidFileError if the file is broken, or its network is no weighted sum of features.
    """
    from selfplay.runs.checkpoints import load_checkpoint
    from selfplay.search.evaluation import Evaluation

    checkpoint = load_checkpoint(path, game)
    if not isinstance(checkpoint.network, WeightedFeatures):
        name = checkpoint.metadata["architecture"]["name"]
        raise InvalidFileError(path, f"architecture={name} has no weights of features; learn with othello_features")
    weights = checkpoint.network.feature_weights()
    # No feature exceeds the number of squares: each counts squares, and those that count twice are few.
    largest = (game.num_squares or 0) * sum(map(abs, weights.values()))
    win = 10.0 ** max(0, math.floor(math.log10(largest)) + 1) if largest > 0 else 1.0
    return Evaluation(str(path), game.name, win, win / 1000, weights)


def compiled_evaluation(checkpoint: "Checkpoint", game: "Game", name: str) -> "PatternEvaluation | None":
    """What a level of tables has learned: open positions have the value that its network gives them.

    Returns:
        None if it is another network.
    """
    from selfplay.architectures.ntuple import NTuple
    from selfplay.search.pattern_evaluation import PatternEvaluation

    network = checkpoint.network
    if not isinstance(network, NTuple):
        return None
    ends = OUTCOMES[checkpoint.metadata["outcome"]](game)
    return PatternEvaluation(name, game.name, *ends, network.tables())


def level_evaluation(run_dir: str | Path, level: int, game: "Game") -> "Valuation | None":
    """What a level of a run has learned, for compiled searches: tables of patterns, or weights of features.

    Returns:
        None if it is a network that searches cannot compile.

    Raises:
        StageError: the run has no such level.
        InvalidFileError: its file is broken or belongs to another game.
    """
    from selfplay.runs.checkpoints import load_checkpoint

    run = RunFolder(Path(run_dir))
    run.check_level(level)
    checkpoint = load_checkpoint(run.agent(level), game)
    if isinstance(checkpoint.network, WeightedFeatures):
        return learned_evaluation(run.agent(level), game)
    return compiled_evaluation(checkpoint, game, f"level:{level}")
