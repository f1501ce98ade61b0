"""The opening book of Connect Four."""

import json
from pathlib import Path

import pytest

from selfplay.errors import InvalidFileError
from selfplay.games import make_game
from selfplay.search.connect_four import opening_book as book
from selfplay.search.connect_four.board import from_words_of_game
from selfplay.search.connect_four.opening_book import NO_SCORE, book_score, opening_book
from selfplay.search.connect_four.solver import ConnectFourSolver

GAME = make_game("connect_four")
POSITIONS = json.loads(Path("tests/data/connect_four.json").read_text())["positions"]
OPENING_VALUES = [-2, -1, 0, 1, 0, -1, -2]


def words_after(columns: str) -> tuple[int, int]:
    state = GAME.state_after(columns)
    return from_words_of_game(*state.position[0].tolist())


@pytest.fixture(scope="module")
def solver() -> ConnectFourSolver:
    return ConnectFourSolver(GAME)


def test_the_seven_opening_moves_have_their_known_values(solver):
    assert list(solver.action_values(GAME.init()).values()) == OPENING_VALUES


@pytest.mark.parametrize("group", ["begin-easy", "begin-medium", "begin-hard"])
def test_published_positions_of_at_most_12_plies_have_their_published_scores(solver, group):
    early = [position for position in POSITIONS if position["group"] == group and len(position["columns"]) <= 12]
    assert len(early) >= 10
    for position in early:
        assert solver.value(GAME.state_after(position["columns"])) == position["score"], position


def test_the_book_agrees_with_the_search_without_it():
    searching, checked = ConnectFourSolver(GAME, with_book=False), 0
    for position in POSITIONS:
        # Later positions of a line of the published sets are often decided soon, so their search is short.
        if len(columns := position["columns"]) >= 16:
            score = book_score(*opening_book(), *words_after(columns[:12]))
            state = GAME.state_after(columns[:12])
            if score != NO_SCORE and abs(score) >= 8:
                assert searching.value(state) == score, columns[:12]
                checked += 1
    assert checked >= 5


def test_a_damaged_book_is_refused(monkeypatch):
    monkeypatch.setattr(book, "SHA256", "0" * 64)
    with pytest.raises(InvalidFileError, match=r"damaged, or not of bitbully-databases 0\.0\.2; install"):
        opening_book.__wrapped__()
