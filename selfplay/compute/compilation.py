"""Compilation by numba, with a cache on disk that notices every change of the package's sources.

numba's own cache looks only at the file that holds the compiled function, so it would keep using an old rule that
stands in another file. The cache folder's name therefore carries a hash of all sources.
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
"""int64[B]: the words of B positions, as compiled code walks over them."""

_registered: set[Callable[..., Any]] = set()


@cache
def cache_folder() -> Path:
    """The folder of this version's compiled code: below $XDG_CACHE_HOME or ~/.cache, else a temporary one."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "selfplay"
    folder = base / f"numba-{sources_digest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="selfplay-numba-"))


def register_rules() -> None:
    """Let compiled code call every function marked with `selfplay.compute.bit_algebra.rule` so far."""
    for function in RULES:
        if function not in _registered:
            register_jitable(function)
            _registered.add(function)


def part_of_compiled(function: RuleFunction) -> RuleFunction:
    """Let compiled code call `function`, a piece of it that stands by itself."""
    register_jitable(named_by_closure(function))
    return function


def compiled(function: RuleFunction) -> RuleFunction:
    """Compile `function` in nopython mode, cached on disk, without holding the interpreter's lock."""
    register_rules()
    config: Any = numba.config
    previous = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        return cast(RuleFunction, numba.njit(cache=True, nogil=True)(named_by_closure(function)))
    finally:
        config.CACHE_DIR = previous
