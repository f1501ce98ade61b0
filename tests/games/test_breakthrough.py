"""Breakthrough: moves against rules written square by square, wins, and the texts of moves."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from selfplay.compute.bit_algebra import word_of
from selfplay.errors import IllegalActionError
from selfplay.games import make_game
from selfplay.games.conformance import check_quickly
from tests.support.open_spiel import assert_agrees

GAME = make_game("breakthrough")
WIDTH, SQUARES = 5, 25
Position = tuple[frozenset[int], frozenset[int], int]
"""The squares of X and of O, and who moves."""


def following(position: Position) -> Iterator[Position]:
    """The positions after each move, square by square."""
    *stones, player = position
    own, other = stones[player], stones[1 - player]
    ends = (range(WIDTH), range(SQUARES - WIDTH, SQUARES))
    if not own or other & set(ends[1 - player]):
        return
    for square in own:
        row, column = divmod(square, WIDTH)
        for right in (-1, 0, 1):
            to = WIDTH * (row + 2 * player - 1) + column + right
            if 0 <= column + right < WIDTH and to not in own and (right or to not in other):
                pair = (own - {square} | {to}, other - {to})
                yield (*(pair if player == 0 else pair[::-1]), 1 - player)


def as_fields(position: Position) -> Any:
    *stones, player = position
    return GAME.rules.position(*(word_of(stones[who]) for who in (player, 1 - player)), 1 - player)


def test_the_moves_are_those_of_rules_written_square_by_square() -> None:
    rules, position = GAME.rules, (frozenset(range(15, 25)), frozenset(range(10)), 0)
    assert as_fields(position) == rules.initial
    level, counts = [position], []
    for _ in range(3):
        for one in level:
            legal = rules.legal_actions(as_fields(one))
            reached = [
                rules.play(as_fields(one), action) for action in range(GAME.num_distinct_actions) if legal >> action & 1
            ]
            assert sorted(reached) == sorted(map(as_fields, following(one)))
        level = [later for one in level for later in following(one)]
        counts.append(len(level))
    assert counts == [13, 156, 1924]
    check_quickly(GAME)


@pytest.mark.parametrize(
    ("own", "opp", "up", "over"),
    [
        # O, who has just moved, stands on the bottom row; X has no stone left; neither.
        ([12], [22], 1, True),
        ([], [12], 1, True),
        ([12], [7], 1, False),
        # X stands on the top row after its own move, and O has no stone left.
        ([12], [2], 0, True),
        ([], [12], 0, True),
    ],
)
def test_a_match_is_won_at_the_other_end_or_by_capturing_all(
    own: list[int], opp: list[int], up: int, over: bool
) -> None:
    position = GAME.rules.position(word_of(own), word_of(opp), up)
    assert bool(GAME.rules.is_terminal(position)) == over
    assert (GAME.rules.legal_actions(position) == 0) == over


def test_a_move_is_written_by_its_squares_in_either_order_and_the_board_has_both_players() -> None:
    assert GAME.action_to_string(GAME.string_to_action("c3c2")) == "c2c3"
    # As the players take them, as in transcripts; older ones have the moves of O in the order of X.
    written = "c2c3 b4b3 c3d4 e5d4"
    assert GAME.write_transcript(GAME.read_transcript("c2-c3 b3b4 c3xd4 e5-d4")) == written
    state = GAME.position_after(written)
    assert GAME.line_texts(GAME.read_transcript(written), GAME.init()) == written.split()
    assert GAME.presentation.line_text(GAME.read_transcript(written)).splitlines()[0].split()[1::2] == written.split()
    with pytest.raises(IllegalActionError, match=r"action b1b2 is not legal here$"):
        GAME.step(state, torch.tensor([GAME.string_to_action("b1b2")]))
    with pytest.raises(IllegalActionError, match="'c2e3' is not a move"):
        GAME.string_to_action("c2e3")
    assert GAME.presentation.board_text(GAME.state_after(["c2d3"])).splitlines() == [
        "   a b c d e",
        " 5 O O O O O",
        " 4 O O O O O",
        " 3 . . . X .",
        " 2 X X . X X",
        " 1 X X X X X",
    ]


# Sequences of plies by depth, as OpenSpiel counts them.
PERFT = {6: [16, 256, 4_308, 71_478], 8: [22, 484, 11_132, 256_036]}


@pytest.mark.parametrize("size", [6, pytest.param(8, marks=pytest.mark.slow)])
def test_larger_boards_have_as_many_sequences_as_in_open_spiel(size: int) -> None:
    game = make_game("breakthrough", size)
    check_quickly(game)
    assert [game.kernels.perft(game.rules.initial, depth, False) for depth in range(1, 5)] == PERFT[size]


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 8])
def test_matches_are_those_of_open_spiel(size: int) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed (pip install -e '.[openspiel]')")
    game, theirs = make_game("breakthrough", size), pyspiel.load_game(f"breakthrough(rows={size},columns={size})")

    def action_of(action: int, position: Any) -> int:
        """In OpenSpiel the first player moves down; a capture is marked by a star."""
        text = game.action_text(action, position.current_player())
        mirrored = "".join(sign if sign.isalpha() else str(size + 1 - int(sign)) for sign in text)
        numbers = {position.action_to_string(legal).rstrip("*"): legal for legal in position.legal_actions()}
        return int(numbers[mirrored])

    assert_agrees(game, [theirs.new_initial_state() for _ in range(100)], action_of)


def test_the_squares_of_a_line_are_those_that_stones_leave_and_reach():
    for name, moves, squares in (
        ("breakthrough", "c2c3 b4b3", [[17, 12], [6, 11]]),
        ("draughts", "11-15 22-18 15x22", [[42, 35], [21, 28], [35, 21]]),
        ("tictactoe", "1,1 0,0", [[4], [0]]),
        ("connect_four", "44", [[38], [31]]),
        ("go_3x3", "B2 pass", [[4], []]),
    ):
        game = make_game(name)
        assert game.presentation.line_squares(game.read_transcript(moves), game.init()) == squares
