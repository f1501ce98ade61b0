"""The stages of a run: play the matches of a level, train the next one on them, and so on.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. Each stage leaves its files whole and says so in the level's manifest; a stage that finds
its files there does nothing.
"""

import logging
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.errors import SettingError, StageError
from selfplay.generation import generate_level
from selfplay.progress import NoProgress, ProgressBar
from selfplay.run_folder import Manifest, RunFolder, sha256, written_whole
from selfplay.settings import Settings
from selfplay.tensorboard_events import add_missing_events, epoch_events

# A stage that has nothing to do should not wait for torch: what computes is imported where it is used.
if TYPE_CHECKING:
    from selfplay.expectations import Rows
    from selfplay.training import EpochLoss

log = logging.getLogger(__name__)

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
    for earlier in _levels_to_train_on(settings, level):
        if not (path := run.dataset(earlier, settings.dataset.format)).exists():
            raise StageError(f"{path} is not there; generate the matches of level {earlier} first")
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
        "dataset_sha256": sha256(run.dataset(level - 1, settings.dataset.format)),
    }
    if settings.dataset.replay:
        earlier = _levels_to_train_on(settings, level)[:-1]
        record["replayed_sha256"] = [sha256(run.dataset(number, settings.dataset.format)) for number in earlier]
    if _starts_from_previous(settings, level):
        record["start_sha256"] = sha256(run.agent(level - 1))
    return record


def _starts_from_previous(settings: Settings, level: int) -> bool:
    return level > 1 and settings.training.start == "previous"


def _levels_to_train_on(settings: Settings, level: int) -> list[int]:
    """Those whose matches level `level` is trained on, the newest last."""
    return list(range(max(0, level - 1 - settings.dataset.replay), level))


def _dataset_to_train_on(settings: Settings, run: RunFolder, level: int) -> "Rows":
    from selfplay.expectations import concatenated

    parts = [_own_dataset(settings, run, number) for number in _levels_to_train_on(settings, level)]
    # Matches of different levels keep different numbers, so that each is held out or not by itself.
    parts = [rows._replace(match=rows.match + number * settings.matches) for number, rows in enumerate(parts)]
    return concatenated(parts)


def _own_dataset(settings: Settings, run: RunFolder, level: int) -> "Rows":
    from math import prod

    from selfplay.dataset import read_dataset
    from selfplay.games import make_game

    path = run.dataset(level, settings.dataset.format)
    rows = read_dataset(path, prod(make_game(settings.game.name).observation_shape))
    section = Manifest(path.parent).sections.get("generation")
    if section is None or section["files"].get(path.name) != sha256(path):
        raise StageError(f"{path} is not the file that its manifest describes; generate it again with force=true")
    return rows


def _train_and_save(settings: Settings, run: RunFolder, level: int, rows: "Rows", progress: ProgressBar) -> None:
    import torch

    from architectures import build_network
    from selfplay.checkpoints import load_checkpoint, save_checkpoint
    from selfplay.devices import CPU, chosen_device
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
    if _starts_from_previous(settings, level):
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
        device = CPU if settings.training.optimizer.name == "sgd" else chosen_device(settings.device)
        losses = train(network, rows, settings.training, symmetries, shape, key, on_epoch, level=level, device=device)
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
