"""The opponents as players: each is made once, from its file, and again when that has become another one."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from selfplay.games import Game
from selfplay.players.player import Player
from selfplay.web.errors import NotFoundError
from selfplay.web.schemas import OpponentView

MAX_PLAYERS = 64


class Opponent(NamedTuple):
    """An entry of the list."""

    view: OpponentView
    make: Callable[[], Player]
    file: Path | None = None
    """What it is made from; when that changes, it is another player."""


class PlayerCache:
    """The players that have been made, those asked for last. Methods may be called from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._players: OrderedDict[object, Future[Player]] = OrderedDict()

    def cached_player(self, game: Game, opponent: Opponent) -> Player | None:
        """What `player` gives, if that has been made before and takes no time."""
        if opponent.view.is_slow:
            return None
        with self._lock:
            making = self._players.get(_key(game, opponent))
        return making.result() if making is not None and making.done() else None

    def player(self, game: Game, opponent: Opponent) -> Player:
        """The opponent as a player, shared by all matches if it may be.

        Raises InvalidFileError, StageError, SettingError: what it is made from is broken or gone.
        """
        if opponent.view.is_slow:
            # A search writes into its table, so no two matches may share it.
            return opponent.make()
        key = _key(game, opponent)
        with self._lock:
            is_first = key not in self._players
            making = self._players.setdefault(key, Future())
            self._players.move_to_end(key)
            while len(self._players) > MAX_PLAYERS:
                self._players.popitem(last=False)
        if is_first:
            # Without the lock, so that only who wants this very player waits for its file.
            self._make(key, opponent, making)
        return making.result()

    def _make(self, key: object, opponent: Opponent, making: "Future[Player]") -> None:
        try:
            making.set_result(opponent.make())
        except BaseException as error:
            with self._lock:
                self._players.pop(key, None)
            making.set_exception(error)


def file_version(opponent: Opponent) -> tuple[int, ...]:
    """What changes when the opponent's file becomes another one. Raises NotFoundError if the file is gone."""
    if opponent.file is None:
        return ()
    try:
        stat = opponent.file.stat()
    except OSError as error:
        raise NotFoundError(f"{opponent.view.label} is not there any more") from error
    # What learns changes its file itself, and stays the same player.
    return (stat.st_ino,) if opponent.view.kind == "experience" else (stat.st_ino, stat.st_mtime_ns, stat.st_size)


def _key(game: Game, opponent: Opponent) -> object:
    return game.name, opponent.view.id, file_version(opponent)
