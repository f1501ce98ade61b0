"""epoch_loss.csv in the folder of a level: the losses of each epoch of its training, a row per epoch."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from selfplay.errors import InvalidFileError
from selfplay.files import read_text
from selfplay.training.fitting import EpochLoss, LossParts

COLUMNS = [name for name in EpochLoss._fields if name != "parts"]
HEADER = ",".join(COLUMNS)
HEADER_WITH_PARTS = ",".join([*COLUMNS, *LossParts._fields])
"""The header where a policy was trained."""


def write_epoch_losses(path: Path, losses: Sequence[EpochLoss]) -> None:
    """Write the table to `path`. Raises OSError."""
    header = HEADER_WITH_PARTS if any(loss.parts for loss in losses) else HEADER
    rows = [(*loss[: len(COLUMNS)], *(loss.parts or ())) for loss in losses]
    path.write_text("".join(f"{line}\n" for line in [header, *(",".join(map(str, row)) for row in rows)]))


def read_epoch_losses(path: Path) -> list[EpochLoss]:
    """The rows of the table at `path`: one or more, with epochs counted from 1.

    Raises InvalidFileError if the file is missing, empty, truncated or not such a table, or a value is out of range.
    """
    text = read_text(path)
    header, *lines = text.splitlines() or [""]
    if header not in (HEADER, HEADER_WITH_PARTS):
        raise InvalidFileError(path, f"its first line is not {HEADER}")
    if not lines or not text.endswith("\n"):
        raise InvalidFileError(
            path, "is cut off in its last row, or has no rows; train the level again with force=true"
        )
    return [_epoch_loss(path, header, epoch, line) for epoch, line in enumerate(lines, start=1)]


def _epoch_loss(path: Path, header: str, epoch: int, line: str) -> EpochLoss:
    try:
        number, training_loss, validation_loss, is_champion, *others = line.split(",")
        losses = [float(loss) for loss in (training_loss, validation_loss, *others)]
        is_row = int(number) == epoch and is_champion in ("True", "False") and line.count(",") == header.count(",")
    except ValueError:
        is_row = False
    if not is_row:
        raise InvalidFileError(path, f"row {epoch} is not a row of {header}, of epoch {epoch}")
    if not all(isfinite(loss) and loss >= 0 for loss in losses):
        raise InvalidFileError(path, f"a loss of epoch {epoch} is not a number of at least 0")
    training, validation, *parts = losses
    return EpochLoss(epoch, training, validation, is_champion == "True", LossParts(*parts) if parts else None)
