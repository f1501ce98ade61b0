"""Targets by hand: z * gamma**k, for the mover's return z and the moves k that it makes later."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from selfplay.arena import MATCH_OVER, play_matches
from selfplay.expectations import expectation_rows
from selfplay.games import make_game
from selfplay.games.tictactoe import TicTacToe
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer

GAME = make_game("tictactoe")

X_WINS = [0, 3, 1, 4, 2]
# X X X     in the fifth ply
# O O .
# . . .
O_WINS = [0, 3, 1, 4, 8, 5]
# X X .
# O O O     in the sixth ply
# . . X
DRAW = [0, 1, 2, 4, 3, 5, 7, 6, 8]
# X O X
# X O O
# O X X


class Scripted(Player):
    """Plays the matches that are written down, by their numbers."""

    name = "scripted"

    def __init__(self, matches):
        self.matches = matches

    def act(self, state, draws):
        scripts = [self.matches[number] for number in draws.match.tolist()]
        return torch.tensor([script[draws.ply] if draws.ply < len(script) else 0 for script in scripts])

    def policy(self, state):
        raise NotImplementedError


def rows_of(*matches, gamma=0.5, viewpoints="both", game=GAME):
    player = Scripted(matches)
    (record,) = play_matches(GAME, (player, player), range(len(matches)), 0)
    return expectation_rows(game, record, gamma, viewpoints)


def board(observation):
    """The observation as a drawing: m for the stones of the player who has just moved, w for those of the other."""
    mine, others = observation[:9], observation[9:]
    return "".join("m" if m else "w" if w else "." for m, w in zip(mine, others, strict=True))


def test_a_win_of_the_first_player():
    rows = rows_of(X_WINS)
    # X moves in plies 0, 2, 4; O in 1 and 3.
    assert rows.ply.tolist() == [0, 1, 2, 3, 4]
    assert rows.targets.tolist() == [0.25, -0.5, 0.5, -1.0, 1.0]
    assert rows.match.tolist() == [0] * 5


def test_a_win_of_the_second_player():
    rows = rows_of(O_WINS)
    assert rows.targets.tolist() == [-0.25, 0.25, -0.5, 0.5, -1.0, 1.0]


def test_a_draw_gives_zero_targets():
    rows = rows_of(DRAW)
    assert rows.targets.tolist() == [0.0] * 9
    assert not np.signbit(rows.targets).any()


def test_no_target_is_a_negative_zero():
    zero = rows_of(X_WINS, O_WINS, gamma=0.0).targets
    assert zero.tolist() == [0, 0, 0, -1, 1, 0, 0, 0, 0, -1, 1]
    assert not np.signbit(zero[zero == 0]).any()


def test_targets_of_the_articles_discount():
    rows = rows_of(O_WINS, gamma=0.95)
    expected = [-(0.95**2), 0.95**2, -0.95, 0.95, -1, 1]
    assert rows.targets.tolist() == np.array(expected, dtype=np.float32).tolist()


def test_observations_show_each_afterstate_to_its_mover():
    rows = rows_of(X_WINS)
    assert rows.observations.dtype == np.uint8
    drawn = [board(observation) for observation in rows.observations]
    assert drawn == ["m........", "w..m.....", "mm.w.....", "ww.mm....", "mmmww...."]


def test_rows_stand_in_the_order_of_match_and_ply():
    rows = rows_of(O_WINS, X_WINS, DRAW)
    assert rows.match.tolist() == [0] * 6 + [1] * 5 + [2] * 9
    assert rows.ply.tolist() == [*range(6), *range(5), *range(9)]
    alone = rows_of(X_WINS)
    assert rows.targets[6:11].tolist() == alone.targets.tolist()
    assert (rows.observations[6:11] == alone.observations).all()


def test_the_agents_rows_are_those_of_the_first_player_who_moves_second_in_odd_matches():
    both, agent = (rows_of(X_WINS, X_WINS, O_WINS, O_WINS, viewpoints=view) for view in ("both", "agent"))
    assert agent.match.tolist() == [0] * 3 + [1] * 2 + [2] * 3 + [3] * 3
    assert agent.ply.tolist() == [0, 2, 4, 1, 3, 0, 2, 4, 1, 3, 5]
    assert agent.targets.tolist() == [0.25, 0.5, 1.0, -0.5, -1.0, -0.25, -0.5, -1.0, 0.25, 0.5, 1.0]
    kept = both.ply % 2 == both.match % 2
    assert all((a == b[kept]).all() for a, b in zip(agent, both, strict=True))


def test_a_pass_gives_no_row_and_does_not_count():
    class CentreIsAPass(TicTacToe):
        pass_action = 4
        kernels = GAME.kernels

    # O's move in ply 3 is the centre, so its move in ply 1 is its last; X's stay as they were.
    rows = rows_of(X_WINS, game=CentreIsAPass())
    assert rows.ply.tolist() == [0, 1, 2, 4]
    assert rows.targets.tolist() == [0.25, -1.0, 0.5, 1.0]


@pytest.mark.parametrize("name", ["tictactoe", "sumto100"])
@pytest.mark.parametrize("viewpoints", ["both", "agent"])
@given(gamma=st.floats(0, 1), key=st.integers(0, 2**62))
def test_rows_of_random_matches_equal_those_found_match_by_match(name, viewpoints, gamma, key):
    game = make_game(name)
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), range(7), key)
    rows = expectation_rows(game, record, gamma, viewpoints)
    expected = []
    for number in range(7):
        plies = int((record.action_sequences()[number] != MATCH_OVER).sum())
        for ply in range(plies):
            mover = ply % 2
            z = float(record.states[-1].returns[number]) * (1 if mover == 0 else -1)
            if viewpoints == "both" or mover == number % 2:
                expected.append((number, ply, np.float32(z * gamma ** ((plies - 1 - ply) // 2))))
    assert list(zip(rows.match.tolist(), rows.ply.tolist(), rows.targets, strict=True)) == expected
