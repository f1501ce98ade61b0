"""Compilation by numba, with a cache on disk that is invalidated by every change of the package's sources."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import RULES, RuleFunction, named_by_closure
from selfplay.compute.compile_cache import CheckedCache, cache_folder

Words = NDArray[np.int64]
"""int64[B]: one word of each of B positions, as an array for compiled code."""

_registered: set[Callable[..., Any]] = set()


def register_rules() -> None:
    """Make all functions marked as rules so far callable from compiled code."""
    for function in RULES:
        if function not in _registered:
            _register(function)
            _registered.add(function)


def part_of_compiled(function: RuleFunction) -> RuleFunction:
    """Make `function` callable from compiled code."""
    _register(named_by_closure(function))
    return function


def _register(function: Callable[..., Any]) -> None:
    """Without the wrapper for callers in C, which nobody calls and which takes a sixth of the time of compiling."""
    register_jitable(no_cfunc_wrapper=True)(function)


def compiled(function: RuleFunction) -> RuleFunction:
    """Compile `function` in nopython mode, cached on disk; it releases the GIL."""
    register_rules()
    dispatcher: Any = numba.njit(nogil=True)(named_by_closure(function))
    # A function that was typed at a prompt has no file by which its cache could be invalidated.
    if Path(inspect.getfile(function)).exists() and cache_folder() is not None:
        dispatcher._cache = CheckedCache(dispatcher.py_func)
    return cast(RuleFunction, dispatcher)


def uncompiled(function: RuleFunction) -> RuleFunction:
    """The Python function behind a compiled one, which runs slowly but on any Python objects."""
    return cast(RuleFunction, cast(Any, function).py_func)
