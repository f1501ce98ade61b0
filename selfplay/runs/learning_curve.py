"""The table of a tabular learner's matches: how many there were so far, and how many each player won."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.runs.command_lines import command_line
from selfplay.tables import COUNT, Columns, read_rows

CURVE_COLUMNS: Columns = dict.fromkeys(("matches", "first_won", "drawn", "second_won"), COUNT)
CURVE_TABLE = f"a table of learned matches; {command_line('train-tabular')} with force=true learns them again"


def read_curve(path: Path) -> NDArray[np.int64]:
    """int64[N, 4]: the rows of the table. Raises InvalidFileError if they do not count matches."""
    fields: list[list[Any]] = [list(row.values()) for row in read_rows(path, CURVE_COLUMNS, CURVE_TABLE)]
    is_whole = all(len(row) == len(CURVE_COLUMNS) and None not in row for row in fields)
    rows = np.array(fields if is_whole else [[0] * len(CURVE_COLUMNS)], dtype=np.int64)
    steps = np.diff(rows, axis=0, prepend=0)
    if not ((steps[:, 0] > 0) & (steps >= 0).all(axis=1) & (steps[:, 0] == steps[:, 1:].sum(axis=1))).all():
        what, _, remedy = CURVE_TABLE.partition("; ")
        raise InvalidFileError(path, f"is not {what} (its numbers are not counts that rise); {remedy}")
    return rows
