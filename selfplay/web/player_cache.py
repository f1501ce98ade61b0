"""A cache of the players of the opponents. Each is loaded from its file once, and again when the file has changed."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from selfplay.games import Game
from selfplay.players.player import Player
from selfplay.runs.written_files import sha256
from selfplay.web.errors import NotFoundError
from selfplay.web.schemas import OpponentView

MAX_PLAYERS = 64


class Opponent(NamedTuple):
    """An entry in the list of opponents."""

    view: OpponentView
    make: Callable[[], Player]
    file: Path | None = None
    """The file from which the player is loaded, if there is one."""
    level: int | None = None
    """The number of the level, if the opponent is a level of the run."""


class PlayerCache:
    """The most recently used players. Methods may be called from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._players: OrderedDict[object, Future[Player]] = OrderedDict()

    def cached_player(self, game: Game, opponent: Opponent) -> Player | None:
        """The result of `player`, if it is in the cache; None otherwise."""
        if opponent.view.is_slow:
            return None
        with self._lock:
            loading = self._players.get(_key(game, opponent))
        return loading.result() if loading is not None and loading.done() else None

    def player(self, game: Game, opponent: Opponent) -> Player:
        """The player of an opponent. All matches share it, except a search.

        Raises InvalidFileError, StageError, SettingError: the file that it is loaded from is broken or missing.
        """
        if opponent.view.is_slow:
            # A search writes into its table, so each match needs a separate search.
            return opponent.make()
        key = _key(game, opponent)
        with self._lock:
            is_first = key not in self._players
            loading = self._players.setdefault(key, Future())
            self._players.move_to_end(key)
            while len(self._players) > MAX_PLAYERS:
                self._players.popitem(last=False)
        if is_first:
            # The lock is not held while loading, so that only requests for this player wait for its file.
            self._load(key, opponent, loading)
        return loading.result()

    def _load(self, key: object, opponent: Opponent, loading: "Future[Player]") -> None:
        try:
            loading.set_result(opponent.make())
        except BaseException as error:
            with self._lock:
                self._players.pop(key, None)
            loading.set_exception(error)


def file_version(opponent: Opponent) -> str:
    """Text that changes with the content of the opponent's file. Raises NotFoundError if the file is missing."""
    if opponent.file is None:
        return ""
    try:
        # A player that learns writes to its file and remains the same player.
        return str(opponent.file.stat().st_ino) if opponent.view.learns else sha256(opponent.file)
    except OSError as error:
        raise NotFoundError(f"{opponent.view.label} no longer exists; choose another opponent") from error


def _key(game: Game, opponent: Opponent) -> object:
    return game.name, opponent.view.id, file_version(opponent)
