"""How far the compiler is with a player that is being loaded."""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from time import monotonic
from typing import Any, NamedTuple, cast
from weakref import WeakSet

from numba.core import event

from selfplay.compute.bit_algebra import COMPILED
from selfplay.compute.compile_cache import compiled_identity

Function = Callable[..., Any]


class LoadingProgress(NamedTuple):
    """How far the loading of a player is."""

    compiled: int
    """Number of compiled functions, among those that the functions that were compiled so far depend on."""
    functions: int
    """Number of these functions; it grows when another one is needed."""
    seconds: float


class _Load:
    """The loading of a player, in one thread."""

    def __init__(self) -> None:
        self.begun, self.parts, self.depth = monotonic(), set[Function](), 0


class _Compiler(event.Listener):
    """Notes what numba compiles."""

    def __init__(self) -> None:
        self.compiled = WeakSet[Function]()
        self.loads: dict[int, _Load] = {}

    def on_start(self, event: Any) -> None:
        load = self.loads.get(threading.get_ident())
        if load is not None:
            if load.depth == 0:
                described = compiled_identity(event.data["dispatcher"].py_func).described
                load.parts |= {one for one in described if one in COMPILED}
            load.depth += 1

    def on_end(self, event: Any) -> None:
        self.compiled.add(event.data["dispatcher"].py_func)
        if (load := self.loads.get(threading.get_ident())) is not None:
            load.depth -= 1


@cache
def _compiler() -> _Compiler:
    listener, numba_event = _Compiler(), cast(Any, event)
    numba_event.register("numba:compile", listener)
    return listener


class Loading:
    """The players that are being loaded, by their keys. Methods may be called from several threads."""

    def __init__(self) -> None:
        self._loads: dict[Hashable, _Load] = {}

    @contextmanager
    def noted(self, key: Hashable) -> Iterator[None]:
        """Load the player with this key in the block."""
        self._loads[key] = _compiler().loads[threading.get_ident()] = _Load()
        try:
            yield
        finally:
            del self._loads[key], _compiler().loads[threading.get_ident()]

    def progress(self, key: Hashable) -> LoadingProgress | None:
        """How far the player with this key is; None if it is not being loaded."""
        if (load := self._loads.get(key)) is None:
            return None
        parts = tuple(load.parts)
        compiled = sum(part in _compiler().compiled for part in parts)
        return LoadingProgress(compiled, len(parts), monotonic() - load.begun)
