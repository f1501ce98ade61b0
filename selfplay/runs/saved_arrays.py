"""Arrays of an unfinished computation, from which an interrupted stage continues.

A file holds its arrays and one SHA-256 of them, of its own name and of everything that the computation depends on. So a
file is refused if it is damaged, exchanged for another, or of another computation. The manifest cannot record the
digest of a file that is replaced again and again: after a kill between the two writes, they would not agree.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.files import errors_of_archive, open_file, written_whole
from selfplay.runs.manifest import code_of

DIGEST = "sha256"
REMEDY = "; force=true starts anew"


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], record: Mapping[str, Any]) -> None:
    """Write arrays to a .npz file. `record`: what the computation depends on, as JSON. Raises StageError."""
    fields: dict[str, Any] = {DIGEST: np.array(_digest(path, arrays, record)), **arrays}
    with written_whole(path) as beside, beside.open("wb") as file:
        np.savez(file, **fields)


def load_arrays(path: Path, record: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Read what `save_arrays` wrote. Raises InvalidFileError if it is not that."""
    with open_file(path) as file, errors_of_archive(path, REMEDY):
        arrays = dict(np.load(file, allow_pickle=False))
        digest = str(arrays.pop(DIGEST, ""))
    if digest != _digest(path, arrays, record):
        raise InvalidFileError(path, f"was changed, or belongs to another computation{REMEDY}")
    return arrays


class SavedArrays(MutableMapping[str, Mapping[str, NDArray[Any]]]):
    """Arrays by name, each entry in a .npz file of this folder; raises as `save_arrays` and `load_arrays`.

    Args:
        problem: (name, arrays) to what is wrong with an entry that was read; None if it can be used.
    """

    def __init__(
        self,
        folder: Path,
        record: Mapping[str, Any],
        problem: Callable[[str, Mapping[str, NDArray[Any]]], str | None],
    ) -> None:
        self.folder, self.record, self._problem = folder, record, problem

    def __setitem__(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        save_arrays(self._path(name), arrays, self.record)

    def __getitem__(self, name: str) -> dict[str, NDArray[Any]]:
        arrays = load_arrays(self._path(name), self.record)
        if (problem := self._problem(name, arrays)) is not None:
            raise InvalidFileError(self._path(name), f"cannot be continued: {problem}{REMEDY}")
        return arrays

    def __delitem__(self, name: str) -> None:
        self._path(name).unlink()

    def __contains__(self, name: object) -> bool:
        return self._path(str(name)).exists()

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in self.folder.glob("*.npz"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"


def _digest(path: Path, arrays: Mapping[str, NDArray[Any]], record: Mapping[str, Any]) -> str:
    forms = {name: [array.dtype.str, array.shape] for name, array in arrays.items()}
    digest = hashlib.sha256(json.dumps([path.name, {**record, **code_of(record)}, forms], sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
