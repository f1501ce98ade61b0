"""Hex: chains against a search cell by cell, perfect play on 3x3 cells, and the board."""

import random
from functools import cache
from typing import Any

import pytest
import torch

from selfplay.compute.bit_algebra import word_of
from selfplay.errors import IllegalActionError
from selfplay.games import make_game
from selfplay.games.conformance import check_quickly
from selfplay.games.hex import hex_rules
from selfplay.players.perfect import perfect_player_of
from tests.support.open_spiel import assert_agrees

NEIGHBOURS = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, 0), (1, -1))


def is_connected(cells: set[int], width: int, *, downwards: bool) -> bool:
    """Whether stones on these cells connect the top with the bottom, or left with right."""
    edge = 0 if downwards else 1
    waiting = [divmod(cell, width) for cell in cells if divmod(cell, width)[edge] == 0]
    found = set(waiting)
    while waiting:
        row, column = waiting.pop()
        for down, right in NEIGHBOURS:
            cell = row + down, column + right
            if cell not in found and min(cell) >= 0 and max(cell) < width and width * cell[0] + cell[1] in cells:
                found.add(cell)
                waiting.append(cell)
    return any(cell[edge] == width - 1 for cell in found)


@pytest.mark.parametrize("width", [7, 8])
def test_a_player_has_won_exactly_with_a_chain_between_its_edges(width: int) -> None:
    rules, draws, results = hex_rules(width), random.Random(0), []
    for _ in range(40):
        cells = draws.sample(range(width * width), draws.randint(width, width * width))
        first, second = set(cells[::2]), set(cells[1::2])
        moved, other = (first, second) if len(cells) % 2 else (second, first)
        won = is_connected(moved, width, downwards=bool(len(cells) % 2))
        assert bool(rules.is_terminal(rules.position(word_of(other), word_of(moved), len(cells) % 2))) == won
        results.append(won)
    assert {True, False} == set(results)


def test_the_first_player_wins_on_nine_cells_from_the_centre_and_not_from_a_corner_at_its_edge() -> None:
    rules = hex_rules(3)

    @cache
    def value(p: Any) -> int:
        if rules.is_terminal(p):
            return int(rules.return_to_move(p))
        legal = rules.legal_actions(p)
        return max(-value(rules.play(p, cell)) for cell in range(9) if legal >> cell & 1)

    assert value(rules.initial) == 1
    assert [-value(rules.position(0, 1 << cell, 1)) for cell in (4, 0, 8)] == [1, -1, -1]


@pytest.mark.parametrize("swap", [False, True])
def test_the_second_player_wins_if_it_may_swap(swap: bool) -> None:
    game = make_game("hex", 3, swap=swap)
    perfect = perfect_player_of(game)
    assert perfect is not None
    found = perfect.value_actions(game.init())
    assert found is not None
    assert float(found.values.nan_to_num(-1).max()) == (-1 if swap else 1)


def test_a_swap_mirrors_the_stone_and_is_legal_only_in_place_of_the_first_reply() -> None:
    game = make_game("hex", 5, swap=True)
    check_quickly(game)
    swap, state = game.string_to_action("swap"), game.follow(["d2", "swap-pieces"])
    assert game.squares(state)[0].nonzero().tolist() == [[game.string_to_action("b4")]]
    assert (int(game.squares(state).sum()), int(state.current_player)) == (-1, 0)
    legal = [
        bool(game.legal_action_mask(game.follow(moves))[0, swap])
        for moves in ([], ["d2"], ["d2", swap], ["d2", "a1"], ["d2", swap, "d2"])
    ]
    assert legal == [False, True, False, False, False]
    # The position after a swap can be set up; without the rule, O is never a stone ahead.
    squares = game.squares(state)[0].tolist()
    assert torch.equal(game.set_up(squares, 0).position, state.position)
    with pytest.raises(IllegalActionError, match="X moves first"):
        make_game("hex", 5).set_up(squares, 0)


def test_rows_are_drawn_further_and_further_to_the_right_and_values_on_their_cells() -> None:
    game = make_game("hex_3x3")
    state = game.state_after(["b2", "C1"])
    assert game.presentation.board_text(state).splitlines() == [
        "   a b c",
        "  1 . . O",
        "   2 . X .",
        "    3 . . .",
    ]
    with pytest.raises(IllegalActionError, match="'d1' is not a move; write a cell from a1 to c3"):
        game.string_to_action("d1")


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 7, 11, 13])
def test_matches_are_those_of_open_spiel(size: int) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed (pip install -e '.[openspiel]')")
    game, theirs = make_game("hex", size), pyspiel.load_game(f"hex(board_size={size})")
    assert_agrees(game, [theirs.new_initial_state() for _ in range(200)])


@pytest.mark.slow
def test_a_large_board_passes_the_quick_check() -> None:
    check_quickly(make_game("hex", 11))


def test_rows_of_large_boards_have_two_digits() -> None:
    game = make_game("hex", 11)
    assert [game.action_to_string(action) for action in (10, 110, 120)] == ["k1", "a11", "k11"]
    assert all(game.string_to_action(game.action_to_string(action)) == action for action in range(121))
    for text in ("", "a", "l1", "a12", "a0", "a1 1"):
        with pytest.raises(IllegalActionError, match="is not a move; write a cell from a1 to k11"):
            game.string_to_action(text)
