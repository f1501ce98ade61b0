"""The stages of a run: play the matches of a level, train the next one on them, and so on.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. Each stage leaves its files whole and says so in the level's manifest; a stage that finds
its files there does nothing.
"""

import logging
import time
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.compute.devices import is_out_of_memory
from selfplay.errors import SettingError, StageError
from selfplay.figures.tensorboard import add_missing_events, epoch_events
from selfplay.process_rank import process_count
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import sha256, written_whole
from selfplay.settings.choices import OPTIMIZERS
from selfplay.settings.run import Settings
from selfplay.training.process_group import ProcessGroup, joined_process_group

# A stage that has nothing to do should not wait for torch: what computes is imported where it is used.
if TYPE_CHECKING:
    from torch import nn

    from selfplay.games import Game
    from selfplay.training.fitting import EpochLoss
    from selfplay.training.rows_in_memory import TrainingRows

log = logging.getLogger(__name__)

# ---------------------------------------------------------------------- stage 2: training


def train_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> bool:
    """Train `level` on the dataset of the level before it, from that level's weights; False if it was there already.

    Processes that torchrun has started train it together; the first of them alone writes, logs and shows progress.

    Raises:
        SettingError: level 0, which is not trained, a device that is not there, or an optimizer that several processes
            cannot share.
        StageError: the dataset or the weights to start from are not there, or the level was made with other settings;
            or the rows do not fit into memory.
        InvalidFileError: the dataset is broken.
    """
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    optimizer = settings.training.optimizer.name
    if process_count() > 1 and OPTIMIZERS[optimizer].one_process_only:
        raise SettingError(f"training.optimizer.name={optimizer} trains in one process: start it without torchrun")
    run = RunFolder(Path(settings.run_dir))
    if level > 1:
        run.check_level(level - 1)
    for earlier in _levels_to_train_on(settings, level):
        if not (path := run.dataset(earlier, settings.dataset.format)).exists():
            raise StageError(f"{path} is not there; generate the matches of level {earlier} first")
    with joined_process_group(settings.device) as processes:
        return _train_together(settings, run, level, progress if processes.is_rank_zero else NoProgress, processes)


def _train_together(
    settings: Settings, run: RunFolder, level: int, progress: ProgressBar, processes: ProcessGroup
) -> bool:
    manifest = Manifest(run.level(level))
    record = _training_record(settings, run, level, processes) if processes.is_rank_zero else {}
    is_done = processes.is_rank_zero and manifest.is_done("training", record, force=settings.force)
    if processes.broadcast(is_done):
        if processes.is_rank_zero:
            log.info("level %d: it is trained", level)
            add_missing_events(settings, level)
        return False
    try:
        rows = _rows_to_train_on(settings, run, level, processes)
        if processes.is_rank_zero:
            manifest.forget("training")
        _train_and_save(settings, run, level, rows, progress, processes)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise StageError(
            f"level {level}: its rows do not fit into memory; dataset.buffer_rows=1000000 reads them as it goes"
        ) from error
    if processes.is_rank_zero:
        manifest.record("training", record, {"rows": rows.num_rows}, ["agent.safetensors", "epoch_loss.csv"])
    return True


def _training_record(settings: Settings, run: RunFolder, level: int, processes: ProcessGroup) -> dict[str, Any]:
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
    # What decides the bytes, but only where it is used.
    if settings.dataset.buffer_rows is not None:
        record["dataset"] = {"buffer_rows": settings.dataset.buffer_rows}
    if processes.world_size > 1:
        record["processes"] = processes.world_size
    if earlier := _levels_to_train_on(settings, level)[:-1]:
        record["replayed_sha256"] = [sha256(run.dataset(number, settings.dataset.format)) for number in earlier]
        # It sets the numbers of their matches apart, by which some are held out.
        record["matches"] = settings.matches
    if _starts_from_previous(settings, level):
        record["start_sha256"] = sha256(run.agent(level - 1))
    return record


def _starts_from_previous(settings: Settings, level: int) -> bool:
    return level > 1 and settings.training.start == "previous"


def _levels_to_train_on(settings: Settings, level: int) -> list[int]:
    """Those whose matches level `level` is trained on, the newest last."""
    return list(range(max(0, level - 1 - settings.dataset.replay), level))


def _rows_to_train_on(settings: Settings, run: RunFolder, level: int, processes: ProcessGroup) -> "TrainingRows":
    from selfplay.dataset.parquet import RowGroups
    from selfplay.dataset.reader import read_parts
    from selfplay.games import make_game
    from selfplay.training.rows_in_memory import RowsInMemory
    from selfplay.training.streaming import StreamedRows

    game, key = make_game(settings.game.name), _key(settings, level)
    paths = [run.dataset(number, settings.dataset.format) for number in _levels_to_train_on(settings, level)]
    codec = game.observation_codec
    buffer_rows, matches = settings.dataset.buffer_rows, settings.matches
    if buffer_rows is not None:
        groups = [RowGroups(path, codec) for path in paths]
        _check_datasets(paths, processes)
        return StreamedRows(groups, matches, settings.training, game, key, buffer_rows, processes)
    # Matches of different levels keep different numbers, so that each is held out or not by itself.
    parts = (
        rows._replace(match=rows.match + number * matches)
        for number, path in enumerate(paths)
        for rows in read_parts(path, codec)
    )
    in_memory = RowsInMemory(parts, settings.training, game, key, processes)
    _check_datasets(paths, processes)
    return in_memory


def _check_datasets(paths: list[Path], processes: ProcessGroup) -> None:
    """Raises StageError for a dataset that is not the one that its level's manifest describes."""
    for path in paths if processes.is_rank_zero else ():
        section = Manifest(path.parent).sections.get("generation", {"files": {}})
        if section["files"].get(path.name) != sha256(path):
            raise StageError(f"{path} is not the file that its manifest describes; generate it again with force=true")


def _key(settings: Settings, level: int) -> int:
    """The stream of random numbers of a level's training."""
    from selfplay.compute.random_numbers import Activity, stream_key

    return stream_key(settings.seed, level, Activity.TRAINING)


def _train_and_save(
    settings: Settings, run: RunFolder, level: int, rows: "TrainingRows", progress: ProgressBar, processes: ProcessGroup
) -> None:
    import torch

    from selfplay.compute.devices import CPU, chosen_device
    from selfplay.games import make_game
    from selfplay.runs.checkpoints import save_checkpoint
    from selfplay.training.fitting import fit
    from selfplay.training.loss_file import write_epoch_losses

    start = time.perf_counter()
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    network = _network_to_train(settings, run, level, game)
    with (
        closing(progress(total=settings.training.epochs, desc=f"level {level}: epochs")) as bar,
        epoch_events(settings, level) if processes.is_rank_zero else nullcontext(lambda _: None) as write_events,
    ):

        def on_epoch(loss: "EpochLoss") -> None:
            bar.update(1)
            write_events(loss)

        shape, key = game.observation_shape, _key(settings, level)
        device = (
            CPU if OPTIMIZERS[settings.training.optimizer.name].runs_on_cpu_only else chosen_device(settings.device)
        )
        losses = fit(
            network, rows, settings.training, shape, key, on_epoch, level=level, processes=processes, device=device
        )
    if not processes.is_rank_zero:
        return
    with written_whole(run.agent(level)) as beside:
        training = asdict(settings.training)
        save_checkpoint(beside, network, game, level, settings.architecture, training, settings.outcome)
    with written_whole(run.epoch_loss(level)) as beside:
        write_epoch_losses(beside, losses)
    best, seconds = min(loss.validation_loss for loss in losses), time.perf_counter() - start
    log.info("level %d: trained on %d rows, validation loss %.4f (%.2f s)", level, rows.num_rows, best, seconds)


def _network_to_train(settings: Settings, run: RunFolder, level: int, game: "Game") -> "nn.Module":
    from selfplay.architectures import build_network
    from selfplay.compute.random_numbers import Purpose, single_word
    from selfplay.runs.checkpoints import load_checkpoint
    from selfplay.training.fitting import seeded

    with seeded(single_word(_key(settings, level), Purpose.INITIAL_WEIGHTS)):
        network = build_network(settings.architecture, game.observation_shape, game.num_distinct_actions)
    if _starts_from_previous(settings, level):
        earlier = load_checkpoint(run.agent(level - 1), game)
        if earlier.metadata["architecture"] != settings.architecture:
            raise StageError(
                f"{run.agent(level - 1)} has the architecture {earlier.metadata['architecture']}, "
                f"not {settings.architecture}; give another run_dir"
            )
        network.load_state_dict(earlier.network.state_dict())
    return network


# ---------------------------------------------------------------------- the loop
