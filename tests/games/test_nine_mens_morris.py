"""Nine men's morris: mills, flying and ends, and the texts of actions."""

import pytest

from selfplay.errors import IllegalActionError
from selfplay.games import make_game
from selfplay.games.conformance import check_quickly
from selfplay.games.nine_mens_morris import JOINED, LINES, NAMES, SQUARES, nine_mens_morris_rules

RULES = nine_mens_morris_rules()
GAME = make_game("nine_mens_morris")


def position(own: str, opp: str, own_left: int = 0, opp_left: int = 0, removing: int = 0, turns: int = 0):
    boards = (sum(1 << SQUARES[NAMES.index(name)] for name in names.split()) for names in (own, opp))
    return RULES.position(*boards, own_left, opp_left, removing, turns)


def legal(p) -> set[str]:
    word = RULES.legal_actions(p)
    return {GAME.action_to_string(action) for action in range(GAME.num_distinct_actions) if word >> action & 1}


def after(p, text: str):
    assert text in legal(p)
    return RULES.play(p, GAME.string_to_action(text))


def test_the_board_has_sixteen_mills_and_thirty_two_steps() -> None:
    assert len({frozenset(line) for line in LINES}) == 16
    assert len({frozenset(pair) for pair in JOINED}) == 32
    assert all(sum(square in line for line in LINES) == 2 for square in SQUARES)


def test_whoever_closes_a_mill_removes_a_stone_that_is_not_in_one() -> None:
    p = after(position("a7 d7", "a1 d1 g1 d2", own_left=7, opp_left=5), "g7")
    assert RULES.moves_again(p)
    assert legal(p) == {"d2"}
    removed = after(p, "d2")
    assert not RULES.moves_again(removed)
    assert removed == position("a1 d1 g1", "a7 d7 g7", 5, 6, turns=1)


def test_stones_in_mills_can_be_removed_if_there_are_no_others() -> None:
    p = after(position("a7 d7", "a1 d1 g1", own_left=7, opp_left=6), "g7")
    assert legal(p) == {"a1", "d1", "g1"}


def test_stones_move_along_lines_and_the_last_three_anywhere() -> None:
    assert legal(position("a7 b6 c5 d5", "d6 g1 g4 g7")) == {"a7-a4", "a7-d7", "b6-b4", "c5-c4", "d5-e5"}
    flying = legal(position("a7 b6 c5", "d6 g1 g4 g7"))
    assert len(flying) == 3 * (24 - 7)
    assert "a7-f2" in flying


@pytest.mark.parametrize(
    ("position_", "returned"),
    [
        (position("a7 d7", "a1 d1 g1"), -1),
        (position("a7 d7 g7 d6", "a4 g4 b6 f6 d5"), -1),
        (position("a7 d7 g7 b2", "a1 d1 d6", turns=200), 0),
        (position("a7", "a1 d1 g1", own_left=1), -1),
    ],
    ids=["two stones", "no move", "too many turns", "two stones in all"],
)
def test_ends(position_, returned: int) -> None:
    assert legal(position_) == set()
    assert RULES.is_terminal(position_)
    assert RULES.return_to_move(position_) == returned


def test_the_quick_check_texts_and_the_board() -> None:
    check_quickly(GAME)
    state = GAME.position_after(GAME.presentation.example)
    assert state.current_player.tolist() == [0]
    assert GAME.presentation.board_text(state).splitlines() == [
        "   a b c d e f g",
        " 7 . - - . - - .",
        " 6 | X - X - X |",
        " 5 | | . . . | |",
        " 4 . O .   . . .",
        " 3 | | . . . | |",
        " 2 | . - O - . |",
        " 1 . - - . - - .",
        "X removes a stone",
    ]
    for text in ("a5", "a7-", "a7-d7-g7", "", "d4"):
        with pytest.raises(IllegalActionError, match="is not a move; write a point such as d6"):
            GAME.string_to_action(text)
