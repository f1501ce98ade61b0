"""The state of an unfinished walk on disk: the positions of every ply, and the judged parts of the present one.

    ply_012.npz                         the positions after 12 plies of the walk
    judged_012_000004096_000008192.npz  the player's actions in some of them
    plies.csv                           a row for each finished ply, see docs/tables.md

The arrays are not pickled; every file is written whole.
"""

from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.files import errors_of_archive, open_file, written_whole
from selfplay.grading.winning_proof.action_judge import Judged, Words

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


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write a named tuple of arrays. Raises StageError."""
    with written_whole(path) as beside, beside.open("wb") as file:
        np.savez(file, **arrays._asdict())


def load_arrays(path: Path, kind: type[Arrays]) -> Arrays:
    """Read what `save_arrays` wrote. Raises InvalidFileError."""
    with open_file(path) as file, errors_of_archive(path, "; force=true starts anew"):
        archive = np.load(file, allow_pickle=False)
        arrays: list[NDArray[Any]] = [archive[name] for name in kind._fields]
    return kind(*arrays)
