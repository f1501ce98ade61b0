"""When a search uses which of its two tiers (`selfplay.games.tiers`): the general one at once, the special one when it
pays.

A search begins with the general tier, unless the special one is on disk already. Once it has done so much work that the
time lost exceeds that of compiling, the special tier is compiled in the background, and used from when it is ready.
"""

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from threading import Lock, Thread
from typing import Any

from selfplay.compute.compilation import compile_for, is_compiled_for
from selfplay.games import tiers
from selfplay.games.rules import Rules
from selfplay.games.tiers import Tier, tier_of

log = logging.getLogger(__name__)

Calls = Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]
"""Compiled functions, each with arguments of the types that it is called with."""


class TwoTiers:
    """Which tier of one kind of search of one game is used, in this process."""

    def __init__(self, rules: Rules, pass_action: int | None, *, has_general: bool = True) -> None:
        self._game, self._has_general = (rules, pass_action), has_general
        self._special = tier_of(*self._game, is_general=False)
        self._steps, self._lock = 0, Lock()
        self._is_asked = self._is_special = False
        self._compiling: Thread | None = None

    @cached_property
    def _general(self) -> Tier:
        return tier_of(*self._game, is_general=self._has_general)

    def tier(self, calls_in: Callable[[Tier], Calls]) -> Tier:
        """The tier for the next search. `calls_in`: the compiled functions that the search calls in a tier."""
        if (only := _only.get()) is not None:
            return self._general if only == GENERAL else self._special
        if not self._is_asked:
            # Asked first: the general tier compiles the rules of the game.
            self._is_special = are_on_disk(calls_in(self._special))
            self._is_asked = True
        return self._special if self._is_special else self._general

    def worked(self, tier: Tier, steps: int, calls_in: Callable[[Tier], Calls]) -> None:
        """Count the positions that a search has visited, and compile the special tier if they are many."""
        with self._lock:
            self._steps += 0 if tier.table is None else steps
            if self._steps > tiers.STEPS_BEFORE_SPECIAL and self._compiling is None:
                # Not a daemon: a thread that compiles when Python ends would abort the process.
                self._compiling = Thread(target=self._compile, args=(calls_in,), name="compiling a search")
                self._compiling.start()

    def _compile(self, calls_in: Callable[[Tier], Calls]) -> None:
        try:
            compile_calls(calls_in(self._special))
        except Exception as error:
            log.warning("a search is not compiled for its game, and stays with general rules: %s", error)
        else:
            self._is_special = True


def compile_calls(calls: Calls) -> None:
    """Compile functions for the types of these arguments, or load them from disk."""
    for function, arguments in calls:
        compile_for(function, *arguments)


def are_on_disk(calls: Calls) -> bool:
    """Whether functions need not be compiled for the types of these arguments."""
    return all(is_compiled_for(function, *arguments) for function, arguments in calls)


@cache
def tiers_of(rules: Rules, pass_action: int | None, *kind: Hashable, has_general: bool = True) -> TwoTiers:
    """The tiers of a kind of search of the game with these rules; every call returns the same.

    `has_general`: whether this search can be compiled for all games.
    """
    return TwoTiers(rules, pass_action, has_general=has_general)


GENERAL, SPECIAL = "general", "special"

_only: ContextVar[str | None] = ContextVar("only", default=None)


@contextmanager
def only_tier(name: str) -> Iterator[None]:
    """Let the searches of the block use only this tier, GENERAL or SPECIAL."""
    before = _only.set(name)
    try:
        yield
    finally:
        _only.reset(before)
