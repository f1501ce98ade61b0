"""Matches written as squares, and a plain implementation of the experience graph."""

import random
from pathlib import Path

from selfplay.experience.graph import Squares
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.games import make_game

GAME = make_game("tictactoe")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

X_WINS = [0, 3, 1, 4, 2]
O_WINS = [0, 3, 1, 4, 8, 5]
DRAWN = [0, 1, 2, 4, 3, 5, 7, 6, 8]


def boards_of(moves: list[int]) -> list[Squares]:
    """The boards of a match in which X and O take these squares (0 to 8) in turn."""
    boards = [(0,) * 9]
    for ply, square in enumerate(moves):
        board = list(boards[-1])
        board[square] = 1 if ply % 2 == 0 else -1
        boards.append(tuple(board))
    return boards


def result_of(board: Squares) -> int | None:
    """1, -1 or 0 if the match is over, else None."""
    for line in LINES:
        total = sum(board[square] for square in line)
        if abs(total) == 3:
            return total // 3
    return None if 0 in board else 0


def random_match(seed: int) -> list[int]:
    """The squares taken in a match of two random players."""
    chance, moves = random.Random(seed), list[int]()
    while result_of(boards_of(moves)[-1]) is None:
        moves.append(chance.choice([square for square in range(9) if square not in moves]))
    return moves


def learn(store: ExperienceStore, moves: list[int], seats: tuple[int, ...] = (0,)) -> None:
    boards = boards_of(moves)
    result = result_of(boards[-1])
    assert result is not None
    store.learn(boards, result, seats)


def new_store(folder: Path, **rule: object) -> ExperienceStore:
    return ExperienceStore(folder / "store.sqlite", GAME, ExperienceRule(**rule))  # type: ignore[arg-type]


class PlainGraph:
    """The experience graph in plain Python: a dictionary of boards, scores computed below the board in play.

    Its scores are outdated for boards that it has not visited since.
    """

    def __init__(self) -> None:
        self.boards: dict[str, dict[str, object]] = {}
        self.keys: dict[Squares, str] = {}

    def see(self, moves: list[int]) -> None:
        """Learn a whole match, computing the score of each board when it is reached."""
        before = None
        for board in boards_of(moves):
            if board not in self.keys:
                key = self.keys[board] = str(len(self.keys))
                won = result_of(board) or 0
                self.boards[key] = {"state": list(board), "next": [], "score": won, "end": won != 0}
            key = self.keys[board]
            if before is not None and key not in self.boards[before]["next"]:
                self.boards[before]["next"].append(key)
            if not self.boards[key]["end"]:
                self.score(key)
            before = key

    def score(self, key: str) -> float:
        entry = self.boards[key]
        if not entry["end"]:
            chosen = 0.0
            for number, child in enumerate(entry["next"]):
                score = self.score(child)
                if number == 0 or abs(score) > abs(chosen):
                    chosen = score
            entry["score"] = 0.9 * chosen
        return entry["score"]

    def choice(self, key: str) -> int | None:
        """The square that the rule chooses for the player to move; None where it chooses at random."""
        state = self.boards[key]["state"]
        sign = 1 if sum(state) == 0 else -1
        following = {child: sign * self.score(child) for child in self.boards[key]["next"]}
        if not following:
            return None
        best, worst = max(following, key=following.get), min(following, key=following.get)
        target = best
        if following[best] <= 0:
            further = {child: sign * self.score(child) for child in self.boards[worst]["next"]}
            if following[worst] == 0 or not further:
                return None
            target, sign = min(further, key=further.get), -sign
        after = self.boards[target]["state"]
        return next(square for square in range(9) if after[square] == sign and state[square] == 0)
