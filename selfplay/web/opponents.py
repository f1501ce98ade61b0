"""The games and the opponents that the page offers: levels and tables of a run, searches, and players without a file.

A request can only choose from these lists; no path and no name of a player is ever taken from a request.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SelfPlayError, TimeLimitError
from selfplay.files import sha256
from selfplay.games import Game, State, game_names, make_game
from selfplay.named_players.names import PLAYERS, parse_name
from selfplay.players.capabilities import SolvesExactly
from selfplay.players.player import ActionValues, Player, PlayerWrapper, pick_actions
from selfplay.players.value_net import best_values
from selfplay.playing.estimates import thresholds_text
from selfplay.runs.run_folder import RunFolder, no_levels_text, path_text
from selfplay.search.deadline import Deadline, current_deadline
from selfplay.settings.playing import WebSettings
from selfplay.web.offers import offers
from selfplay.web.schemas import GameView, OfferedPlayer, OpponentsView

STRENGTH_WORDS = {"Easy": "easy", "Medium": "medium", "Hard": "hard", "Unbeatable": "perfect"}
"""Words for strengths, the weakest first, and the ids of the opponents for which they stand."""
MOST_PLAYERS = 64
"""Number of players that are kept."""
MOST_POSITIONS = 20_000
"""Number of positions whose values are kept, of each player."""


class NotFoundError(SelfPlayError):
    """A match, game or opponent that does not exist."""


class OpponentCatalog:
    """The opponents in every game. Methods may be called from several threads."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.games = {name: make_game(name) for name in dict.fromkeys((*game_names(), settings.game.name))}
        # Listed once, because the entry points of other packages are read in about 10 ms.
        self._kinds = tuple(PLAYERS)
        # Opponents without a file, which are always there.
        self._fixed: dict[tuple[str, str], OfferedPlayer] = {}
        self._loading = threading.Lock()
        self._players: OrderedDict[object, Player] = OrderedDict()
        self._compiled: set[object] = set()
        # A mistyped name ends the program at its start.
        for text in settings.opponents:
            parse_name(text)

    def game(self, name: str) -> Game:
        """The game with this name. Raises NotFoundError if there is none."""
        if name not in self.games:
            raise NotFoundError(f"unknown game; choose one of {', '.join(self.games)}")
        return self.games[name]

    def game_view(self, game: Game) -> GameView:
        rows, columns = game.board_shape or (None, None)
        line = game.presentation.position_line
        return GameView(
            name=game.name,
            title=game.presentation.title,
            aim=game.presentation.aim,
            action_help=game.presentation.action_help,
            rows=rows,
            columns=columns,
            seat_names=list(game.presentation.player_names),
            stone_colours=None if game.presentation.stone_colours is None else list(game.presentation.stone_colours),
            moves_stones=game.presentation.moves_stones,
            is_rhombus=game.presentation.is_rhombus,
            is_on_crossings=game.presentation.is_on_crossings,
            star_points=game.presentation.star_points,
            joined_squares=list(game.presentation.joined_squares),
            unused_squares=list(game.presentation.unused_squares),
            draws_lines=game.presentation.draws_lines,
            may_move_again=game.rules.moves_again is not None,
            turns_for_second=game.presentation.turns_for_second,
            can_be_set_up=game.can_be_set_up,
            square_names=[game.presentation.square_name(square) for square in range(game.num_squares or 0)],
            grades=thresholds_text(game),
            line_label=None if line is None else line.label,
            line_end=None if line is None else line.end,
            is_default=game.name == self.settings.game.name,
        )

    def run(self, game: Game) -> RunFolder:
        """The run of a game: `run_dir` for the game in the settings, a folder with the game's name for other games."""
        is_set = game.name == self.settings.game.name
        return RunFolder.of(self.settings) if is_set else RunFolder(Path(self.settings.other_runs) / game.name)

    # ------------------------------------------------------------------ the list

    def opponents(self, game: Game) -> OpponentsView:
        """All opponents, and notes on what is missing. The first call for a game can take seconds."""
        opponents, notes = list(self._offers(game)), []
        offered = {one.id for one in opponents}
        strengths = {word: name for word, name in STRENGTH_WORDS.items() if name in offered}
        if not self.run(game).trained_levels():
            notes.append(no_levels_text(self.run(game), game.name))
        return OpponentsView(
            opponents=opponents,
            strengths=strengths,
            default=next(iter(strengths.values())),
            notes=notes,
        )

    def opponent(self, game: Game, opponent_id: str) -> OfferedPlayer:
        """The opponent with this id. For perfect play and later opponents, the first call for a game can take seconds.

        Raises NotFoundError, listing the ids, if there is none.
        """
        if (game.name, opponent_id) in self._fixed:
            return self._fixed[game.name, opponent_id]
        ids = []
        for offer in self._offers(game):
            if offer.id == opponent_id:
                if offer.file is None:
                    self._fixed[game.name, opponent_id] = offer
                return offer
            ids.append(offer.id)
        where = path_text(self.run(game).path)
        raise NotFoundError(f"unknown opponent in {game.name} ({where}); choose one of {', '.join(ids)}")

    def _offers(self, game: Game) -> Iterator[OfferedPlayer]:
        return offers(game, self.run(game).path, self.settings, self._kinds)

    def player(self, game: Game, offer: OfferedPlayer) -> Player:
        """The player of an opponent, which is loaded again when its file has changed.

        All matches share it, except a search, which writes into its table. One that is kept (`is_kept`) must serve
        one request at a time.

        Raises InvalidFileError, StageError, SettingError: the file that it is loaded from is broken or missing.
        """
        key = game.name, offer.id, file_version(offer)
        if offer.is_slow and not offer.is_kept:
            return self.slow_player(game, offer)
        with self._loading:
            if key not in self._players:
                player = self.slow_player(game, offer) if offer.is_slow else made_player(offer)
                self._players[key] = CachingPlayer(player) if offer.has_fixed_values else player
            self._players.move_to_end(key)
            if len(self._players) > MOST_PLAYERS:
                self._players.popitem(last=False)
            return self._players[key]

    def slow_player(self, game: Game, offer: OfferedPlayer) -> Player:
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
