"""The values that a level has learned, as an evaluation for searches."""

import math
from pathlib import Path

from selfplay.architectures.capabilities import CompiledValues, FeatureWeights
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import Game, make_game
from selfplay.runs.checkpoints import Checkpoint, load_checkpoint
from selfplay.runs.learned_agent import LearnedAgent
from selfplay.runs.pretrained import pretrained_agent
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import sha256
from selfplay.search.evaluation import Evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.pattern_evaluation import PatternEvaluation, PatternTables
from selfplay.search.probcut_files import ProbCut, read_probcut
from selfplay.settings.choices import OUTCOMES
from selfplay.settings.command_lines import command_line

POINTS_IN_A_WIN = 1000
"""The value of a win, in points at the end of a match."""


def learned_evaluation(path: Path, game: Game) -> FeatureEvaluation:
    """The evaluation by features that the checkpoint at `path` has learned, for positions of `game`.

    Unfinished positions have the value that the network gives them. A win is worth the smallest power of ten above the
    value of every such position, so that a search prefers a win to any unfinished position. Among won matches it
    prefers those with more points.

    Raises InvalidFileError if the file is broken, or its network is not a weighted sum of features.
    """
    return _feature_evaluation(load_checkpoint(path, game), path, game)


def _feature_evaluation(checkpoint: Checkpoint, path: Path, game: Game) -> FeatureEvaluation:
    network = checkpoint.network
    if not isinstance(network, FeatureWeights):
        name = checkpoint.metadata["architecture"]["name"]
        raise InvalidFileError(path, f"architecture={name} has no feature weights; train with othello_features")
    weights = network.feature_weights()
    # No feature exceeds the number of squares: features count squares, and those that count some twice count few.
    largest = (game.num_squares or 0) * sum(map(abs, weights.values()))
    win = 10.0 ** max(0, math.floor(math.log10(largest)) + 1) if largest > 0 else 1.0
    return FeatureEvaluation(str(path), game.name, win, win / POINTS_IN_A_WIN, weights)


def compiled_evaluation(checkpoint: Checkpoint, game: Game, name: str) -> Evaluation | None:
    """The values of the network of a level, computed by compiled searches; None if they cannot compute them."""
    if not isinstance(checkpoint.network, CompiledValues):
        return None
    win, margin = OUTCOMES[checkpoint.metadata["outcome"]](game)
    return checkpoint.network.evaluation(name, game, win, margin)


def level_evaluation(run_dir: str | Path, level: int, game: Game) -> Evaluation | None:
    """The evaluation that a level of a run has learned, for compiled searches: by features, or by its whole network.

    Returns:
        None if compiled searches can compute neither.

    Raises:
        StageError: the run does not have this level.
        InvalidFileError: its file is broken or belongs to another game.
    """
    run = RunFolder(Path(run_dir))
    run.check_level(level)
    path = run.agent(level)
    checkpoint = load_checkpoint(path, game)
    if isinstance(checkpoint.network, FeatureWeights):
        return _feature_evaluation(checkpoint, path, game)
    return compiled_evaluation(checkpoint, game, f"level:{level}")


def pretrained_othello_tables() -> PatternTables | None:
    """The tables of the agent for Othello that comes with the program; None if its network has no tables."""
    agent, game = pretrained_agent("othello"), make_game("othello")
    evaluation = level_evaluation(agent.run_dir, agent.level, game)
    return evaluation.tables if isinstance(evaluation, PatternEvaluation) else None


def agent_probcut(agent: LearnedAgent, game: Game, threshold: float, player: str) -> ProbCut:
    """ProbCut with the parameters that were fitted to an agent, for the player with this name.

    Raises:
        SettingError: none were fitted, or only to earlier weights.
        InvalidFileError: their file is broken.
    """
    path = RunFolder(agent.run_dir).probcut(agent.level)
    fit = f"run {command_line('fit-probcut')} game={game.name} level={agent.level} run_dir={agent.run_dir}"
    if not path.exists():
        raise SettingError(f"player {player!r}: probcut was not fitted to this agent; {fit}")
    parameters = read_probcut(path)
    if parameters.agent_sha256 != sha256(agent.path):
        raise SettingError(f"player {player!r}: {path} was fitted to other weights; {fit} again")
    return ProbCut(parameters, threshold)
