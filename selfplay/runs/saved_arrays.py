"""Arrays of an unfinished computation, from which an interrupted stage continues.

A file holds its arrays and one SHA-256 of them, of its own name and of everything that the computation depends on. So a
file is refused if it is damaged, exchanged for another, or of another computation. The manifest cannot record the
digest of a file that is replaced again and again: after a kill between the two writes, they would not agree.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.files import errors_of_archive, open_file, written_whole

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


def _digest(path: Path, arrays: Mapping[str, NDArray[Any]], record: Mapping[str, Any]) -> str:
    forms = {name: [array.dtype.str, array.shape] for name, array in arrays.items()}
    digest = hashlib.sha256(json.dumps([path.name, record, forms], sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
