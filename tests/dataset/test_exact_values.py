"""Exact values of late positions as targets."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.searched_targets import search_targets
from selfplay.dataset.target_rules import PlayedMatches, full, watkins
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.outcomes import disc_difference
from selfplay.matches.arena import play_batch
from selfplay.players.player import RandomPlayer
from selfplay.search.exact_solver import empties, make_exact_solver

KEY = stream_key(3, 1, Activity.GENERATION)
EXACT_FROM = {"connect_four": 12, "othello_4x4": 8}


def played_at_random(name, gamma=1.0, **options):
    game = make_game(name)
    player, matches = RandomPlayer(game), torch.arange(60)
    record = play_batch(game, (player, player), matches, torch.zeros(60, dtype=torch.int8), KEY)
    return PlayedMatches(game, record, (player, player), KEY, gamma, **options)


@pytest.mark.parametrize("name", EXACT_FROM)
def test_late_positions_have_the_value_that_the_solver_finds(name):
    exact_from = EXACT_FROM[name]
    played = played_at_random(name, exact_from=exact_from)
    solver, number = make_exact_solver(played.game, 12), 0
    found = played.exact_values()
    for ply, values in enumerate(found):
        state = played.record.states[ply]
        is_late = (played.record.actions[ply] >= 0) & (empties(played.game, state) <= exact_from)
        assert torch.equal(~values.isnan(), is_late)
        for row in is_late.nonzero()[:5, 0].tolist():
            assert float(values[row]) == np.sign(solver.value(state, row))
            number += 1
    assert number > 20


@pytest.mark.parametrize("name", EXACT_FROM)
def test_the_match_ends_for_earlier_positions_with_its_first_exact_value(name):
    played, gamma = played_at_random(name, 0.5, exact_from=EXACT_FROM[name]), 0.5
    rows, exact = match_rows(played, search_targets), played.exact_values()
    number = 0
    for match in range(60):
        mine = rows.select(rows.match == match)
        known = [ply for ply, values in enumerate(exact) if not values[match].isnan()]
        if not known:
            continue
        first = known[0]
        movers = [int(state.current_player[match]) for state in played.record.states]
        value_of_first = float(exact[first][match]) * (1 if movers[first] == 0 else -1)
        for ply in range(first):
            waiting = 1 - movers[ply]
            moves = sum(
                movers[later] == waiting and int(played.record.actions[later][match]) != played.game.pass_action
                for later in range(ply, first)
            )
            expected = (value_of_first if waiting == 0 else -value_of_first) * gamma**moves
            assert float(mine.target[mine.ply == ply - 1][0]) == expected
            number += 1
        for ply in known:
            assert float(mine.target[mine.ply == ply - 1][0]) == -float(exact[ply][match])
    assert number > 60


def test_the_search_is_not_mixed_into_exact_values():
    rows = [
        match_rows(played_at_random("connect_four", exact_from=12, value_share=mix), search_targets)
        for mix in (0.0, 1.0)
    ]
    assert rows[0].target.tolist() == rows[1].target.tolist()


def test_with_values_alone_the_match_ends_for_earlier_positions_with_its_first_exact_value():
    played = played_at_random("othello_4x4", exact_from=8, outcome=disc_difference)
    rows, exact = match_rows(played, watkins), played.exact_values()
    states, number = played.record.states, 0
    for match in range(60):
        mine = rows.select(rows.match == match)
        for ply, target in zip(mine.ply.tolist(), mine.target.tolist(), strict=True):
            # The exact value of the first late position from the afterstate on, to the player who made the move.
            later = [late for late in range(ply + 1, len(exact)) if not exact[late][match].isnan()]
            if later:
                is_same = int(states[later[0]].current_player[match]) == int(states[ply].current_player[match])
                assert target == float(exact[later[0]][match]) * (1 if is_same else -1)
                number += 1
    assert number > 60


def test_games_without_a_solver_are_refused():
    for rule in (search_targets, full):
        with pytest.raises(SettingError, match=r"^exact_from: tictactoe has no exact solver; set exact_from=null$"):
            match_rows(played_at_random("tictactoe", exact_from=3), rule)
