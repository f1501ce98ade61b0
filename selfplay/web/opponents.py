"""The games and the opponents that the page offers: levels and tables of a run, searches, and players without a file.

A request can only choose from these lists; no path and no name of a player is ever taken from a request.
"""

import threading
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from selfplay.games import Game, game_names, make_game
from selfplay.players.offers import LAST, NOT_OFFERED, Offer, Offering, OfferLimits
from selfplay.players.perfect import PerfectPlay, is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.players.registry import make_player, parse_name, player_kind
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.choices import PLAYERS
from selfplay.settings.command_lines import learn_command
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.web import WebSettings
from selfplay.web.caching_player import CachingPlayer
from selfplay.web.errors import NotFoundError
from selfplay.web.player_cache import Opponent, PlayerCache
from selfplay.web.schemas import GameView, OpponentsView, OpponentView


class OpponentCatalog:
    """The opponents in every game. Methods may be called from several threads."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.games = {name: make_game(name) for name in dict.fromkeys((*game_names(), settings.game.name))}
        self._solving = threading.Lock()
        self._players = PlayerCache()
        self._limits = OfferLimits(settings.search_seconds, settings.deepest_search)
        offerings = {name: offering_of(name) for name in PLAYERS}
        named = [offering_of_player(text) for text in settings.opponents]
        self._offerings = sorted([*offerings.values(), *named], key=lambda offering: offering.place)
        self._needing_solution = {name for name, offering in offerings.items() if offering.needs_solution}

    def game(self, name: str) -> Game:
        """The game with this name. Raises NotFoundError if there is none."""
        if name not in self.games:
            raise NotFoundError(f"unknown game; choose one of {', '.join(self.games)}")
        return self.games[name]

    def game_views(self) -> list[GameView]:
        return [self._game_view(game) for game in self.games.values()]

    def _game_view(self, game: Game) -> GameView:
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
            counts_stones=game.rules.margin is not None,
            has_lines=game.presentation.line_length is not None,
            can_be_set_up=game.can_be_set_up,
            square_names=[game.presentation.square_name(square) for square in range(game.num_squares or 0)],
            line_label=None if line is None else line.label,
            line_end=None if line is None else line.end,
            is_default=game.name == self.settings.game.name,
        )

    def run(self, game: Game) -> RunFolder:
        """The run of a game: `run_dir` for the game in the settings, a folder with the game's name for other games."""
        is_set = game.name == self.settings.game.name
        return RunFolder.of(self.settings) if is_set else RunFolder(Path(self.settings.other_runs) / game.name)

    def is_solving_done(self, game: Game) -> bool:
        """Whether `perfect_player` returns at once."""
        return is_found_out(game)

    def perfect_player(self, game: Game) -> PerfectPlay | None:
        """Perfect play, or None if the game is too large. The first call for a game can take seconds."""
        if self.is_solving_done(game):
            return perfect_player_of(game)
        with self._solving:
            return perfect_player_of(game)

    # ------------------------------------------------------------------ the list

    def opponents(self, game: Game) -> OpponentsView:
        """All opponents, and notes on what is missing. May take as long as `perfect_player`."""
        opponents = [opponent.view for opponent in (*self._opponents(game), *self._opponents_in_solved_games(game))]
        perfect = self.perfect_player(game)
        notes = []
        if not self.run(game).trained_levels():
            notes.append(no_levels_text(self.run(game), game))
        return OpponentsView(
            run=path_text(self.run(game).path),
            opponents=opponents,
            default=_default(opponents, is_small=perfect is not None and perfect.value_kind == "results").id,
            has_perfect_play=perfect is not None,
            notes=notes,
        )

    def needs_solution(self, opponent_id: str) -> bool:
        """Whether the opponent with this id exists only in games that can be solved at once."""
        return opponent_id in self._needing_solution

    def opponent(self, game: Game, opponent_id: str) -> Opponent:
        """The opponent with this id. If it `needs_solution`, this takes as long as `perfect_player`.

        Raises NotFoundError, listing the ids, if there is none.
        """
        opponents = self._opponents(game)
        if self.needs_solution(opponent_id) or self.is_solving_done(game):
            opponents = chain(opponents, self._opponents_in_solved_games(game))
        ids = []
        for opponent in opponents:
            if opponent.view.id == opponent_id:
                return opponent
            ids.append(opponent.view.id)
        where = path_text(self.run(game).path)
        raise NotFoundError(f"unknown opponent in {game.name} ({where}); choose one of {', '.join(ids)}")

    def cached_player(self, game: Game, opponent: Opponent) -> Player | None:
        """The result of `player`, if it is in the cache; None otherwise."""
        return self._players.cached_player(game, opponent)

    def player(self, game: Game, opponent: Opponent) -> Player:
        """The player of an opponent. Raises what `PlayerCache.player` raises."""
        return self._players.player(game, opponent)

    def _opponents(self, game: Game) -> Iterator[Opponent]:
        """The opponents that are known without solving the game, in the order in which the page shows them."""
        return self._offered(game, needs_solution=False)

    def _opponents_in_solved_games(self, game: Game) -> Iterator[Opponent]:
        if self.perfect_player(game) is not None:
            yield from self._offered(game, needs_solution=True)

    def _offered(self, game: Game, *, needs_solution: bool) -> Iterator[Opponent]:
        for offering in self._offerings:
            if offering.needs_solution == needs_solution:
                yield from map(opponent_of, offering.make(game, self.run(game).path, self._limits))


def offering_of(name: str) -> Offering:
    """How the kind of players with this name is offered."""
    kind = player_kind(name)
    if kind.offering is not None:
        return kind.offering
    if kind.needs_argument:
        return NOT_OFFERED

    def by_name(game: Game, run_dir: Path, limits: OfferLimits) -> Iterator[Offer]:
        yield Offer(name, name, name.replace("_", " "), kind.meaning, partial(make_player, name, game, run_dir))

    return Offering(by_name, LAST)


def offering_of_player(text: str) -> Offering:
    """How a player that the settings name is offered, under its name. Raises SettingError if it is not one."""
    kind = player_kind(parse_name(text).kind)

    def by_name(game: Game, run_dir: Path, limits: OfferLimits) -> Iterator[Offer]:
        yield Offer(text, text, text, kind.meaning, partial(make_player, text, game, run_dir))

    return Offering(by_name, LAST)


def opponent_of(offer: Offer) -> Opponent:
    """The opponent that is made from an offer."""
    shown = {name: value for name, value in offer._asdict().items() if name in OpponentView.model_fields}
    make = partial(CachingPlayer.around, offer.make) if offer.has_fixed_values else offer.make
    return Opponent(OpponentView(**shown), make, offer.file, offer.level)


def _default(opponents: list[OpponentView], *, is_small: bool) -> OpponentView:
    """The opponent that is selected at first: in large games a strong one, otherwise the first of the list."""
    recommended = [view for view in opponents if view.is_recommended and not is_small]
    in_first_group = [view for view in opponents if view.is_default and view.group == opponents[0].group]
    return [*recommended, *in_first_group, *opponents][0]


def path_text(path: Path) -> str:
    """A path as text, relative to the project if it is inside."""
    resolved = path.resolve()
    return str(resolved.relative_to(PROJECT_FOLDER)) if resolved.is_relative_to(PROJECT_FOLDER) else str(path)


def no_levels_text(run: RunFolder, game: Game) -> str:
    """A note that the run has no trained level, with the command that trains some."""
    return f"{path_text(run.path)} has no trained level yet; train some with {learn_command(game.name, run.path)}."
