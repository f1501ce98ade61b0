"""Tables of comparisons, tournaments and proofs: what columns are, and how tables are written and read.

A row is a dictionary of fields by column. The columns of a table are listed beside what computes them; docs/tables.md
says what each one means.
"""

import csv
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfplay.errors import InvalidFileError, shortened
from selfplay.files import read_text, written_whole

# pandas is imported inside the functions, so that the web page, which reads single rows, does not wait for it.
if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)

EXACT_DECIMALS = 12
"""Decimal places in which sums of probabilities are the same on all processors."""

Field = int | float | str | None
Row = dict[str, Field]


class ColumnKind(NamedTuple):
    """What the fields of a column are."""

    of: type[int] | type[float] | type[str]
    decimals: int = 6
    """Decimal places of its fractions, chosen so that all processors, libraries and numbers of threads agree."""
    exceeds_64_bits: bool = False
    is_exact: bool = False
    """Whether 0 and 1 mean exactly that, so that fractions close to them have more decimal places."""

    def rounded(self, field: Field) -> Field:
        """The field as it is written."""
        if not isinstance(field, float):
            return field
        # First to the places that are always exact: 1/128 lies half-way between two numbers of six places, and a sum
        # of probabilities may end just above or just below it. Adding 0.0 turns -0.0 into 0.0.
        precise = round(field, EXACT_DECIMALS)
        rounded = round(precise, self.decimals) + 0.0
        return precise or float(f"{field:.6g}") if self.is_exact and rounded in (0, 1) else rounded

    def parse(self, text: str) -> Field:
        """The value of a field of the file; None if it is empty. Raises ValueError if it is not of this kind."""
        if not text:
            return None
        field = self.of(text)
        if isinstance(field, float) and not math.isfinite(field):
            raise ValueError(f"{text} is not a finite number")
        if isinstance(field, int) and not (self.exceeds_64_bits or abs(field) < 2**63):
            raise ValueError(f"{text} has more than 64 bits")
        return field


TEXT, COUNT, LINES, WORD, SHARE, PROBABILITY, ERROR, RATING = (
    ColumnKind(str),
    ColumnKind(int),
    ColumnKind(int, exceeds_64_bits=True),
    ColumnKind(int, exceeds_64_bits=True),
    ColumnKind(float),
    ColumnKind(float, is_exact=True),
    ColumnKind(float, decimals=4),
    ColumnKind(float, decimals=2),
)

Columns = dict[str, ColumnKind]


def data_frame(columns: Columns, rows: Sequence[Row]) -> "pd.DataFrame":
    """The table of these rows, without the columns that no row mentions."""
    import pandas as pd

    def values_of(name: str, kind: ColumnKind) -> "pd.Series[Any]":
        values = [kind.rounded(row.get(name)) for row in rows]
        # Beside empty fields, integers would become fractions.
        return pd.Series(values, dtype=object if kind.exceeds_64_bits and None in values else None)

    mentioned = {name: kind for name, kind in columns.items() if any(name in row for row in rows)}
    data = {name: values_of(name, kind) for name, kind in mentioned.items()}
    # Counts stay integers where other fields of their column are empty.
    counts = [name for name, kind in mentioned.items() if kind is COUNT and data[name].isna().any()]
    return pd.DataFrame(data).astype(dict.fromkeys(counts, "Int64"))


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    """Write `table` to a CSV file. Raises StageError if that fails."""
    with written_whole(path) as beside:
        table.to_csv(beside, index=False)
    log.info("wrote %s", path)


def read_rows(path: Path, columns: Columns, kind: str) -> list[dict[str, Any]]:
    """The rows of a CSV file, each a field by column; columns that the file does not have are left out.

    Args:
        kind: for error messages, what the file should be and how to make it again: "a table of levels; run it again".

    Raises InvalidFileError if the file is missing, empty or cut off, or a field does not have the kind of its column.
    """
    text = read_text(path)
    try:
        if not text.endswith("\n"):
            raise ValueError("it is cut off")
        header, *lines = csv.reader(text.splitlines(), strict=True)
        if not lines or len(set(header)) < len(header):
            raise ValueError("it has no rows, or two columns of one name")
        if wrong := next((line for line in lines if len(line) != len(header)), None):
            raise ValueError(f"a row has {len(wrong)} fields, not {len(header)}")
        rows = (zip(header, line, strict=True) for line in lines)
        return [{name: columns[name].parse(field) for name, field in row if name in columns} for row in rows]
    except (ValueError, csv.Error) as error:
        what, _, remedy = kind.partition("; ")
        raise InvalidFileError(path, f"is not {what} ({shortened(error)}); {remedy}") from error
