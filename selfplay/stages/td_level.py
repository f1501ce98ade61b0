"""The computation of the training stage with learning=td: a level plays against itself and learns from each match.

The agent has the mean of the weights that the level had while it learned, as float16 numbers; learner.safetensors has
the last weights, with which the next level begins.
"""

import time
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save
from torch import nn

from selfplay.architectures.capabilities import TableWeights
from selfplay.errors import InvalidFileError, shortened
from selfplay.files import read_bytes
from selfplay.games import Game
from selfplay.games.outcomes import OUTCOMES
from selfplay.games.patterns import TrainableTables
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import Checkpoint
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import check_against_manifest
from selfplay.settings.context import RunContext
from selfplay.settings.run import Settings
from selfplay.stages.dataset_players import exploring_agent
from selfplay.training.fitting import LOSS_DECIMALS, EpochLoss, FittedLevel
from selfplay.training.saved_lessons import are_reasonable
from selfplay.training.td_learning import td_learn, unchanged

WEIGHTS, CHANGES = "weights", "changes"
REMEDY = "delete it, or train again"


def learn_level(
    context: RunContext[Settings],
    level: int,
    network: nn.Module,
    learner: Path | None,
    progress: ProgressBar = NoProgress,
) -> FittedLevel:
    """Play the matches of a level and learn from them.

    Args:
        network: tables with the weights that it starts from, which are changed in place.
        learner: learner.safetensors of the level before; None: the weights of `network` and the largest step sizes.
        progress: as for `selfplay.stages.train.train_level`.

    Raises:
        InvalidFileError: a file of the level before is broken.
    """
    began, settings, game = time.perf_counter(), context.settings.for_level(level), context.game
    assert isinstance(network, TableWeights), "see check_run"
    tables = network.trainable_tables()
    changes = unchanged(tables) if learner is None else read_learner(learner, tables)
    make_player = None if settings.self_play is None else partial(searching_level, settings, game, network)
    with closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar:
        error, rows, mean = td_learn(
            game,
            tables,
            settings.matches,
            settings.td,
            gamma=settings.gamma,
            epsilons=settings.epsilons,
            outcome=OUTCOMES[settings.outcome],
            exact_from=settings.exact_from,
            opening_plies=settings.opening_plies,
            make_player=make_player,
            seed=settings.seed,
            level=level,
            changes=changes,
            on_round=bar.update,
        )
    loss = EpochLoss(1, round(error, LOSS_DECIMALS), round(error, LOSS_DECIMALS), is_champion=True)
    learner_file = save({WEIGHTS: tables.weights, CHANGES: changes})
    tables.weights[:] = mean
    return FittedLevel(network.half(), game, [loss], rows, time.perf_counter() - began, learner_file)


def searching_level(settings: Settings, game: Game, network: nn.Module) -> Player:
    """The player `self_play` with the present weights of a network, as it plays matches that are learned from."""
    return exploring_agent(settings, Agent(Checkpoint(network, {"outcome": settings.outcome}), game, "the level"))


def read_learner(path: Path, tables: TrainableTables) -> NDArray[np.float32]:
    """Read learner.safetensors: the weights into `tables`, and `changes` as for `td_learn`.

    Raises InvalidFileError if the file is broken or does not fit the tables.
    """
    check_against_manifest(path)
    try:
        arrays = load(read_bytes(path))
    except SafetensorError as error:
        raise InvalidFileError(path, f"cannot be read: {shortened(error)}") from error
    single = np.dtype(np.float32)
    expected = {WEIGHTS: (tables.weights.shape, single), CHANGES: ((*tables.weights.shape, 2), single)}
    if {name: (array.shape, array.dtype) for name, array in arrays.items()} != expected:
        raise InvalidFileError(path, f"does not fit the tables of the agent beside it; {REMEDY}")
    weights, changes = arrays[WEIGHTS], arrays[CHANGES]
    sums, sizes = changes[..., 0], changes[..., 1]
    if not (are_reasonable(weights) and are_reasonable(changes) and ((abs(sums) <= sizes) & (sizes > 0)).all()):
        raise InvalidFileError(path, f"has numbers that training does not give; {REMEDY}")
    tables.weights[:] = weights
    return changes
