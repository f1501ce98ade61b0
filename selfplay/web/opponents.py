"""Who there is to play against: the levels and tables of a run, searches, and who needs no file.

What comes from outside only picks from these lists; no path and no player's name is ever read from it.
"""

import threading
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from selfplay.games import GAMES, Game, make_game
from selfplay.games.position_graph import positions_of
from selfplay.players.experience import load_experience_player
from selfplay.players.perfect import PerfectPlayer, is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.players.tabular import load_tabular_player
from selfplay.runs.run_folder import RunFolder
from selfplay.search.evaluation import make_evaluation
from selfplay.search.searcher import Searcher
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.web import WebSettings
from selfplay.web.caching_player import caching_level
from selfplay.web.errors import NotFoundError
from selfplay.web.player_cache import Opponent, PlayerCache
from selfplay.web.schemas import GameView, OpponentsView, OpponentView

PERFECT = "perfect"
"""The id of perfect play, which can take seconds to find out about."""
SEARCHES_IN_A_REPLY = 3
"""A reply takes the values of the opponent's actions, its choice, and the values of the person's next ones."""
TABLE_BITS = 14
"""Every match with a search has a table of its own, so it must be small (640 KiB)."""
SOLVES_FROM_DEPTH, SOLVED_EMPTIES, ENDGAME_BITS = 4, 10, 12
"""Where discs are turned, searches of some depth know the end of the match: so many empty squares take milliseconds,
and a table of 128 KiB."""


class OpponentCatalog:
    """The opponents of every game. Methods may be called from many threads."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.games = {name: make_game(name) for name in GAMES}
        self._solving = threading.Lock()
        self._players = PlayerCache()

    def game(self, name: str) -> Game:
        """Raises NotFoundError if there is no such game."""
        if name not in self.games:
            raise NotFoundError(f"there is no game of that name; there are {', '.join(self.games)}")
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
        """The run of a game: the one that is set, or the usual one of another game."""
        is_set = game.name == self.settings.game.name
        settings = self.settings
        return RunFolder(Path(settings.run_dir) if is_set else Path(settings.other_runs) / game.name)

    def is_solving_done(self, game: Game) -> bool:
        """Whether `perfect` answers at once."""
        return is_found_out(game)

    def perfect_player(self, game: Game) -> PerfectPlayer | None:
        """Perfect play, or None if the game is too large; the first time that takes a second or more."""
        if self.is_solving_done(game):
            return perfect_player_of(game)
        with self._solving:
            return perfect_player_of(game)

    # ------------------------------------------------------------------ the list

    def opponents(self, game: Game) -> OpponentsView:
        """Everybody there is to play against, and what is missing; that takes as long as `perfect`."""
        opponents = [opponent.view for opponent in (*self._quickly_named(game), *self._perfect(game))]
        notes = []
        if not self.run(game).trained_levels():
            notes.append(f"{shown(self.run(game).path)} has no trained level yet; {how_to_learn(game)} makes some.")
        return OpponentsView(run=shown(self.run(game).path), opponents=opponents, notes=notes)

    def opponent(self, game: Game, name: str) -> Opponent:
        """The opponent with this id; PERFECT takes as long as `perfect`. Raises NotFoundError, saying who is there."""
        seen = []
        for opponent in self._quickly_named(game):
            if opponent.view.id == name:
                return opponent
            seen.append(opponent.view.id)
        if name == PERFECT or self.is_solving_done(game):
            for opponent in self._perfect(game):
                if name == PERFECT:
                    return opponent
                seen.append(PERFECT)
        where = shown(self.run(game).path)
        raise NotFoundError(f"there is no such opponent of {game.name} in {where}; there are {', '.join(seen)}")

    def cached_player(self, game: Game, opponent: Opponent) -> Player | None:
        """What `player` gives, if that has been made before and takes no time."""
        return self._players.cached_player(game, opponent)

    def player(self, game: Game, opponent: Opponent) -> Player:
        """The opponent as a player. Raises as `PlayerCache.player`."""
        return self._players.player(game, opponent)

    def _quickly_named(self, game: Game) -> Iterator[Opponent]:
        """All but perfect play."""
        about = "any legal action, each equally likely"
        yield Opponent(_view("random", "random", "Random", about), partial(RandomPlayer, game))
        yield from self._levels(game)
        yield from self._tables(game)
        yield from self._machines(game)
        yield from self._searches(game)

    def _perfect(self, game: Game) -> Iterator[Opponent]:
        if (perfect := self.perfect_player(game)) is not None:
            yield Opponent(_view(PERFECT, "perfect", "Perfect play", "knows every position"), lambda: perfect)

    def _levels(self, game: Game) -> Iterator[Opponent]:
        run = self.run(game)
        for level in run.trained_levels():
            view = _view(
                f"level-{level}", "level", f"Level {level}", "a network that learned by self-play", number=level
            )
            yield Opponent(view, partial(caching_level, run.path, level, game), run.agent(level))

    def _tables(self, game: Game) -> Iterator[Opponent]:
        for path in sorted(self.run(game).tabular.glob("*.npz")):
            label = path.stem.replace("_", " ")
            view = _view(f"table-{path.stem}", "table", f"Table: {label}", "values learned board by board", 0.5, 0.5)
            yield Opponent(view, partial(_table_player, path, game), path)

    def _machines(self, game: Game) -> Iterator[Opponent]:
        for path in sorted(self.run(game).path.glob("experience*.sqlite")):
            label = path.stem.replace("_", " ").capitalize()
            about = "remembers every board it has met; it learns from your matches too"
            view = _view(f"memory-{path.stem}", "experience", label, about)
            yield Opponent(view, partial(load_experience_player, path, game), path)

    def _searches(self, game: Game) -> Iterator[Opponent]:
        evaluation = "none" if game.features is None else "article"
        seconds = self.settings.search_seconds / SEARCHES_IN_A_REPLY
        for depth in range(1, min(self.settings.deepest_search, game.max_game_length) + 1):
            endgame = SOLVED_EMPTIES if game.turning_rules is not None and depth >= SOLVES_FROM_DEPTH else 0
            plies, about = "1 ply" if depth == 1 else f"{depth} plies", _search_about(game, endgame)
            span, number = None if game.features else 1.0, depth
            view = _view(
                f"search-{depth}", "search", f"Search ({plies})", about, span=span, number=number, is_slow=True
            )
            yield Opponent(view, partial(_search_player, game, evaluation, depth, seconds, endgame))
        if game.rules.margin is not None:
            view = _view("greedy", "greedy", "Most discs now", "takes what turns most", span=None, is_slow=True)
            yield Opponent(view, partial(_search_player, game, "discs", 1, seconds))


def _table_player(path: Path, game: Game) -> Player:
    return load_tabular_player(path, positions_of(game.name))


def _search_about(game: Game, endgame: int) -> str:
    about = "looks ahead and sums up what it sees" if game.features else "looks ahead for the end of the match"
    return f"{about}; plays the last {endgame} squares perfectly, for the most discs" if endgame else about


def _search_player(game: Game, evaluation: str, depth: int, seconds: float, endgame: int = 0) -> Player:
    searcher = Searcher(game, make_evaluation(evaluation, game), table_bits=TABLE_BITS)
    return SearchPlayer(searcher, depth, time_limit=seconds, endgame=endgame, endgame_bits=ENDGAME_BITS)


def shown(path: Path) -> str:
    """A folder as its user knows it: below the project by its short name."""
    resolved = path.resolve()
    return str(resolved.relative_to(PROJECT_FOLDER)) if resolved.is_relative_to(PROJECT_FOLDER) else str(path)


def how_to_learn(game: Game) -> str:
    """The command that makes a run of the game."""
    script = PROJECT_FOLDER / f"learn_{game.name}.sh"
    return f"./{script.name}" if script.exists() else f"python train/learn.py game={game.name}"


@cache
def _view(
    name: str,
    kind: str,
    label: str,
    about: str,
    neutral: float = 0.0,
    span: float | None = 1.0,
    *,
    number: int | None = None,
    is_slow: bool = False,
) -> OpponentView:
    return OpponentView.model_validate(
        {
            **{"id": name, "kind": kind, "label": label, "about": about, "neutral": neutral, "span": span},
            **{"number": number, "is_slow": is_slow},
        }
    )
