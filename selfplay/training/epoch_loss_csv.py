"""epoch_loss.csv: the losses of each epoch of the training of a level."""

import math
from collections.abc import Sequence
from pathlib import Path

from selfplay.errors import InvalidFileError
from selfplay.input_files import MEGABYTE, read_text
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
    text = read_text(path, 16 * MEGABYTE)
    header, _, body = text.partition("\n")
    if header not in (HEADER, HEADER_WITH_PARTS):
        raise InvalidFileError(path, f"its first line is not {HEADER}")
    if not body:
        raise InvalidFileError(path, "holds no rows; train the level again with force=true")
    if not body.endswith("\n"):
        raise InvalidFileError(path, "is cut off in its last row; train the level again with force=true")
    return [_epoch_loss(path, header, epoch, line) for epoch, line in enumerate(body.splitlines(), start=1)]


def _epoch_loss(path: Path, header: str, epoch: int, line: str) -> EpochLoss:
    try:
        number, training_loss, validation_loss, is_champion, *others = line.split(",")
        row = EpochLoss(int(number), float(training_loss), float(validation_loss), is_champion == "True")
        parts = [float(other) for other in others]
    except ValueError as error:
        raise InvalidFileError(path, f"row {epoch} is not a row of {header}") from error
    if len(COLUMNS) + len(parts) != header.count(",") + 1:
        raise InvalidFileError(path, f"row {epoch} is not a row of {header}")
    if row.epoch != epoch or is_champion not in ("True", "False"):
        raise InvalidFileError(path, f"row {epoch} is not the row of epoch {epoch}")
    if not all(math.isfinite(loss) and loss >= 0 for loss in (*row[1:3], *parts)):
        raise InvalidFileError(path, f"a loss of epoch {epoch} is not a number of at least 0")
    return row._replace(parts=LossParts(*parts)) if parts else row
