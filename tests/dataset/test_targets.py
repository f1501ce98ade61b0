"""Targets computed by hand: z * gamma**k, for the mover's return z and the k moves that it makes later."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay import play_matches
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.target_rules import PlayedMatches, best_response, bootstrap_values, discounted_outcomes, watkins
from selfplay.games import make_game
from selfplay.games.state import MATCH_OVER
from selfplay.games.tictactoe import TicTacToe
from selfplay.players.player import Player, RandomPlayer
from tests.support.dataset_tools import observations_of, rows_are_equal, rows_of_record

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
    """Plays predefined matches by their numbers."""

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
    return rows_of_record(game, record, gamma, viewpoints)


class Explorer(Scripted):
    """Explores in the given plies, and values each action by its number: action 8 is worth 0.8."""

    def __init__(self, matches, plies):
        super().__init__(matches)
        self.plies = plies

    def explores(self, draws):
        return torch.full(draws.match.shape, draws.ply in self.plies)

    def action_values(self, state):
        values = torch.arange(9).expand(state.batch_size, 9) / 10
        return values.masked_fill(~GAME.legal_action_mask(state), torch.nan)


def board(observation):
    """The observation as a drawing: m for the stones of the player who has just moved, w for those of the other."""
    mine, others = observation[:9], observation[9:]
    return "".join("m" if m else "w" if w else "." for m, w in zip(mine, others, strict=True))


def test_a_win_of_the_first_player():
    rows = rows_of(X_WINS)
    # X moves in plies 0, 2, 4; O in 1 and 3.
    assert rows.ply.tolist() == [0, 1, 2, 3, 4]
    assert rows.target.tolist() == [0.25, -0.5, 0.5, -1.0, 1.0]
    assert rows.match.tolist() == [0] * 5


def test_no_target_is_a_negative_zero():
    zero = rows_of(X_WINS, O_WINS, gamma=0.0).target
    assert zero.tolist() == [0, 0, 0, -1, 1, 0, 0, 0, 0, -1, 1]
    assert not np.signbit(zero[zero == 0]).any()


def test_observations_show_each_afterstate_to_its_mover():
    rows = rows_of(X_WINS)
    drawn = [board(observation) for observation in observations_of(rows, GAME.observation_codec)]
    assert drawn == ["m........", "w..m.....", "mm.w.....", "ww.mm....", "mmmww...."]


def test_the_agents_rows_are_those_of_the_first_player_who_moves_second_in_odd_matches():
    both, agent = (rows_of(X_WINS, X_WINS, O_WINS, O_WINS, viewpoints=view) for view in ("both", "agent"))
    assert agent.match.tolist() == [0] * 3 + [1] * 2 + [2] * 3 + [3] * 3
    assert agent.ply.tolist() == [0, 2, 4, 1, 3, 0, 2, 4, 1, 3, 5]
    assert agent.target.tolist() == [0.25, 0.5, 1.0, -0.5, -1.0, -0.25, -0.5, -1.0, 0.25, 0.5, 1.0]
    kept = both.ply % 2 == both.match % 2
    assert rows_are_equal(agent, both.select(kept))


def test_a_pass_gives_no_row_and_does_not_count():
    class CentreIsAPass(TicTacToe):
        pass_action = 4
        kernels = GAME.kernels

    # O's move in ply 3 is the centre, so its move in ply 1 is its last; X's stay as they were.
    rows = rows_of(X_WINS, game=CentreIsAPass())
    assert rows.ply.tolist() == [0, 1, 2, 4]
    assert rows.target.tolist() == [0.25, -1.0, 0.5, 1.0]


@pytest.mark.parametrize("name", ["tictactoe", "sumto100", "tests.support.dots:TwoBoxes"])
@pytest.mark.parametrize("viewpoints", ["both", "agent"])
@settings(max_examples=25)
@given(gamma=st.floats(0, 1), key=st.integers(0, 2**62))
def test_rows_of_random_matches_equal_those_computed_match_by_match(name, viewpoints, gamma, key):
    game = make_game(name)
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), range(7), key)
    rows = rows_of_record(game, record, gamma, viewpoints)
    expected = []
    for number in range(7):
        plies = int((record.action_sequences()[number] != MATCH_OVER).sum())
        movers = [int(state.current_player[number]) for state in record.states]
        for ply in range(plies):
            waiting = 1 - movers[ply + 1]
            z = float(record.states[-1].returns[number]) * (1 if waiting == 0 else -1)
            if viewpoints == "both" or movers[ply] == number % 2:
                target = z * gamma ** movers[ply + 1 : plies].count(waiting)
                expected.append((number, ply, np.float32(target)))
    assert list(zip(rows.match.tolist(), rows.ply.tolist(), rows.target, strict=True)) == expected


# ---------------------------------------------------------------------- matches cut where a player explored


def bootstrap_values_of(*matches, plies, players=None):
    one = Explorer(matches, plies)
    pair = players or (one, one)
    (record,) = play_matches(GAME, pair, range(len(matches)), 0)
    return record, bootstrap_values(PlayedMatches(GAME, record, pair, 0, 1.0))


def test_the_bootstrap_value_is_that_of_the_best_action_where_another_was_explored():
    _, bootstrap = bootstrap_values_of(X_WINS, DRAW, plies={1, 6, 8})
    values = torch.stack(bootstrap, dim=1)
    # In ply 1 both could have taken 8. In ply 6 X_WINS is over, and DRAW takes 7 where 8 is free; 8 is its last action.
    assert values[:, 1].tolist() == pytest.approx([0.8, 0.8])
    assert values[1, 6].item() == pytest.approx(0.8)
    values[:, 1] = values[1, 6] = torch.nan
    assert values.isnan().all()


def test_only_plies_of_the_exploring_player_have_bootstrap_values():
    matches = [X_WINS, X_WINS]
    explorer, steady = Explorer(matches, {0, 1, 2, 3}), Scripted(matches)
    _, bootstrap = bootstrap_values_of(*matches, plies=(), players=(explorer, steady))
    # The explorer moves first in match 0 and second in match 1.
    assert torch.stack(bootstrap, dim=1).isnan().tolist() == [
        [False, True, False, True, True],
        [True, False, True, False, True],
    ]


def test_targets_before_a_cut_are_as_if_the_match_had_ended_there_with_the_best_action():
    record, _ = bootstrap_values_of(X_WINS, plies=())
    player = Explorer([X_WINS], {2})
    rows = match_rows(PlayedMatches(GAME, record, (player, player), 0, 0.5), watkins)
    # X wins in ply 4; in ply 2 it could have had 0.8.
    assert rows.target.tolist() == pytest.approx([0.8 * 0.5, -0.8, 1 * 0.5, -1, 1])
    whole = rows_of_record(GAME, record, 0.5)
    assert whole.target.tolist() == [0.25, -0.5, 0.5, -1, 1]
    assert (rows.position == whole.position).all()


def test_an_exploring_action_ends_the_match_only_for_its_player_in_best_responses():
    record, _ = bootstrap_values_of(X_WINS, O_WINS, plies=())
    player = Explorer([X_WINS, O_WINS], {2})
    rows = match_rows(PlayedMatches(GAME, record, (player, player), 0, 0.5), best_response)
    # In ply 2 the first player could have had 0.8; the second player does not profit from its mistake any less.
    of_x_wins, of_o_wins = rows.target[rows.match == 0].tolist(), rows.target[rows.match == 1].tolist()
    assert of_x_wins == pytest.approx([0.8 * 0.5, -1 * 0.5, 1 * 0.5, -1, 1])
    assert of_o_wins == pytest.approx([0.8 * 0.5, 1 * 0.25, -1 * 0.5, 1 * 0.5, -1, 1])


def test_a_cut_for_both_players_counts_where_there_is_also_one_for_its_player():
    record, _ = bootstrap_values_of(X_WINS, plies=())
    own = [torch.tensor([0.8 if ply in (2, 3) else torch.nan]) for ply in range(5)]
    known = [torch.tensor([0.5 if ply == 2 else torch.nan]) for ply in range(5)]
    assert discounted_outcomes(GAME, record, own=own)[:, 0].tolist() == pytest.approx([0.8, 0.8, 1, -1, 1])
    both = discounted_outcomes(GAME, record, bootstrap=known, own=own)
    assert both[:, 0].tolist() == pytest.approx([0.5, -0.5, 1, -1, 1])


def test_a_value_beyond_the_range_of_outcomes_is_clipped():
    record, _ = bootstrap_values_of(X_WINS, plies=())
    bootstrap = [torch.tensor([-1.25 if ply == 1 else torch.nan]) for ply in range(5)]
    # The best value of the second player was -1.25, which is clipped to a win of the first one.
    assert discounted_outcomes(GAME, record, bootstrap=bootstrap)[:, 0].tolist() == [1, -1, 1, -1, 1]
    bootstrap[1] = -bootstrap[1]
    assert discounted_outcomes(GAME, record, bootstrap=bootstrap)[:, 0].tolist() == [-1, -1, 1, -1, 1]
