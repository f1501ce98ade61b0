"""Compilation by numba, with a cache on disk that is invalidated by every change of the package's sources.

numba's cache checks only the file of the compiled function, so it would keep using an old version of a rule from
another file. The name of the cache folder therefore contains a hash of all sources.
"""

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import RULES, RuleFunction, named_by_closure
from selfplay.compute.versions import sources_digest

Words = NDArray[np.int64]
"""int64[B]: one word of each of B positions, as an array for compiled code."""

_registered: set[Callable[..., Any]] = set()


@cache
def cache_folder() -> Path:
    """The folder for compiled code of this version: in $XDG_CACHE_HOME or ~/.cache, or a temporary folder."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "selfplay"
    folder = base / f"numba-{sources_digest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="selfplay-numba-"))


def register_rules() -> None:
    """Make all functions marked as rules so far callable from compiled code."""
    for function in RULES:
        if function not in _registered:
            register_jitable(function)
            _registered.add(function)


def part_of_compiled(function: RuleFunction) -> RuleFunction:
    """Make `function` callable from compiled code."""
    register_jitable(named_by_closure(function))
    return function


def compiled(function: RuleFunction) -> RuleFunction:
    """Compile `function` in nopython mode, cached on disk; it releases the GIL."""
    register_rules()
    config: Any = numba.config
    previous = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        return cast(RuleFunction, numba.njit(cache=True, nogil=True)(named_by_closure(function)))
    finally:
        config.CACHE_DIR = previous
