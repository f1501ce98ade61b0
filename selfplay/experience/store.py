"""The experience store: a file with every board of the matches that a player has learned from.

    store = ExperienceStore("outputs/tictactoe/experience.sqlite", make_game("tictactoe"))

Each match is one transaction, so a kill loses at most the match in progress; two processes may learn into one file.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from selfplay.errors import InvalidFileError, shortened
from selfplay.experience.database import ExperienceDatabase, damaged
from selfplay.experience.graph import BoardForm, MetBoard, Squares, backed_up_score, check_stored_boards
from selfplay.experience.rule import ExperienceRule
from selfplay.files import user_path
from selfplay.games import name_of_game
from selfplay.games.game import Game
from selfplay.games.win_draw_loss import WinDrawLoss, summed
from selfplay.pickling import MadeAgain

CELLS = {1: "X", -1: "O", 0: "."}
STONES = {cell: stone for stone, cell in CELLS.items()}

FOLLOWING = """
SELECT child.number, child.squares, child.score FROM board
JOIN following ON following.board = board.number JOIN board AS child ON child.number = following.next
WHERE board.{column} = ? ORDER BY following.met
"""


class KnownBoard(NamedTuple):
    """A board that is known to follow another."""

    number: int
    squares: Squares
    score: float


class ExperienceStatus(NamedTuple):
    """How much a store has learned."""

    boards: int
    matches: int
    results: tuple[WinDrawLoss[int], WinDrawLoss[int]]
    """The results of the learner, moving first and second, in matches against others."""

    def __str__(self) -> str:
        first, second = self.results
        won, drawn, lost = summed(self.results)
        matches = "1 match" if self.matches == 1 else f"{self.matches:,} matches"
        return (
            f"{self.boards:,} boards known from {matches}; against others it has won {won}, drawn {drawn}, "
            f"lost {lost} (moving first {first}, second {second})"
        )


class ExperienceStore(MadeAgain):
    """An experience graph in a file.

    Args:
        path: the file, created if it does not exist unless `must_exist`.
        rule: how scores are backed up; None for the rule of the file, or `ExperienceRule()` for a new file.

    Raises:
        SettingError: as BoardForm, or the file was created with another rule.
        InvalidFileError, RunLockedError, StageError: as ExperienceDatabase; also from every method.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> store = selfplay.ExperienceStore("experience.sqlite", game)
        >>> players = selfplay.ExperiencePlayer(store), selfplay.RandomPlayer(game)
        >>> records = list(selfplay.play_matches(game, players, range(10), key=0))
        >>> len(store)  # boards
        51
        >>> store.close()
    """

    def __init__(
        self, path: str | Path, game: Game, rule: ExperienceRule | None = None, *, must_exist: bool = False
    ) -> None:
        BoardForm(game)  # Rejects an unsuitable game before a file is created.
        self.path, self.game = user_path(path), game
        self._database = ExperienceDatabase(self.path, name_of_game(game), rule, must_exist=must_exist)
        self.rule = self._database.rule
        self.form = BoardForm(game, self.rule.canonical)
        try:
            check_stored_boards(self.boards(), self.form, self.rule)
            self._database.allow_writing()
        except BaseException as error:
            self.close()
            if isinstance(error, ValueError) and not isinstance(error, InvalidFileError):
                raise damaged(self.path, str(error)) from error
            raise

    def close(self) -> None:
        """Close the file of the store, which can then no longer be used."""
        self._database.close()

    def __len__(self) -> int:
        """The number of known boards."""
        return self.status().boards

    def status(self) -> ExperienceStatus:
        """The number of known boards and matches, and the results of the matches."""
        with self._database.transaction(write=False) as sql:
            boards = sql.execute("SELECT count(*) FROM board").fetchone()[0]
            matches = sql.execute("SELECT value FROM kept WHERE name = 'matches'").fetchone()[0]
            counts = {(seat, result): n for seat, result, n in sql.execute("SELECT seat, result, matches FROM record")}
        first, second = (WinDrawLoss(*(counts.get((seat, result), 0) for result in (1, 0, -1))) for seat in range(2))
        return ExperienceStatus(boards, matches, (first, second))

    def following(self, boards: Iterable[Squares]) -> dict[Squares, list[KnownBoard]]:
        """The boards known to follow each of `boards` (in the form of the store), in the order met, read at once."""
        with self._database.transaction(write=False) as sql:
            query = FOLLOWING.format(column="squares")
            rows = {board: sql.execute(query, (_text(board),)).fetchall() for board in boards}
        return {
            board: [KnownBoard(number, _squares(text), score) for number, text, score in following]
            for board, following in rows.items()
        }

    def boards(self) -> dict[int, MetBoard]:
        """The whole graph by number, in the order the boards were met."""
        with self._database.transaction(write=False) as sql:
            following: dict[int, list[int]] = {}
            for board, child in sql.execute("SELECT board, next FROM following ORDER BY met"):
                following.setdefault(board, []).append(child)
            rows = sql.execute("SELECT number, squares, player, score, is_end FROM board ORDER BY number").fetchall()
        return {
            number: MetBoard(_squares(text), player, tuple(following.get(number, ())), score, bool(is_end))
            for number, text, player, score, is_end in rows
        }

    def learn(self, match: Sequence[Squares], result: int, seats: Collection[int]) -> None:
        """Add a finished match to the graph and back up the scores that change.

        Args:
            match: the boards of the match, from the start to the final one.
            result: 1 if X (player 0) won, -1 if O won, 0 for a draw.
            seats: the seats that the learner held. The result is counted if there is one seat; a match against itself
                is not counted.
        """
        forms = [self.form.of(squares) for squares in match]
        with self._database.transaction() as sql:
            numbers = self._numbers(sql, forms)
            sql.executemany("INSERT OR IGNORE INTO following (board, next) VALUES (?, ?)", pairwise(numbers))
            if result:
                sql.execute("UPDATE board SET score = ?, is_end = 1 WHERE number = ?", (result, numbers[-1]))
            self._back_up(sql, numbers[:-1])
            sql.execute("UPDATE kept SET value = value + 1 WHERE name = 'matches'")
            for seat in seats if len(seats) == 1 else ():
                key = (seat, result if seat == 0 else -result)
                sql.execute("INSERT OR IGNORE INTO record VALUES (?, ?, 0)", key)
                sql.execute("UPDATE record SET matches = matches + 1 WHERE seat = ? AND result = ?", key)

    def replace(self, boards: Mapping[int, MetBoard]) -> None:
        """Replace all boards by these; the counts of results are kept."""
        with self._database.transaction() as sql:
            sql.execute("DELETE FROM following")
            sql.execute("DELETE FROM board")
            rows = ((n, _text(b.squares), b.player, b.score, b.is_end) for n, b in boards.items())
            sql.executemany("INSERT INTO board VALUES (?, ?, ?, ?, ?)", rows)
            edges = ((n, child) for n, board in boards.items() for child in board.following)
            sql.executemany("INSERT INTO following (board, next) VALUES (?, ?)", edges)

    def _numbers(self, sql: sqlite3.Connection, forms: Sequence[Squares]) -> list[int]:
        """The numbers of these boards; new boards get the next numbers."""
        texts = [_text(form) for form in forms]
        find = "SELECT number FROM board WHERE squares = ?"
        rows = [sql.execute(find, (text,)).fetchone() for text in texts]
        fresh = [place for place, row in enumerate(rows) if row is None]
        if fresh:
            number = sql.execute("SELECT coalesce(max(number) + 1, 0) FROM board").fetchone()[0]
            players = self.form.state([forms[place] for place in fresh]).current_player.tolist()
            for new, (place, player) in enumerate(zip(fresh, players, strict=True), start=number):
                sql.execute("INSERT INTO board (number, squares, player) VALUES (?, ?, ?)", (new, texts[place], player))
                rows[place] = (new,)
        return [row[0] for row in rows]

    def _back_up(self, sql: sqlite3.Connection, numbers: Sequence[int]) -> None:
        """Recompute the scores of these boards, fullest board first.

        If a score changes, those of the boards before it are computed too. Each board has a following board, so none is
        an end.
        """
        waiting: list[tuple[int, int]] = []
        _enqueue(sql, waiting, f"number IN ({', '.join('?' * len(numbers))})", numbers)
        while waiting:
            number = waiting[0][1]
            while waiting and waiting[0][1] == number:
                heappop(waiting)
            player, was = sql.execute("SELECT player, score FROM board WHERE number = ?", (number,)).fetchone()
            score = backed_up_score(
                self.rule, [row[2] for row in sql.execute(FOLLOWING.format(column="number"), (number,))], player
            )
            if score != was:
                sql.execute("UPDATE board SET score = ? WHERE number = ?", (score, number))
                before = "number IN (SELECT board FROM following WHERE next = ?)"
                _enqueue(sql, waiting, before, [number])


def _enqueue(sql: sqlite3.Connection, waiting: list[tuple[int, int]], where: str, values: Sequence[int]) -> None:
    """Add the boards that satisfy this condition to the heap of (empty squares, number)."""
    for number, text in sql.execute(f"SELECT number, squares FROM board WHERE {where}", values):
        heappush(waiting, (text.count(CELLS[0]), number))


def _text(squares: Squares) -> str:
    return "".join(CELLS[stone] for stone in squares)


def _squares(text: str) -> Squares:
    try:
        return tuple(STONES[cell] for cell in text)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{shortened(repr(text))} is not a board of {', '.join(STONES)}") from error
