"""Exact endgames: known positions, small boards, plain minimax, time limits and Ctrl-C."""

import json
import random
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch

from selfplay.errors import SettingError, TimeLimitError
from selfplay.games import make_game
from selfplay.search.endgame.solver import EndgameSolver
from tests.support.runs import PROJECT
from tests.support.searches import at_ctrl_c

FFO = {
    position["name"]: position for position in json.loads((PROJECT / "tests/data/ffo.json").read_text())["positions"]
}
EASY = [name for name in FFO if name.startswith("fforum")]


@cache
def solver_of(name, empties_to_winner=True):
    return EndgameSolver(make_game(name), empties_to_winner=empties_to_winner)


def ffo_state(name):
    return make_game("othello").read_board(FFO[name]["board"], FFO[name]["side"])


def named_values(solver, state):
    values = solver.action_values(state)
    assert list(values) == sorted(values)
    return {solver.game.action_to_string(action): value for action, value in values.items()}


# ---------------------------------------------------------------------- known positions


@pytest.mark.parametrize("name", [*EASY, pytest.param("FFO#40", marks=pytest.mark.slow)])
def test_every_move_has_its_known_score(name):
    assert named_values(solver_of("othello"), ffo_state(name)) == FFO[name]["all_moves"]


@pytest.mark.slow
def test_a_long_endgame_has_its_known_value():
    assert solver_of("othello").value(ffo_state("FFO#41")) == max(FFO["FFO#41"]["all_moves"].values())


@pytest.mark.parametrize("name", EASY)
def test_best_play_is_the_lowest_best_action_and_leads_to_the_value(name):
    solver, state = solver_of("othello"), ffo_state(name)
    game, known = solver.game, FFO[name]["all_moves"]
    result = solver.solve(state)
    best = [game.string_to_action(square) for square, score in known.items() if score == max(known.values())]
    assert (result.value, result.action) == (max(known.values()), min(best))
    assert result.visited == solver.visited > 0
    player = int(state.current_player)
    for action in result.principal_variation:
        state = game.step(state, torch.tensor([action]))
    assert bool(state.terminated)
    assert solver.value(state) == (result.value if int(state.current_player) == player else -result.value)


@pytest.mark.parametrize(("empties_to_winner", "value"), [(False, -8), (True, -10)])
def test_white_wins_on_4x4_squares_by_11_to_3(empties_to_winner, value):
    solver = solver_of("othello_4x4", empties_to_winner)
    result = solver.solve(solver.game.init())
    assert result.value == value
    # Black's first moves are mirror images of one another.
    assert solver.action_values(solver.game.init()) == dict.fromkeys([1, 4, 11, 14], value)
    assert result.action == 1
    final = solver.game.state_after(map(solver.game.action_to_string, result.principal_variation))
    # Two squares stay empty.
    assert solver.game.points(final).tolist() == [[3, 13]]


# ---------------------------------------------------------------------- plain minimax, without the library's rules


def discs_turned(board, width, square, player):
    """`board`: 1 for black, -1 for white, 0 for empty, along the rows."""
    turned = []
    for down, right in product((-1, 0, 1), repeat=2):
        run, row, column = [], square // width + down, square % width + right
        while 0 <= row < width and 0 <= column < width and board[width * row + column] == -player:
            run.append(width * row + column)
            row, column = row + down, column + right
        if run and 0 <= row < width and 0 <= column < width and board[width * row + column] == player:
            turned += run
    return turned


def after_moves(board, width, player):
    """The square of each move, and the board that it leads to."""
    for square in range(width * width):
        turned = [] if board[square] else discs_turned(board, width, square, player)
        if turned:
            yield square, tuple(player if i == square or i in turned else disc for i, disc in enumerate(board))


@cache
def minimax(board, width, player, empties_to_winner):
    replies = [after for _, after in after_moves(board, width, player)]
    if replies:
        return max(-minimax(after, width, -player, empties_to_winner) for after in replies)
    if any(after_moves(board, width, -player)):
        return -minimax(board, width, -player, empties_to_winner)
    lead = player * sum(board)
    empties = board.count(0) if empties_to_winner else 0
    return lead + empties * ((lead > 0) - (lead < 0))


def scattered_board(chance, squares, empties):
    """Random discs, so that passes and ends with empty squares are frequent."""
    share = chance.choice([0.2, 0.5, 0.5, 0.8])
    board = [1 if chance.random() < share else -1 for _ in range(squares)]
    for square in chance.sample(range(squares), empties):
        board[square] = 0
    return tuple(board)


def played_board(chance, game, empties):
    """A position of a random match: (board, player to move)."""
    state = game.init()
    while not bool(state.terminated):
        board = tuple(game.squares(state)[0].tolist())
        if board.count(0) <= empties:
            break
        actions = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        state = game.step(state, torch.tensor([chance.choice(actions)]))
    return tuple(game.squares(state)[0].tolist()), 1 - 2 * int(state.current_player)


@pytest.mark.parametrize("empties_to_winner", [True, False])
def test_values_and_actions_are_those_of_plain_minimax(empties_to_winner):
    chance = random.Random(0)
    shared = solver_of("othello_4x4", empties_to_winner)
    game, width, seen = shared.game, shared.game.width, set()
    states, values = [], []
    for trial in range(32):
        empties = trial % 8
        if trial % 2:
            board, player = played_board(chance, game, empties)
        else:
            board, player = scattered_board(chance, width * width, empties), chance.choice([1, -1])
        state = game.read_board("".join("-XO"[disc] for disc in board), "X" if player == 1 else "O")
        expected = {
            square: -minimax(after, width, -player, empties_to_winner)
            for square, after in after_moves(board, width, player)
        }
        value = minimax(board, width, player, empties_to_winner)
        if not expected and not bool(state.terminated):
            expected = {width * width: value}
        action = next((action for action, worth in expected.items() if worth == value), None)
        for solver in (shared, EndgameSolver(game, 1, empties_to_winner)):
            assert solver.action_values(state) == expected
            assert solver.value(state) == value
            assert solver.solve(state)[:2] == (value, action)
        states.append(state)
        values.append(value)
        seen.add((len(expected) > 1, state.terminated.item(), action == width * width, value % 2))
    batch = type(states[0])(*(torch.cat(fields) for fields in zip(*states, strict=True)))
    for lowest, highest in ((-64, 64), (-1, 1), (3, 4), (-9, -6)):
        bounds = [np.full(len(states), bound) for bound in (lowest, highest)]
        guesses = np.array([chance.randint(-70, 70) for _ in states])
        for expected_values in (None, guesses, np.array(values)):
            found = shared.values_within(batch, *bounds, expected_values)
            assert found.tolist() == np.clip(values, lowest, highest).tolist()
    # The positions include choices, ends and passes, and odd values if empty squares count for neither player.
    assert {(True, False, False, 0), (False, True, False, 0), (False, False, True, 0)} <= seen
    assert any(odd for *_, odd in seen) is not empties_to_winner


def test_the_table_changes_no_result():
    solver = EndgameSolver(make_game("othello"), 1)
    for name in EASY[1:3]:
        assert named_values(solver, ffo_state(name)) == FFO[name]["all_moves"]
        assert solver.solve(ffo_state(name))[:3] == solver_of("othello").solve(ffo_state(name))[:3]


def test_a_filled_table_reduces_the_visited_positions():
    solver, state = EndgameSolver(make_game("othello")), ffo_state("fforum-19")
    solver.value(state)
    first = solver.visited
    solver.value(state)
    assert 0 < 10 * solver.visited < first


# ---------------------------------------------------------------------- how it is used


def test_a_match_that_is_over_has_a_value_and_no_action():
    solver = solver_of("othello_4x4")
    state = solver.game.read_board("XXXXXXXXXXXX-OO-", "O")
    assert solver.solve(state)[:3] == (-12, None, ())
    assert solver.action_values(state) == {}


def test_positions_that_cannot_be_solved_are_refused():
    with pytest.raises(SettingError, match="game=tictactoe: "):
        EndgameSolver(make_game("tictactoe"))
    for bits in (0, 31):
        with pytest.raises(SettingError, match=f"table_bits={bits}: "):
            EndgameSolver(make_game("othello"), bits)


def test_a_time_limit_ends_a_search_and_the_solver_stays_usable():
    solver = EndgameSolver(make_game("othello"))
    with pytest.raises(TimeLimitError, match=r"^solving the position did not finish"):
        solver.value(solver.game.init(), time_limit=0.1)
    assert solver.value(ffo_state(EASY[0])) == 18


@pytest.mark.usefixtures("default_sigint")
def test_ctrl_c_ends_a_search():
    solver = EndgameSolver(make_game("othello"))
    start = solver.game.init()
    with pytest.raises(KeyboardInterrupt):
        at_ctrl_c(lambda: solver.value(start))
    assert solver.value(ffo_state(EASY[0])) == 18
