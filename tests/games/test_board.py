"""Boards as pictures for notebooks, and lines of play as text."""

from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from selfplay import Board, make_game
from selfplay.compute.positions import packed_array

SVG = "{http://www.w3.org/2000/svg}"


def texts(board: Board) -> list[str]:
    return [element.text for element in ElementTree.fromstring(board._repr_html_()).iter(f"{SVG}text")]


def test_signs_and_values_stand_on_their_squares() -> None:
    game = make_game("tictactoe")
    state = game.state_after(["1,1", "0,1"])
    values = np.full(9, np.nan)
    values[[0, 8]] = 0.5, -0.25
    assert texts(Board(game, state, values=values)) == ["+0.50", "O", "X", "-0.25"]
    assert len(list(ElementTree.fromstring(Board(game, state).svg()).iter(f"{SVG}rect"))) == 9


def test_discs_have_their_colours_and_values_stand_where_a_stone_falls() -> None:
    game = make_game("connect_four")
    board = Board(game, game.state_after("44"), values=[0.0] * 7)
    root = ElementTree.fromstring(board.svg())
    assert [circle.get("fill") for circle in root.iter(f"{SVG}circle")] == ["#e8b92c", "#c8402f"]
    heights = [text.get("y") for text in root.iter(f"{SVG}text")]
    assert len(heights) == 7
    assert heights.count(max(heights, key=int)) == 6


def test_stones_and_values_stand_on_crossings_and_star_points_are_marked() -> None:
    game = make_game("go", 7)
    values = np.full(game.num_distinct_actions, np.nan)
    values[[0, 49]] = 0.5, -0.25
    board = Board(game, game.state_after(["D4", "C5"]), values=values)
    root = ElementTree.fromstring(board.svg())
    assert texts(board) == ["+0.50"]
    path = next(root.iter(f"{SVG}path")).get("d")
    assert (path.count("H"), path.count("V")) == (7, 7)
    # Rows and columns are counted from the upper left corner; a square is 44 wide.
    stars = [(2, 2), (2, 4), (4, 2), (4, 4), (3, 3)]
    places = [(int(circle.get("cy")) // 44, int(circle.get("cx")) // 44) for circle in root.iter(f"{SVG}circle")]
    assert places == [*stars, (2, 2), (3, 3)]
    stones = [circle.get("fill") for circle in root.iter(f"{SVG}circle")][len(stars) :]
    assert stones == ["#fafafa", "#222222"]


def elements(board: Board, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(board.svg()).iter(f"{SVG}{name}"))


def test_men_stand_on_dark_squares_and_kings_have_a_letter() -> None:
    game = make_game("draughts")
    position = game.rules.position(own=1 << 62, opp=1 << 1, kings=1 << 62, hopping=0, up=1, quiet=0)
    board = Board(game, game.state_at(torch.from_numpy(packed_array([position]))))
    assert [(circle.get("cx"), circle.get("cy"), circle.get("fill")) for circle in elements(board, "circle")] == [
        ("66", "22", "#fafafa"),
        ("286", "330", "#222222"),
    ]
    assert texts(board) == ["K"]
    fills = [rect.get("fill") for rect in elements(board, "rect")]
    assert fills[1] == fills[62] != fills[0]
    assert fills.count(fills[1]) == 32


def test_lines_that_are_drawn_and_boxes_that_are_closed_stand_between_dots() -> None:
    game = make_game("dots_and_boxes")
    board = Board(game, game.state_after(["b1", "d1", "a2", "b3", "c2"]))
    assert [path.get("d") for path in elements(board, "path")] == [
        "M22 22H110", "M110 22H198", "M22 22V110", "M110 22V110", "M22 110H110",
    ]  # fmt: skip
    assert (texts(board), len(elements(board, "circle"))) == (["X"], 16)


def test_joined_crossings_and_the_rows_of_a_rhombus_are_drawn_as_declared() -> None:
    morris = make_game("nine_mens_morris")
    (path,) = elements(Board(morris, morris.init()), "path")
    assert path.get("d").count("M") == len(morris.presentation.joined_squares) == 32
    rows = elements(Board("hex_3x3", make_game("hex_3x3").init()), "rect")[::3]
    assert [rect.get("x") for rect in rows] == ["0", "22", "44"]


@pytest.mark.parametrize(("size", "count"), [(3, 1), (5, 1), (9, 5), (13, 5), (19, 9)])
def test_boards_have_the_usual_star_points(size: int, count: int) -> None:
    points = make_game("go", size).presentation.star_points
    assert len(points) == count
    assert {size * size - 1 - point for point in points} == set(points)


def test_squares_have_no_star_points() -> None:
    assert make_game("othello").presentation.star_points == []


def test_a_game_without_squares_is_text_and_markup_in_it_is_escaped() -> None:
    game = make_game("sumto100")
    board = Board(game, game.init())
    assert board._repr_html_() == f"<pre>{board}</pre>"
    with pytest.raises(ValueError, match="sumto100 has no board of squares"):
        board.svg()


def test_a_line_is_drawn_with_its_boards_side_by_side() -> None:
    assert make_game("tictactoe").presentation.line_text((4, 0, 2)).splitlines() == [
        "1. 1,1    2. 0,0    3. 0,2",
        ". . .     O . .     O . X",
        ". X .     . X .     . X .",
        ". . .     . . .     . . .",
    ]
