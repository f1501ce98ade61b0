"""Dots and Boxes: who moves again, and the worth of small boards by brute force."""

from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from selfplay.errors import IllegalActionError
from selfplay.games import make_game
from selfplay.games.conformance import check_quickly
from selfplay.games.dots_and_boxes import DotsAndBoxes, dots_and_boxes_rules
from selfplay.games.rules import with_own_end
from selfplay.named_players.make import make_player


def sides_of_boxes(boxes: int) -> list[int]:
    """The lines around each box as bits, without a grid: first all horizontal lines, then all vertical ones."""
    vertical = boxes * (boxes + 1)
    return [
        1 << boxes * row + column
        | 1 << boxes * (row + 1) + column
        | 1 << vertical + (boxes + 1) * row + column
        | 1 << vertical + (boxes + 1) * row + column + 1
        for row in range(boxes)
        for column in range(boxes)
    ]


@numba.njit  # type: ignore[untyped-decorator]
def worth(sides: NDArray[np.int64], lines: int) -> NDArray[np.int8]:
    """By the set of lines that are drawn, how many more boxes the player to move will still close than the other."""
    found = np.zeros(1 << lines, dtype=np.int8)
    for drawn in range((1 << lines) - 2, -1, -1):
        best = -len(sides)
        for line in range(lines):
            after = drawn | 1 << line
            if after != drawn:
                closed = 0
                for around in sides:
                    closed += (after & around) == around and (drawn & around) != around
                best = max(best, closed + found[after] if closed else -found[after])
        found[drawn] = best
    return found


def test_whoever_closes_a_box_moves_again_and_owns_all_boxes_that_the_line_closes() -> None:
    game = make_game("dots_and_boxes")
    state = game.state_after(["b1", "d1", "a2", "b3", "e2", "d3"])
    assert state.current_player.tolist() == [0]
    # The line between two boxes closes both.
    state = game.state_after(["b1", "d1", "a2", "b3", "e2", "d3", "c2"])
    assert state.current_player.tolist() == [0]
    assert game.points(state).tolist() == [[2, 0]]  # type: ignore[union-attr]
    assert game.presentation.board_text(state).splitlines() == [
        "   a b c d e f g",
        " 1 + - + - + . +",
        " 2 | X | X |   .",
        " 3 + - + - + . +",
        " 4 .   .   .   .",
        " 5 + . + . + . +",
        " 6 .   .   .   .",
        " 7 + . + . + . +",
        "X 2, O 0",
    ]
    with pytest.raises(IllegalActionError, match=r"action b2 is not legal here: the line is drawn already"):
        game.follow([game.string_to_action("b2")], state)


def test_two_by_two_boxes_are_worth_what_brute_force_without_a_grid_says() -> None:
    rules, sides = with_own_end(dots_and_boxes_rules(2)), sides_of_boxes(2)

    @cache
    def by_rules(position: Any) -> int:
        if rules.is_terminal(position):
            return int(rules.margin(position))  # type: ignore[misc]
        legal = rules.legal_actions(position)
        following = [rules.play(position, action) for action in range(25) if legal >> action & 1]
        return max(by_rules(p) if rules.moves_again(p) else -by_rules(p) for p in following)  # type: ignore[misc]

    by_force = worth.py_func(np.array(sides), 12)
    assert by_rules(rules.initial) == by_force[0]


@pytest.mark.slow
def test_the_second_player_wins_three_by_three_boxes_by_three_boxes() -> None:
    assert worth(np.array(sides_of_boxes(3)), 24)[0] == -3


def test_boards_of_all_sizes_pass_the_quick_check() -> None:
    for size in DotsAndBoxes.sizes:
        check_quickly(make_game("dots_and_boxes", size))


@pytest.mark.slow
def test_a_search_values_positions_by_the_lead_in_boxes() -> None:
    game = make_game("dots_and_boxes")
    state = game.state_after(["b1", "d1", "a2", "b3", "e2", "d3"])
    values = make_player("search:negascout?depth=1&evaluation=boxes", game).action_values(state)
    assert values is not None
    others = values[0].clone()
    others[game.string_to_action("c2")] = np.nan
    assert float(values[0, game.string_to_action("c2")]) == 2
    assert set(others[~others.isnan()].tolist()) == {0}
