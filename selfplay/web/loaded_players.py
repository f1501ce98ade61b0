"""The players of the opponents that the page offers, loaded once for many requests."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock

import torch
from torch import Tensor

from selfplay.compute.made_once import MadeOnce
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SelfPlayError, TimeLimitError
from selfplay.files import sha256
from selfplay.games import Game, State
from selfplay.players.capabilities import SolvesExactly, capability
from selfplay.players.player import ActionValues, Player, PlayerWrapper, pick_actions
from selfplay.players.value_net import best_values
from selfplay.search.deadline import Deadline, current_deadline
from selfplay.web.compiling import Loading, LoadingProgress
from selfplay.web.game_schemas import OfferedPlayer

MOST_PLAYERS = 64
"""Number of players that all requests share."""
MOST_IDLE = 24
"""Number of players that serve one request at a time and wait for the next."""
MOST_COMPILED = 10_000
"""Number of opponents of which it is remembered that they are compiled."""
MOST_POSITIONS = 20_000
"""Number of positions whose values are kept, of each player."""


class NotFoundError(SelfPlayError):
    """A match, game or opponent that does not exist."""


class LoadedPlayers:
    """The players of opponents. Methods may be called from several threads."""

    def __init__(self) -> None:
        self._taking = Lock()
        self._shared = MadeOnce[Player](MOST_PLAYERS)
        self._idle: list[tuple[object, Player]] = []
        self._compiled = MadeOnce[None](MOST_COMPILED)
        self._loading = Loading()

    def key(self, game: Game, offer: OfferedPlayer) -> Hashable:
        """What identifies the player of an opponent. Raises as `file_version`."""
        return game.name, offer.id, file_version(offer)

    def is_loaded(self, game: Game, offer: OfferedPlayer) -> bool:
        """Whether the player is lent without being loaded or compiled. Raises as `file_version`."""
        if _is_shared(offer):
            return self.key(game, offer) in self._shared
        return (game.name, offer.id, offer.file) in self._compiled

    def load(self, game: Game, offer: OfferedPlayer) -> None:
        """Load and compile the player, for later requests. Raises as `lent`."""
        with self._loading.noted(self.key(game, offer)), self.lent(game, offer):
            pass

    def progress(self, game: Game, offer: OfferedPlayer) -> LoadingProgress | None:
        """How far `load` is; None if it does not run. Raises as `file_version`."""
        return self._loading.progress(self.key(game, offer))

    @contextmanager
    def lent(self, game: Game, offer: OfferedPlayer) -> Iterator[Player]:
        """The player of an opponent, for one request. It is loaded again when its file has changed.

        All requests share it, except a search, which writes into its tables. One that is kept (`is_kept`) must serve
        one request at a time.

        Raises InvalidFileError, StageError, SettingError: the file that it is loaded from is broken or missing.
        """
        key = self.key(game, offer)
        if _is_shared(offer):
            yield self._shared.get(key, partial(self._shared_player, game, offer))
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

    def _shared_player(self, game: Game, offer: OfferedPlayer) -> Player:
        player = self._compiled_player(game, offer) if offer.is_slow else made_player(offer)
        return CachingPlayer(player) if offer.has_fixed_values else player

    def _compiled_player(self, game: Game, offer: OfferedPlayer) -> Player:
        """A new player that searches. The first of its kind has to be compiled, whose time no deadline counts."""
        player = made_player(offer)
        self._compiled.get((game.name, offer.id, offer.file), partial(_compile, player, game))
        return player


def _compile(player: Player, game: Game) -> None:
    with current_deadline().paused(), Deadline(0.0).applied(), suppress(TimeLimitError):
        player.act(game.init(), Draws(0, torch.tensor([0]), 0))


def _is_shared(offer: OfferedPlayer) -> bool:
    """Whether all requests share one player."""
    return not offer.is_slow or offer.is_kept


def made_player(offer: OfferedPlayer) -> Player:
    """The player of an opponent, without values of actions if these are no estimates of outcomes."""
    player: Player = offer.make()
    return player if offer.estimates else SilentPlayer(player)


class SilentPlayer(PlayerWrapper):
    """Plays as `player` does, and has only exact values of actions."""

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues | None:
        solver = capability(self.player, SolvesExactly)
        is_solved = solver is not None and bool(solver.solves(state).all())
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
    """Text that changes with the content of the opponent's file and the way in which it plays. Raises NotFoundError if
    the file is missing."""
    if offer.file is None:
        return offer.way
    try:
        if not offer.learns:
            return sha256(offer.file) + offer.way
        # A store is too large to be read at each request. The inode alone is not enough: a file that takes the place of
        # another may get the inode of one that was there before.
        status = offer.file.stat()
        return f"{status.st_ino} {status.st_mtime_ns}"
    except OSError as error:
        raise NotFoundError(f"{offer.label} no longer exists; choose another opponent") from error
