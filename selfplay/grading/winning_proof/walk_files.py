"""The state of an unfinished walk on disk: the positions of every ply, and the judged parts of the present one.

    ply_012.npz                         the positions after 12 plies of the walk
    judged_012_000004096_000008192.npz  the player's actions in some of them
    plies.csv                           a row for each finished ply, see `selfplay.grading.winning_proof.columns`

The arrays are not pickled; every file is written whole.
"""

from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.files import errors_of_archive, remove_folder, require_regular_file, written_whole
from selfplay.grading.winning_proof.action_judge import Judged

Words = NDArray[np.int64]

Arrays = TypeVar("Arrays", "Ply", Judged)


class Ply(NamedTuple):
    """N different positions after the same number of plies, in the order in which the walk meets them."""

    own: Words
    """int64[N]"""
    opp: Words
    """int64[N]"""
    parents: Words
    """int64[N]: the row of a position in the ply before from which it was met first."""
    actions: Words
    """int64[N]: the action that led from there to it."""
    are_won: NDArray[np.bool_]
    """bool[N]: whether the position is known to be won for the examined player."""


class WalkFiles:
    """The files of one walk, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save_ply(self, number: int, ply: Ply) -> None:
        """Write the positions after `number` plies."""
        _save(self._ply(number), ply)

    def ply(self, number: int) -> Ply:
        """The positions after `number` plies. Raises InvalidFileError."""
        return _load(self._ply(number), Ply)

    def save_judged(self, number: int, rows: slice, judged: Judged) -> None:
        """Write the actions in some rows of those positions that are not finished."""
        _save(self._judged(number, rows), judged)

    def judged(self, number: int, rows: slice) -> Judged | None:
        """What `save_judged` wrote; None if there is no such file. Raises InvalidFileError."""
        path = self._judged(number, rows)
        return _load(path, Judged) if path.exists() else None

    def drop_judged(self) -> None:
        """Delete all judged parts, because the next ply is saved."""
        for path in self.folder.glob("judged_*.npz"):
            path.unlink()

    def remove(self) -> None:
        """Delete the folder."""
        remove_folder(self.folder)

    def _ply(self, number: int) -> Path:
        return self.folder / f"ply_{number:03d}.npz"

    def _judged(self, number: int, rows: slice) -> Path:
        return self.folder / f"judged_{number:03d}_{rows.start:09d}_{rows.stop:09d}.npz"


def _save(path: Path, arrays: Arrays) -> None:
    with written_whole(path) as beside, beside.open("wb") as file:
        np.savez(file, **arrays._asdict())


def _load(path: Path, kind: type[Arrays]) -> Arrays:
    require_regular_file(path)
    with errors_of_archive(path, "; force=true starts anew"), np.load(path, allow_pickle=False) as archive:
        arrays: list[NDArray[Any]] = [archive[name] for name in kind._fields]
    return kind(*arrays)
