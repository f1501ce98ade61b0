"""The interface of a dataset whose rows are read in groups, in any order."""

from pathlib import Path
from typing import Protocol

from selfplay.dataset.rows import Rows


class RowGroups(Protocol):
    """The groups of rows of a dataset."""

    sizes: list[int]
    """Rows in each group."""

    def place(self, group: int) -> tuple[Path, int]:
        """The file of a group, and the number of its rows before the group."""

    def read(self, group: int, *, with_observations: bool = True) -> Rows:
        """The rows of a group, checked; without observations, their words are 0. Raises InvalidFileError."""
