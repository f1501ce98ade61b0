"""The players of the opponents that the page offers, loaded once for many requests."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SelfPlayError, TimeLimitError
from selfplay.files import sha256
from selfplay.games import Game, State
from selfplay.players.capabilities import SolvesExactly
from selfplay.players.player import ActionValues, Player, PlayerWrapper, pick_actions
from selfplay.players.value_net import best_values
from selfplay.search.deadline import Deadline, current_deadline
from selfplay.web.schemas import OfferedPlayer

MOST_PLAYERS = 64
"""Number of players that all requests share."""
MOST_IDLE = 24
"""Number of players that serve one request at a time and wait for the next."""
MOST_POSITIONS = 20_000
"""Number of positions whose values are kept, of each player."""


class NotFoundError(SelfPlayError):
    """A match, game or opponent that does not exist."""


class LoadedPlayers:
    """The players of opponents. Methods may be called from several threads."""

    def __init__(self) -> None:
        self._loading, self._taking = Lock(), Lock()
        self._shared: OrderedDict[object, Player] = OrderedDict()
        self._idle: list[tuple[object, Player]] = []
        self._compiled: set[object] = set()

    @contextmanager
    def lent(self, game: Game, offer: OfferedPlayer) -> Iterator[Player]:
        """The player of an opponent, for one request. It is loaded again when its file has changed.

        All requests share it, except a search, which writes into its tables. One that is kept (`is_kept`) must serve
        one request at a time.

        Raises InvalidFileError, StageError, SettingError: the file that it is loaded from is broken or missing.
        """
        key = game.name, offer.id, file_version(offer)
        if not offer.is_slow or offer.is_kept:
            yield self._shared_player(key, game, offer)
            return
        player = self._taken(key) or self._compiled_player(game, offer)
        try:
            yield player
        finally:
            with self._taking:
                self._idle.append((key, player))
                del self._idle[:-MOST_IDLE]

    def _taken(self, key: object) -> Player | None:
        """An idle player, which is no longer idle; None if there is none."""
        with self._taking:
            places = [place for place, (kept, _) in enumerate(self._idle) if kept == key]
            return self._idle.pop(places[-1])[1] if places else None

    def _shared_player(self, key: object, game: Game, offer: OfferedPlayer) -> Player:
        with self._loading:
            if key not in self._shared:
                player = self._compiled_player(game, offer) if offer.is_slow else made_player(offer)
                self._shared[key] = CachingPlayer(player) if offer.has_fixed_values else player
            self._shared.move_to_end(key)
            if len(self._shared) > MOST_PLAYERS:
                self._shared.popitem(last=False)
            return self._shared[key]

    def _compiled_player(self, game: Game, offer: OfferedPlayer) -> Player:
        """A new player that searches. The first of its kind has to be compiled, whose time no deadline counts."""
        player = made_player(offer)
        key = game.name, offer.id
        if key not in self._compiled:
            with current_deadline().paused(), Deadline(0.0).applied(), suppress(TimeLimitError):
                player.act(game.init(), Draws(0, torch.tensor([0]), 0))
            self._compiled.add(key)
        return player


def made_player(offer: OfferedPlayer) -> Player:
    """The player of an opponent, without values of actions if these are no estimates of outcomes."""
    player: Player = offer.make()
    return player if offer.estimates else SilentPlayer(player)


class SilentPlayer(PlayerWrapper):
    """Plays as `player` does, and has only exact values of actions."""

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues | None:
        solver = self.player.unwrapped
        is_solved = isinstance(solver, SolvesExactly) and bool(solver.solves(state).all())
        return self.player.value_actions(state, draws) if is_solved else None


class CachingPlayer(PlayerWrapper):
    """Plays the best action by the values of `player`, one of several at random, and keeps these values.

    Many matches reach the same positions.
    `player` must always take its best action, so its temperature must be 0.
    """

    def __init__(self, player: Player) -> None:
        super().__init__(player)
        self._found: OrderedDict[tuple[int, ...], ActionValues] = OrderedDict()

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        key = state.key() if state.batch_size == 1 else None
        found = None if key is None else self._found.get(key)
        if found is None:
            found = self.player.value_actions(state)
            assert found is not None, f"{self.name} values actions"
        if key is not None:
            # Two threads may both get here; they then write the same values.
            self._found[key] = found
            if len(self._found) > MOST_POSITIONS:
                self._found.popitem(last=False)
        return found

    def act(self, state: State, draws: Draws) -> Tensor:
        values = self.value_actions(state).values
        return pick_actions(values == best_values(values)[:, None], draws.bits(Purpose.TIE_BREAK))


def file_version(offer: OfferedPlayer) -> str:
    """Text that changes with the content of the opponent's file. Raises NotFoundError if the file is missing."""
    if offer.file is None:
        return ""
    try:
        if not offer.learns:
            return sha256(offer.file)
        # A store is too large to be read at each request. The inode alone is not enough: a file that takes the place of
        # another may get the inode of one that was there before.
        status = offer.file.stat()
        return f"{status.st_ino} {status.st_mtime_ns}"
    except OSError as error:
        raise NotFoundError(f"{offer.label} no longer exists; choose another opponent") from error
