"""Columns of CSV tables: each column is declared once, and the writer, the readers and the documentation follow.

`selfplay.grading.comparison_columns` and `selfplay.grading.tournament_tables` declare the columns.
"""

import csv
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from selfplay.errors import InvalidFileError, shortened
from selfplay.files import MEGABYTE, read_text, written_whole

# pandas is imported inside the functions, so that the web page, which reads single rows, does not wait for it.
if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)

LARGEST_TABLE = 64 * MEGABYTE

EXACT_DECIMALS = 12
"""Decimal places in which sums of probabilities are the same on all processors."""

Row = TypeVar("Row")
Field = int | float | str | None
Part = TypeVar("Part")


def of_part(part: Callable[[Row], Part | None], read: Callable[[Part], Field]) -> Callable[[Row], Field]:
    """The field that `read` gives of a part of a row, such as its results; None where a row lacks the part."""
    return lambda row: None if (found := part(row)) is None else read(found)


class Column(NamedTuple, Generic[Row]):
    """A column of a table whose rows describe objects of one type."""

    name: str
    meaning: str
    """The description in docs/tables.md."""
    value: Callable[[Row], Field]
    """The field of a row; None where nothing applies, which leaves the field empty."""
    kind: type[int] | type[float] | type[str] = float
    exceeds_64_bits: bool = False
    """Whether integers in it may exceed 64 bits."""
    family: str = ""
    """The only family of games that has it; empty: all games."""
    in_sweep: bool = False
    """Whether sweep/runs.csv repeats it for the newest level of each run."""
    decimals: int = 6
    """Decimal places of its fractions: no more than all processors, libraries and numbers of threads agree in."""

    def rounded(self, field: Field) -> Field:
        """The field as it is written."""
        if not isinstance(field, float):
            return field
        # First to the places that are always exact: 1/128 lies half-way between two numbers of six places, and a sum
        # of probabilities may end just above or just below it. Adding 0.0 turns -0.0 into 0.0.
        return round(round(field, EXACT_DECIMALS), self.decimals) + 0.0

    def parse(self, text: str) -> Field:
        """The value of a field of the file; None if it is empty. Raises ValueError if it is not of this kind."""
        if not text:
            return None
        field = self.kind(text)
        if isinstance(field, float) and not math.isfinite(field):
            raise ValueError(f"{self.name} is {text}")
        if isinstance(field, int) and not (self.exceeds_64_bits or abs(field) < 2**63):
            raise ValueError(f"{self.name} has more than 64 bits")
        return field


def of_families(columns: Iterable[Column[Row]], families: Iterable[str] = ()) -> list[Column[Row]]:
    """The columns of games that belong to these families."""
    return [column for column in columns if column.family in ("", *families)]


def names(columns: Iterable[Column[Row]]) -> list[str]:
    """The names of these columns."""
    return [column.name for column in columns]


def table_of(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> "pd.DataFrame":
    """The table of these rows."""
    import pandas as pd

    fields = [{column.name: column.rounded(column.value(row)) for column in columns} for row in rows]
    table = pd.DataFrame(fields, columns=names(columns))
    counts = [column.name for column in columns if column.kind is int and not column.exceeds_64_bits]
    # Counts stay integers where other fields of their column are empty.
    return table.astype({name: "Int64" for name in counts if table[name].isna().any()})


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    """Write `table` to a CSV file. Raises StageError if that fails."""
    with written_whole(path) as beside:
        table.to_csv(beside, index=False)
    log.info("wrote %s", path)


def read_rows(path: Path, columns: Sequence[Column[Row]], kind: str) -> list[dict[str, Any]]:
    """The rows of a CSV file, each a field by column; columns that the file does not have are left out.

    Args:
        kind: what the file should be, and what writes it again, for error messages: "a table of levels; run it again".

    Raises InvalidFileError if the file is missing, empty or cut off, or a field does not have the kind of its column.
    """
    text = read_text(path, LARGEST_TABLE)
    try:
        if not text.endswith("\n"):
            raise ValueError("it is cut off")
        header, *lines = csv.reader(text.splitlines(), strict=True)
        if not lines or len(set(header)) < len(header):
            raise ValueError("it has no rows, or two columns of one name")
        return [_parsed_row(columns, header, line) for line in lines]
    except (ValueError, csv.Error) as error:
        what, _, remedy = kind.partition("; ")
        raise InvalidFileError(path, f"is not {what} ({shortened(error)}); {remedy}") from error


def _parsed_row(columns: Sequence[Column[Row]], header: Sequence[str], line: Sequence[str]) -> dict[str, Any]:
    if len(line) != len(header):
        raise ValueError(f"a row has {len(line)} fields, not {len(header)}")
    texts = dict(zip(header, line, strict=True))
    return {column.name: column.parse(texts[column.name]) for column in columns if column.name in texts}


def meanings(columns: Iterable[Column[Row]]) -> dict[str, str]:
    """The meaning of each column by its name."""
    return {column.name: column.meaning for column in columns}
