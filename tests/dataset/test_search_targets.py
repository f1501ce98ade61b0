"""The rows of the target rule `search_targets`: positions before each ply, their policies and outcomes."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.searched_targets import search_targets
from selfplay.dataset.target_rules import PlayedMatches, full
from selfplay.games import make_game
from selfplay.matches.arena import play_batch
from selfplay.players.kept_searches import KeepsSearches
from selfplay.players.mcts import MctsPlayer
from selfplay.players.player import RandomPlayer
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from tests.search.mcts.hashed_evaluator import HashedEvaluator

GAME = make_game("tictactoe")
KEY = stream_key(3, 1, Activity.GENERATION)
MATCHES = torch.tensor([4, 7, 5])


def learner(**settings):
    rule = make_rule("puct", {"noise": 0.25})
    search_of_game = TreeSearch(GAME, HashedEvaluator(GAME.num_distinct_actions), rule, 8)
    return KeepsSearches(MctsPlayer(search_of_game, **{"temperature": 1.0, "temperature_plies": 8, **settings}))


def played_by(player, gamma=0.5, matches=MATCHES, **options):
    record = play_batch(GAME, (player, player), matches, torch.zeros(len(matches), dtype=torch.int8), KEY)
    return PlayedMatches(GAME, record, (player, player), KEY, gamma, **options)


def test_every_position_with_a_player_to_move_is_a_row():
    played = played_by(learner())
    rows, afterstates = match_rows(played, search_targets), match_rows(played, full)
    assert rows.match.tolist() == sorted(rows.match.tolist())
    for match in MATCHES.tolist():
        mine, moves = (part.select(part.match == match) for part in (rows, afterstates))
        # The start is a row, and the end of the match is not.
        assert mine.ply.tolist() == list(range(-1, len(moves.match) - 1))
        assert (mine.position[1:] == moves.position[:-1]).all()
        assert mine.target[1:].tolist() == moves.target[:-1].tolist()


def test_the_target_of_the_start_is_that_of_the_player_who_moves_second():
    played = played_by(RandomPlayer(GAME))
    returns, rows = played.record.states[-1].returns, match_rows(played, search_targets)
    for number, match in enumerate(MATCHES.tolist()):
        plies = int((torch.stack(played.record.actions)[:, number] >= 0).sum())
        expected = -float(returns[number]) * 0.5 ** (plies // 2)
        assert rows.target[(rows.match == match) & (rows.ply == -1)].tolist() == [expected]


def test_outcomes_are_those_of_full_for_the_same_positions():
    played = played_by(RandomPlayer(GAME), matches=torch.arange(50))
    moved = torch.stack(played.record.actions[1:]) >= 0
    assert torch.equal(search_targets(played).value[1:][moved], full(played)[:-1][moved])


def test_a_row_has_the_policy_of_the_search_of_its_position():
    player = learner()
    played = played_by(player)
    rows = match_rows(played, search_targets)
    assert rows.policy.dtype == np.float32
    assert rows.policy.sum(axis=1) == pytest.approx(1)
    for row in range(0, len(rows.match), 5):
        state = GAME.state_at(torch.from_numpy(rows.position[[row]]))
        draws = Draws(KEY, torch.tensor([int(rows.match[row])]), int(rows.ply[row]) + 1)
        found = player.unwrapped.search.search(state, draws)
        assert rows.policy[row].tolist() == found.policy[0].float().tolist()


def test_the_searched_value_is_mixed_in_for_the_player_who_has_just_moved():
    outcome, mixed, searched = (
        match_rows(played_by(learner(), value_share=mix), search_targets) for mix in (0.0, 0.25, 1.0)
    )
    assert mixed.target == pytest.approx(0.75 * outcome.target + 0.25 * searched.target, abs=1e-6)
    player = learner()
    state = GAME.init(1)
    value = player.unwrapped.search.search(state, Draws(KEY, MATCHES[:1], 0)).value
    assert searched.target[searched.match == 4][0] == pytest.approx(-float(value))


def test_after_the_first_plies_the_action_of_the_search_is_played():
    player = learner(temperature=1.0, temperature_plies=2)
    record = played_by(player, matches=torch.arange(40)).record
    for ply, state in enumerate(record.states[:-1]):
        best = player.unwrapped.search.search(state, Draws(KEY, torch.arange(40), ply)).actions
        is_best = (best == record.actions[ply])[~state.terminated]
        assert bool(is_best.all()) == (ply >= 2)


def test_level_0_has_the_policy_that_it_plays():
    rows = match_rows(played_by(RandomPlayer(GAME)), search_targets)
    free = 9 - (rows.ply + 1)
    assert rows.policy.max(axis=1) == pytest.approx(1 / free)
    assert ((rows.policy > 0).sum(axis=1) == free).all()


def test_a_position_in_which_only_a_pass_is_legal_and_the_one_after_it_are_rows():
    game = make_game("othello_4x4")
    player = RandomPlayer(game)
    record = play_batch(game, (player, player), torch.arange(40), torch.zeros(40, dtype=torch.int8), KEY)
    rows = match_rows(PlayedMatches(game, record, (player, player), KEY, 1.0), search_targets)
    assert len(rows.match) == int((torch.stack(record.actions) >= 0).sum())
    passes = np.flatnonzero(rows.policy[:, game.pass_action])
    assert len(passes) > 0
    assert (rows.policy[passes, game.pass_action] == 1).all()
    # The next row is the same board, seen by the other player.
    followed = passes[(rows.match[passes] == rows.match[np.minimum(passes + 1, len(rows.match) - 1)])]
    assert len(followed) > 0
    assert (rows.position[followed] == rows.position[followed + 1, ::-1]).all()
    assert (rows.target[followed] == -rows.target[followed + 1]).all()
