"""The games and the opponents that the page offers: levels and tables of a run, searches, and players without a file.

A request can only choose from these lists; no path and no name of a player is ever taken from a request.
"""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from selfplay.games import GAMES, Game, make_game
from selfplay.learners.tabular.table_file import trains_against_people
from selfplay.players.experience import load_experience_player
from selfplay.players.perfect import PerfectPlayer, is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.players.registry import PLAYERS, make_player, player_kind
from selfplay.players.search import SearchPlayer
from selfplay.runs.run_folder import RunFolder
from selfplay.search.evaluation_files import make_evaluation
from selfplay.search.searcher import Searcher
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.web import WebSettings
from selfplay.web.caching_player import caching_level
from selfplay.web.errors import NotFoundError
from selfplay.web.player_cache import Opponent, PlayerCache
from selfplay.web.schemas import GameView, OpponentsView, OpponentView

PERFECT = "perfect"
"""The id of perfect play. It can take seconds to determine whether a game has it."""
SEARCHES_IN_A_REPLY = 3
"""Number of searches in a reply: the values of the opponent's actions, its choice, and the values of the person's next
actions."""
TABLE_BITS = 14
"""The size of a search's table: 640 KiB, because every match against a search needs a separate table."""
SOLVES_FROM_DEPTH, SOLVED_EMPTIES, ENDGAME_BITS = 4, 10, 12
"""In games that turn stones, searches from this depth on solve the end of the match exactly. This many empty squares
take milliseconds, with a table of 128 KiB."""
DEFAULT_DEPTH = 4
"""The depth of the search that is selected at first; it answers at once."""
LISTED_KINDS = ("random", "perfect", "level", "tabular", "experience", "search", "greedy_discs")
UNLISTED_KINDS = ("gtp", "human")
"""Kinds of players that the page lists explicitly, and kinds that it does not offer: a GTP engine is a command to run,
and the human is the person at the page. All other registered players are listed by their names."""

FIXED_TABLE = "has learned a value for every board"


class OpponentCatalog:
    """The opponents in every game. Methods may be called from several threads."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.games = {name: make_game(name) for name in GAMES}
        self._solving = threading.Lock()
        self._players = PlayerCache()
        kinds = {name: player_kind(name) for name in PLAYERS if name not in LISTED_KINDS + UNLISTED_KINDS}
        self._other_kinds = {name: kind for name, kind in kinds.items() if not kind.needs_argument}

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

    def perfect_player(self, game: Game) -> PerfectPlayer | None:
        """Perfect play, or None if the game is too large. The first call for a game can take seconds."""
        if self.is_solving_done(game):
            return perfect_player_of(game)
        with self._solving:
            return perfect_player_of(game)

    # ------------------------------------------------------------------ the list

    def opponents(self, game: Game) -> OpponentsView:
        """All opponents, and notes on what is missing. May take as long as `perfect_player`."""
        opponents = [opponent.view for opponent in (*self._without_perfect(game), *self._perfect(game))]
        notes = []
        if not self.run(game).trained_levels():
            notes.append(no_levels_text(self.run(game), game))
        return OpponentsView(
            run=path_text(self.run(game).path),
            opponents=opponents,
            has_perfect_play=self.perfect_player(game) is not None,
            notes=notes,
        )

    def opponent(self, game: Game, opponent_id: str) -> Opponent:
        """The opponent with this id. For PERFECT this takes as long as `perfect_player`.

        Raises NotFoundError, listing the ids, if there is none.
        """
        ids = []
        for opponent in self._without_perfect(game):
            if opponent.view.id == opponent_id:
                return opponent
            ids.append(opponent.view.id)
        if opponent_id == PERFECT or self.is_solving_done(game):
            for opponent in self._perfect(game):
                if opponent_id == PERFECT:
                    return opponent
                ids.append(PERFECT)
        where = path_text(self.run(game).path)
        raise NotFoundError(f"unknown opponent in {game.name} ({where}); choose one of {', '.join(ids)}")

    def cached_player(self, game: Game, opponent: Opponent) -> Player | None:
        """The result of `player`, if it is in the cache; None otherwise."""
        return self._players.cached_player(game, opponent)

    def player(self, game: Game, opponent: Opponent) -> Player:
        """The player of an opponent. Raises what `PlayerCache.player` raises."""
        return self._players.player(game, opponent)

    def _without_perfect(self, game: Game) -> Iterator[Opponent]:
        """All opponents except perfect play, in the order in which the page shows them."""
        yield from self._levels(game)
        yield from self._searches(game)
        yield Opponent(
            OpponentView(id="random", kind="random", label="Random", about=f"plays {player_kind('random').meaning}"),
            partial(make_player, "random", game, self.run(game).path),
        )
        yield from self._tables(game)
        yield from self._experience_graphs(game)
        yield from self._most_stones(game)
        yield from self._registered(game)

    def _perfect(self, game: Game) -> Iterator[Opponent]:
        if (perfect := self.perfect_player(game)) is not None:
            view = OpponentView(id=PERFECT, kind="perfect", label="Perfect play", about="knows every position")
            yield Opponent(view, lambda: perfect)

    def _levels(self, game: Game) -> Iterator[Opponent]:
        run = self.run(game)
        levels = run.trained_levels()
        for level in levels:
            view = OpponentView(
                id=f"level-{level}",
                kind="level",
                label=f"Level {level}",
                about="a network that learned by self-play",
                group="Levels of the run",
                number=level,
                is_default=level == levels[-1],
            )
            yield Opponent(view, partial(caching_level, run.path, level, game), run.agent(level), level)

    def _searches(self, game: Game) -> Iterator[Opponent]:
        evaluation = "none" if game.features is None else "article"
        seconds = self.settings.search_seconds / SEARCHES_IN_A_REPLY
        deepest = min(self.settings.deepest_search, game.max_game_length)
        for depth in range(1, deepest + 1):
            endgame = SOLVED_EMPTIES if game.turning_rules is not None and depth >= SOLVES_FROM_DEPTH else 0
            plies = "1 ply" if depth == 1 else f"{depth} plies"
            view = OpponentView(
                id=f"search-{depth}",
                kind="search",
                label=f"Search ({plies})",
                about=_about_search(game, endgame),
                group="Search",
                number=depth,
                is_default=depth == min(DEFAULT_DEPTH, deepest),
                span=None if game.features else 1.0,
                is_slow=True,
            )
            yield Opponent(view, partial(_search_player, game, evaluation, depth, seconds, endgame))

    def _tables(self, game: Game) -> Iterator[Opponent]:
        for path in sorted(self.run(game).tabular.glob("*.npz")):
            label = f"Table: {path.stem.replace('_', ' ')}"
            if trains_against_people(path):
                about = "explores, and learns from your matches"
                yield self._table(game, path, "", label, about, learns=True)
                yield self._table(game, path, "?epsilon=0&learn=false", f"{label}, fixed", FIXED_TABLE)
            else:
                yield self._table(game, path, "", label, FIXED_TABLE)

    def _table(self, game: Game, path: Path, options: str, label: str, about: str, *, learns: bool = False) -> Opponent:
        """The opponent with the tables in a file of the run; its id is its name as a player."""
        name = f"tabular:{path.stem}{options}"
        view = OpponentView(id=name, kind="table", label=label, about=about, learns=learns, neutral=0.5, span=0.5)
        return Opponent(view, partial(make_player, name, game, self.run(game).path, against_person=True), path)

    def _experience_graphs(self, game: Game) -> Iterator[Opponent]:
        for path in sorted(self.run(game).path.glob("experience*.sqlite")):
            view = OpponentView(
                id=f"memory-{path.stem}",
                kind="experience",
                label=path.stem.replace("_", " ").capitalize(),
                about="remembers every board it has met, and learns from your matches",
                learns=True,
            )
            yield Opponent(view, partial(load_experience_player, path, game), path)

    def _most_stones(self, game: Game) -> Iterator[Opponent]:
        if game.rules.margin is not None:
            view = OpponentView(
                id="greedy",
                kind="greedy",
                label="Most discs now",
                about="always turns as many discs as it can",
                span=None,
                is_slow=True,
            )
            seconds = self.settings.search_seconds / SEARCHES_IN_A_REPLY
            yield Opponent(view, partial(_search_player, game, "discs", 1, seconds))

    def _registered(self, game: Game) -> Iterator[Opponent]:
        """Players of other packages, if their name needs no further text."""
        for name, kind in self._other_kinds.items():
            view = OpponentView(id=name, kind=name, label=name.replace("_", " "), about=kind.meaning)
            yield Opponent(view, partial(make_player, name, game, self.run(game).path))


def _about_search(game: Game, endgame: int) -> str:
    about = "looks ahead and evaluates the positions it reaches" if game.features else "looks ahead for the end"
    return f"{about}; plays the last {endgame} squares perfectly, for the most discs" if endgame else about


def _search_player(game: Game, evaluation: str, depth: int, seconds: float, endgame: int = 0) -> Player:
    searcher = Searcher(game, make_evaluation(evaluation, game), table_bits=TABLE_BITS)
    return SearchPlayer(searcher, depth, time_limit=seconds, endgame=endgame, endgame_bits=ENDGAME_BITS)


def path_text(path: Path) -> str:
    """A path as text, relative to the project if it is inside."""
    resolved = path.resolve()
    return str(resolved.relative_to(PROJECT_FOLDER)) if resolved.is_relative_to(PROJECT_FOLDER) else str(path)


def no_levels_text(run: RunFolder, game: Game) -> str:
    """A note that the run has no trained level, with the command that trains some."""
    script = PROJECT_FOLDER / f"learn_{game.name}.sh"
    command = f"./{script.name}" if script.exists() else f"python train/learn.py game={game.name}"
    return f"{path_text(run.path)} has no trained level yet; train some with {command}."
