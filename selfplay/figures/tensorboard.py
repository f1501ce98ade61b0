"""Event files for TensorBoard, written in addition to the CSV files with logger=tensorboard, and never read.

    RUN_DIR/tensorboard/level_03/      the losses of each epoch of level 3's training
    RUN_DIR/tensorboard/comparison/    the numbers of comparison/levels.csv by level, and the figures

    tensorboard --logdir RUN_DIR/tensorboard

Event files contain times, so manifests do not describe them. A stage empties its folder before it writes, so there are
no duplicates.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame
from PIL import Image

from selfplay.errors import StageError
from selfplay.files import remove_folder
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from selfplay.training.epochs import Callback, Epoch, read_epochs


@contextmanager
def epoch_events(run: RunFolder, level: int) -> Iterator[Callback]:
    """A callback that records what is measured in each epoch of a level's training when the epoch ends.

    Events of an earlier training of the level are deleted. Raises StageError if the files cannot be written.
    """
    with _event_writer(run.level_events(level)) as writer:
        yield _EpochEvents(writer)


class _EpochEvents(Callback):
    """Writes each epoch."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def on_epoch(self, level: int, epoch: Epoch) -> None:
        _write_epoch(self._writer, epoch)


def add_missing_events(run: RunFolder, level: int) -> None:
    """Write the events of a level that was trained without them, from its epoch_loss.csv.

    Raises StageError if they cannot be written, InvalidFileError if epoch_loss.csv is missing or broken.
    """
    folder = run.level_events(level)
    if folder.exists():
        return
    epochs = read_epochs(run.epoch_loss(level))
    # Under its final name the folder contains all epochs of a finished level.
    beside = folder.with_name(f".{folder.name}.partial")
    with _event_writer(beside) as writer:
        for epoch in epochs:
            _write_epoch(writer, epoch)
    beside.replace(folder)


def write_comparison_events(run: RunFolder, settings: Settings, table: DataFrame) -> None:
    """Write the numbers of comparison/levels.csv, a curve by level for each column, and the present figures of the run.

    Numbers are kept in single precision; texts and empty fields are left out. With logger=none nothing is written.
    Raises StageError if the files cannot be written.
    """
    if settings.logger == "none":
        return
    newest = int(table["level"].max())
    with _event_writer(run.events / "comparison") as writer:
        for row in table.to_dict("records"):
            for column, number in row.items():
                # Empty fields are nan, which differs from itself, or not numbers.
                if column != "level" and isinstance(number, Real) and number == number:
                    writer.add_scalar(f"comparison/{column}", float(number), row["level"])
        for path in sorted(run.figures.glob("*.png")):
            with Image.open(path) as image:
                picture = np.asarray(image.convert("RGB"))
            writer.add_image(f"figures/{path.stem}", picture, newest, dataformats="HWC")


def _write_epoch(writer: Any, epoch: Epoch) -> None:
    for section, numbers in (("loss", epoch.measured), ("loss_parts", epoch.parts)):
        for name, value in numbers.items():
            writer.add_scalar(f"{section}/{name.removesuffix('_loss')}", value, epoch.epoch)
    # Makes each epoch visible as soon as it ends.
    writer.flush()


@contextmanager
def _event_writer(folder: Path) -> Iterator[Any]:
    """A TensorBoard writer to `folder`, which is emptied first. Raises StageError if that fails."""
    from torch.utils.tensorboard.writer import SummaryWriter

    try:
        remove_folder(folder)
        with closing(SummaryWriter(folder)) as writer:
            yield writer
            # Raises the errors of the thread that writes.
            writer.flush()
    except OSError as error:
        raise StageError(f"cannot write in {folder}: {error.strerror or error}") from error
