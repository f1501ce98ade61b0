"""Gomoku and other m,n,k games: lines against a search square by square, known results, and the board."""

import random

import pytest
import torch

from selfplay.compute.positions import packed_array
from selfplay.compute.random_numbers import Draws
from selfplay.errors import IllegalActionError
from selfplay.games import Game, make_game
from selfplay.games.board_checks import winning_squares
from selfplay.games.conformance import check_game, check_quickly
from selfplay.games.gomoku import Gomoku
from selfplay.named_players.make import make_player
from tests.support.mnk_proof import first_can_win
from tests.support.open_spiel import assert_agrees


def positions(game: Game, count: int) -> list[tuple[int, int]]:
    """Stones of both players on random squares, from sparse boards to full ones."""
    draws, size, found = random.Random(0), game.num_distinct_actions, []
    for _ in range(count):
        squares = draws.sample(range(size), draws.randint(size // 5, size))
        found.append(tuple(sum(1 << square for square in part) for part in (squares[::2], squares[1::2])))
    return found


@pytest.mark.parametrize(
    "game",
    [
        *(Gomoku(9), Gomoku(15), Gomoku(5, 4, 4), Gomoku(9, exact=True)),
        *(
            pytest.param(game, marks=pytest.mark.slow)
            for game in (Gomoku(9, 12, 6), Gomoku(8), Gomoku(7, 8, 3, exact=True))
        ),
    ],
    ids=lambda game: game.name,
)
def test_a_line_is_one_that_is_found_square_by_square(game: Gomoku) -> None:
    found, rules, size = positions(game, 300), game.rules, game.num_distinct_actions
    positions_of_them = [rules.position(*stones) for stones in found]
    state = game.state_at(torch.from_numpy(packed_array(positions_of_them)))
    squares, shape = game.squares(state).numpy(), (game.height, game.width)
    has_line = [bool(winning_squares(row * (row == -1), shape, game.length, game.exact)) for row in squares]
    assert {True, False} == set(has_line)
    is_full = [(one | other).bit_count() == size for one, other in found]
    assert state.terminated.tolist() == [line or full for line, full in zip(has_line, is_full, strict=True)]
    assert state.returns.tolist() == [-float(line) for line in has_line]
    for row in range(20):
        assert bool(rules.is_terminal(positions_of_them[row])) == bool(state.terminated[row])
    # Compiled, the match ends with the move after which the other player's stones are these.
    for row, (one, other) in enumerate(found[:60]):
        last = next(square for square in range(size) if other >> square & 1)
        before = packed_array([rules.position(other & ~(1 << last), one)])
        open_state = game.state_at(torch.from_numpy(before))._replace(terminated=torch.tensor([False]))
        after = game.kernels.step(open_state, torch.tensor([last]))
        assert (bool(after.terminated), float(after.returns)) == (bool(state.terminated[row]), float(has_line[row]))


def test_with_exact_a_longer_line_does_not_win() -> None:
    free, exact = make_game("gomoku"), make_game("gomoku", exact=True)
    # Black closes the gap of b b . b b b, and then has five on another row.
    moves = "a1 a9 b1 c9 d1 e9 e1 g9 f1 i9 c1"
    overline = free.follow(free.read_transcript(moves))
    assert bool(overline.terminated)
    state = exact.follow(exact.read_transcript(moves))
    assert not bool(state.terminated)
    moves += " a8 a4 c8 b4 e8 c4 g8 d4 i8 e4"
    state = exact.follow(exact.read_transcript(moves))
    assert (bool(state.terminated), float(state.returns)) == (True, 1.0)
    assert (exact.name, exact.presentation.title) == ("gomoku_exact=1", "Gomoku 9x9, exactly 5")


@pytest.mark.slow
@pytest.mark.parametrize("game", [Gomoku(9, 8, 3)], ids=lambda game: game.name)
def test_it_conforms(game: Gomoku) -> None:
    size = game.num_distinct_actions
    check_game(game, perft=[size, size * (size - 1), size * (size - 1) * (size - 2)])


@pytest.mark.slow
@pytest.mark.parametrize("size", [13, 15])
def test_large_boards_pass_the_quick_check(size: int) -> None:
    check_quickly(make_game("gomoku", size))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "is_won"),
    [(Gomoku(3), False), (Gomoku(4, 3, 3), True), (Gomoku(4), False)],
    ids=lambda value: getattr(value, "name", None),
)
def test_whether_the_first_player_wins_is_proved_by_threats(game: Gomoku, is_won: bool) -> None:
    """What the first player does not win is a draw: with a win, the second player's strategy could be used first.

    Uiterwijk & van den Herik, "The advantage of the initiative", 2000, table 1.
    """
    assert first_can_win(game)[0] == is_won


@pytest.mark.slow
def test_four_in_a_row_are_completed_and_blocked() -> None:
    game = make_game("gomoku")
    for name in ("search:alpha_beta?depth=2&evaluation=none", "mcts:pretrained?simulations=400"):
        player = make_player(name, game)
        for moves, actions in (
            ("c5 c4 d5 d4 e5 e4 f5 f4", {"b5", "g5"}),
            ("c5 a1 d5 a9 e5 i1 f5 b5 i9", {"g5"}),
        ):
            state = game.state_after(moves.split())
            action = player.act(state, Draws(1, torch.tensor([0]), len(moves.split())))
            assert game.action_to_string(int(action)) in actions


def test_five_in_a_row_and_more_win_and_a_full_board_is_a_draw() -> None:
    game = make_game("gomoku")
    six = game.state_after(["a1", "a2", "b1", "b2", "c1", "c2", "e1", "e2", "f1", "f2", "d1"])
    assert (bool(six.terminated), float(six.returns)) == (True, 1.0)
    four = game.state_after(["a1", "a2", "b1", "b2", "c1", "c2", "e1", "e2", "f1"])
    assert not bool(four.terminated)
    draw = Gomoku(2, 2, 2)
    assert float(draw.state_after(["a1", "b2", "a2"]).returns) == 1.0


def test_names_of_crossings_are_those_of_the_board() -> None:
    game = make_game("gomoku", 15)
    assert game.name == "gomoku_15x15"
    assert [game.action_to_string(action) for action in (0, 14, 210, 224)] == ["a15", "o15", "a1", "o1"]
    board = game.presentation.board_text(game.state_after(["a15", "o1", "h8"])).splitlines()
    assert board[0].split()[:2] == ["a", "b"]
    assert board[1].startswith("15 X")
    assert board[15].endswith("O")
    for text in ("", "p1", "a16", "a0", "a", "1a", "a 1"):
        with pytest.raises(IllegalActionError, match="is not a move; write a crossing from a1 to o15"):
            game.string_to_action(text)


def test_a_line_is_refused_when_a_position_is_set_up() -> None:
    game = make_game("gomoku")
    squares = [0] * 81
    squares[0:5], squares[9:14] = [1] * 5, [-1] * 5
    with pytest.raises(IllegalActionError, match="a line has ended the match"):
        game.set_up(squares, 0)
    squares[80], squares[4] = 1, 0
    squares[20] = -1
    squares[13] = 0
    state = game.set_up(squares, 0)
    assert game.squares(state)[0].tolist() == squares


@pytest.mark.slow
@pytest.mark.parametrize("size", [9, 13, 15])
def test_matches_are_those_of_open_spiel(size: int) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed (pip install -e '.[openspiel]')")
    game, theirs = make_game("gomoku", size), pyspiel.load_game(f"mnk(m={size},n={size},k=5)")
    assert_agrees(game, [theirs.new_initial_state() for _ in range(1000 if size == 9 else 100)])
