"""The stages of a run: play the matches of a level, train the next one on them, and so on.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. Each stage leaves its files whole and says so in the level's manifest; a stage that finds
its files there does nothing.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from selfplay.errors import SettingError, StageError
from selfplay.level_players import exploring_player
from selfplay.run_folder import Manifest, RunFolder, sha256, written_whole
from selfplay.settings import Settings
from selfplay.tensorboard_events import add_missing_events, epoch_events

# A stage that has nothing to do should not wait for torch: what computes is imported where it is used.
if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfplay.expectations import Rows, Viewpoints
    from selfplay.training import EpochLoss

log = logging.getLogger(__name__)

ProgressBar = Callable[..., Any]
"""Makes a progress bar as tqdm does: called with total= and desc=, it has update(n) and close()."""


class NoProgress:
    """A progress bar that shows nothing."""

    def __init__(self, *, total: int, desc: str) -> None:
        pass

    def update(self, count: int) -> None:
        """Nothing to show."""

    def close(self) -> None:
        """Nothing to close."""


# ---------------------------------------------------------------------- stage 1: matches


class Shard(NamedTuple):
    """A part of a level's matches, to be played in one go."""

    settings: Settings
    level: int
    matches: range


def generate_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> bool:
    """Play the matches of `level` against itself and write its dataset.csv; returns False if it was there already.

    Raises:
        StageError: the level is not there, or its dataset was made with other settings.
    """
    run = RunFolder(Path(settings.run_dir))
    if level > 0:
        run.check_level(level)
    manifest = Manifest(run.level(level))
    record = _generation_record(settings, run, level)
    if manifest.is_done("generation", record, force=settings.force):
        log.info("level %d: its matches are there", level)
        return False
    manifest.forget("generation")
    rows = _write_matches(settings, run, level, progress)
    manifest.record("generation", record, {"matches": settings.matches, "rows": rows}, ["dataset.csv"])
    return True


def _generation_record(settings: Settings, run: RunFolder, level: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "game": settings.game.name,
        "level": level,
        "seed": settings.seed,
        "matches": settings.matches,
        "gamma": settings.gamma,
        "viewpoints": settings.viewpoints,
        "outcome": settings.outcome,
    }
    if level > 0:
        record |= {
            "epsilons": list(settings.epsilons),
            "player": asdict(settings.player),
            "threads": settings.threads,
            "agent_sha256": sha256(run.agent(level)),
        }
    return record


def _write_matches(settings: Settings, run: RunFolder, level: int, progress: ProgressBar) -> int:
    from math import prod

    from selfplay.dataset import write_dataset
    from selfplay.executors import map_tasks
    from selfplay.games import make_game

    start = time.perf_counter()
    game = make_game(settings.game.name)
    workers = settings.executor.workers
    bounds = [settings.matches * part // workers for part in range(workers + 1)]
    shards = [Shard(settings, level, range(*pair)) for pair in pairwise(bounds)]
    bar = progress(total=settings.matches, desc=f"level {level}: matches")

    def counted(parts: "Iterable[list[Rows]]") -> "Iterator[Rows]":
        for shard, rows in zip(shards, parts, strict=True):
            yield from rows
            bar.update(len(shard.matches))

    try:
        with written_whole(run.dataset(level)) as beside:
            parts = map_tasks(settings.executor, play_shard, shards)
            rows = write_dataset(beside, counted(parts), prod(game.observation_shape))
    finally:
        bar.close()
    seconds = time.perf_counter() - start
    log.info("level %d: played %d matches, %d rows (%.2f s)", level, settings.matches, rows, seconds)
    return rows


def play_shard(shard: Shard) -> "list[Rows]":
    """The rows of the shard's matches, a part a batch."""
    import torch

    from selfplay.arena import play_matches
    from selfplay.expectations import expectation_rows
    from selfplay.games import make_game
    from selfplay.randomness import Activity, stream_key

    settings = shard.settings
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    player = exploring_player(settings, game, shard.level)
    key = stream_key(settings.seed, shard.level, Activity.GENERATION)
    records = play_matches(game, (player, player), shard.matches, key, batch_size=settings.batch_size)
    viewpoints = cast("Viewpoints", settings.viewpoints)
    return [expectation_rows(game, record, settings.gamma, viewpoints, settings.outcome) for record in records]


# ---------------------------------------------------------------------- stage 2: training


def train_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> bool:
    """Train `level` on the dataset of the level before it, from that level's weights; False if it was there already.

    Raises:
        SettingError: level 0, which is not trained.
        StageError: the dataset or the weights to start from are not there, or the level was made with other settings.
        InvalidFileError: the dataset is broken.
    """
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    run = RunFolder(Path(settings.run_dir))
    if level > 1:
        run.check_level(level - 1)
    if not run.dataset(level - 1).exists():
        raise StageError(f"{run.dataset(level - 1)} is not there; generate the matches of level {level - 1} first")
    manifest = Manifest(run.level(level))
    record = _training_record(settings, run, level)
    if manifest.is_done("training", record, force=settings.force):
        log.info("level %d: it is trained", level)
        add_missing_events(settings, level)
        return False
    rows = _dataset_to_train_on(settings, run, level)
    manifest.forget("training")
    _train_and_save(settings, run, level, rows, progress)
    manifest.record("training", record, {"rows": len(rows.match)}, ["agent.safetensors", "epoch_loss.csv"])
    return True


def _training_record(settings: Settings, run: RunFolder, level: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "game": settings.game.name,
        "level": level,
        "seed": settings.seed,
        "architecture": settings.architecture,
        "training": asdict(settings.training),
        "outcome": settings.outcome,
        "threads": settings.threads,
        "dataset_sha256": sha256(run.dataset(level - 1)),
    }
    if level > 1:
        record["start_sha256"] = sha256(run.agent(level - 1))
    return record


def _dataset_to_train_on(settings: Settings, run: RunFolder, level: int) -> "Rows":
    from math import prod

    from selfplay.dataset import read_dataset
    from selfplay.games import make_game

    path = run.dataset(level - 1)
    rows = read_dataset(path, prod(make_game(settings.game.name).observation_shape))
    section = Manifest(path.parent).sections.get("generation")
    if section is None or section["files"].get(path.name) != sha256(path):
        raise StageError(f"{path} is not the file that its manifest describes; generate it again with force=true")
    return rows


def _train_and_save(settings: Settings, run: RunFolder, level: int, rows: "Rows", progress: ProgressBar) -> None:
    import torch

    from architectures import build_network
    from selfplay.checkpoints import load_checkpoint, save_checkpoint
    from selfplay.games import make_game
    from selfplay.loss_files import write_epoch_losses
    from selfplay.randomness import Activity, Purpose, single_word, stream_key
    from selfplay.training import seeded, train

    start = time.perf_counter()
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    key = stream_key(settings.seed, level, Activity.TRAINING)
    with seeded(single_word(key, Purpose.INITIAL_WEIGHTS)):
        network = build_network(settings.architecture, game.observation_shape)
    if level > 1:
        earlier = load_checkpoint(run.agent(level - 1), game)
        if earlier.metadata["architecture"] != settings.architecture:
            raise StageError(
                f"{run.agent(level - 1)} has the architecture {earlier.metadata['architecture']}, "
                f"not {settings.architecture}; give another run_dir"
            )
        network.load_state_dict(earlier.network.state_dict())
    bar = progress(total=settings.training.epochs, desc=f"level {level}: epochs")
    with epoch_events(settings, level) as write_events:

        def on_epoch(loss: "EpochLoss") -> None:
            bar.update(1)
            write_events(loss)

        symmetries, shape = game.symmetries, game.observation_shape
        losses = train(network, rows, settings.training, symmetries, shape, key, on_epoch, level=level)
    bar.close()
    with written_whole(run.agent(level)) as beside:
        training = asdict(settings.training)
        save_checkpoint(beside, network, game, level, settings.architecture, training, settings.outcome)
    with written_whole(run.epoch_loss(level)) as beside:
        write_epoch_losses(beside, losses)
    best, seconds = min(loss.validation_loss for loss in losses), time.perf_counter() - start
    log.info("level %d: trained on %d rows, validation loss %.4f (%.2f s)", level, len(rows.match), best, seconds)


# ---------------------------------------------------------------------- the loop


def learn_levels(settings: Settings, progress: ProgressBar = NoProgress) -> None:
    """Levels 1 to `settings.levels`, one after the other: the same stages and bytes as the shell loop."""
    for level in range(settings.levels):
        generate_level(settings, level, progress)
        train_level(settings, level + 1, progress)
