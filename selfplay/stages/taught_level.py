"""The computation of the training stage where a search teaches: from level `expert.from_level` on, with learning=td.

The expert's evaluation is the level before the first that it teaches. learner.safetensors has the lessons, which the
next level continues.
"""

import time
from contextlib import closing
from pathlib import Path

import numba
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from selfplay.errors import InvalidFileError, SettingError, shortened
from selfplay.files import read_bytes
from selfplay.games import Game
from selfplay.named_players.make import files_of_player, make_player
from selfplay.named_players.names import StandIn, parse_name
from selfplay.players.search import SearchPlayer
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import load_agent
from selfplay.runs.manifest import check_against_manifest
from selfplay.settings.context import RunContext
from selfplay.settings.run import Settings
from selfplay.training.expert_iteration import MOST_TRAININGS, learn_from_expert
from selfplay.training.fitting import LOSS_DECIMALS, EpochLoss, FittedLevel
from selfplay.training.lessons import Lessons
from selfplay.training.saved_lessons import checked_lessons


def teach_level(
    context: RunContext[Settings],
    level: int,
    start: Path,
    learner: Path | None,
    progress: ProgressBar = NoProgress,
) -> FittedLevel:
    """Play the matches of a level, walk lines, and learn from the expert what it finds there.

    Args:
        start: the agent of the level before.
        learner: the file beside it, learner.safetensors, if it learned from the same expert.
        progress: as for `selfplay.stages.train.train_level`.

    Raises:
        SettingError: the network, or that of the expert's evaluation, has no tables.
        InvalidFileError: a file of the level before is broken.
    """
    began, settings, game = time.perf_counter(), context.settings, context.game
    agent = load_agent(start, game)
    experts = [expert_of(settings, game) for _ in range(numba.config.NUMBA_NUM_THREADS)]  # type: ignore[attr-defined]
    steps = game.max_game_length + (0 if settings.expert.weights_by_ply else MOST_TRAININGS)
    with closing(progress(total=steps, desc=f"level {level}: plies and trainings")) as bar:
        taught = learn_from_expert(
            agent,
            [expert.searcher for expert in experts],
            experts[0].depth,
            settings.expert.matches,
            settings.expert,
            lessons=None if learner is None else read_lessons(learner, game),
            seed=settings.seed,
            level=level,
            on_step=bar.update,
        )
    loss = EpochLoss(
        1, round(taught.mistakes, LOSS_DECIMALS), round(taught.new_mistakes, LOSS_DECIMALS), is_champion=True
    )
    learner_file = save(dict(taught.lessons._asdict()))
    seconds = time.perf_counter() - began
    return FittedLevel(
        taught.network.half(), game, [loss], taught.positions, seconds, learner_file, taught.architecture
    )


def expert_of(settings: Settings, game: Game, stand_in: StandIn | None = None) -> SearchPlayer:
    """The expert. Raises SettingError if its evaluation cannot be compiled, and as `make_player`."""
    player = make_player(expert_name(settings), game, settings.run_dir, stand_in=stand_in)
    if not isinstance(player, SearchPlayer):
        raise SettingError(
            f"expert.player={settings.expert.player}: its evaluation must be tables (architecture=ntuple)"
        )
    return player


def expert_name(settings: Settings) -> str:
    """The name of the expert with its evaluation."""
    text = settings.expert.player
    assert text is not None, "a level that is taught"
    if "evaluation" in (given := parse_name(text).given):
        return text
    return f"{text}{'&' if given else '?'}evaluation=level:{settings.expert.from_level - 1}"


def expert_files(settings: Settings) -> list[Path]:
    """The files that the expert is made from. Raises as `files_of_player`."""
    return files_of_player(expert_name(settings), settings.run_dir)


def read_lessons(path: Path, game: Game) -> Lessons:
    """Read the lessons in learner.safetensors. Raises InvalidFileError if the file is broken, or is another game's."""
    check_against_manifest(path)
    try:
        arrays = load(read_bytes(path))
    except SafetensorError as error:
        raise InvalidFileError(path, f"cannot be read: {shortened(error)}") from error
    return checked_lessons(path, arrays, game, np.float64, "delete it, or train the level before again")
