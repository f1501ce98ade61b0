"""Outcomes: returns and leads in points, as targets and as values of finished matches."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from selfplay import play_matches
from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.api.stages import generate_level, learn_levels, train_level
from selfplay.architectures import Output, build_network
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.games.outcomes import (
    OUTCOMES,
    EndValues,
    disc_difference,
    match_return,
    outcome_of_first,
    outcome_of_other,
)
from selfplay.games.state import State
from selfplay.players.player import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.runs.levels import load_level
from selfplay.search.feature_evaluation import FeatureEvaluation
from tests.support.dataset_tools import read_dataset
from tests.support.runs import GENERATE, run_forked, tiny_settings
from tests.support.searches import position_values

LEADS = ["game=othello", "learner.outcome=disc_difference", "learner.gamma=1"]


class Nothing(nn.Module):
    def forward(self, observations):
        return Output(torch.zeros(len(observations)))


def states_of(name, matches=15):
    game = make_game(name)
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), range(matches), 5)
    return game, State(*(torch.cat(field) for field in zip(*record.states, strict=True)))


def test_a_lead_is_counted_in_discs_over_the_squares():
    game = make_game("othello_4x4")
    # X has 9 discs and O 7; it makes no difference who is to move.
    for side in "XO":
        state = game.read_board("XXXXXXXXXOOOOOOO", side)
        assert outcome_of_first(game, state, disc_difference(game)).tolist() == [2 / 16]
        assert outcome_of_first(game, state, match_return(game)).tolist() == [1.0]
    assert outcome_of_other(game, game.read_board("XXXXXXXXXOOOOOOO", "X"), disc_difference(game)).tolist() == [-2 / 16]
    assert outcome_of_other(game, game.read_board("XXXXXXXXXOOOOOOO", "O"), disc_difference(game)).tolist() == [2 / 16]
    assert disc_difference(game) == (0.0, 1 / 16)
    # The komi can be added to all the crossings.
    assert disc_difference(make_game("go", 7)) == (0.0, 1 / 58)
    assert match_return(game) == (1.0, 0.0)


def test_the_targets_of_a_match_are_its_lead_over_64(tmp_path):
    settings = tiny_settings(tmp_path, *LEADS, "matches=30")
    generate_level(settings, 0)
    table = pd.read_csv(tmp_path / "level_00" / "dataset.csv")
    bits = table[[f"v{i}" for i in range(128)]].to_numpy()
    for _, rows in table.groupby("match"):
        last = rows.index[-1]
        discs = int(bits[last, :64].sum()) - int(bits[last, 64:].sum())
        # Squares that stay empty count for the winner.
        lead = (discs + np.sign(discs) * (64 - bits[last].sum())) / 64
        assert table["target"][last] == lead
        assert set(rows["target"].abs()) == {abs(lead)}


def test_networks_and_compiled_searches_value_ends_equally():
    outcome = "disc_difference"
    game, states = states_of("othello_4x4")
    network = build_network({"name": "ntuple"}, game.observation_shape, game.num_distinct_actions)
    evaluation = Agent(Checkpoint(network, {"outcome": outcome}), game, "level 1").evaluation()
    states = states.select(~states.terminated)
    looked_up = ValueNetPlayer(game, Nothing(), outcome=outcome).action_values(states)
    rows, actions = game.legal_action_mask(states).nonzero(as_tuple=True)
    after = game.step(states.select(rows), actions)
    over = after.terminated
    expected = torch.where(over, outcome_of_other(game, after, OUTCOMES[outcome](game)), 0.0)
    assert torch.equal(looked_up[rows, actions], expected)
    searched = 0.0 - position_values(evaluation, game, after)  # an untrained network values open positions at 0
    torch.testing.assert_close(searched.float(), expected, rtol=0, atol=1e-6)
    assert over.sum() > 10


def test_compiled_searches_count_half_points():
    game, states = states_of("go_3x3_komi=0.5")
    over = states.select(states.terminated)
    evaluation = FeatureEvaluation(win=0.0, margin=1.0, weights={})
    leads = torch.where(over.current_player == 0, game.score(over), -game.score(over))
    assert torch.equal(position_values(evaluation, game, over).float(), leads)
    assert set((leads.abs() % 1).tolist()) == {0.5}


def test_a_level_learns_leads_and_its_checkpoint_records_it(tmp_path):
    settings = tiny_settings(tmp_path, *LEADS, "matches=60", "levels=1")
    learn_levels(settings)
    assert load_level(tmp_path, 1).outcome == "disc_difference"
    # Matches generated for one outcome are not used for another.
    with pytest.raises(StageError, match=r"outcome was .*disc_difference.*, is .*return"):
        train_level(tiny_settings(tmp_path, "game=othello", "learner.gamma=1", "matches=60"), 1)


def test_a_game_without_points_is_refused_in_one_line(tmp_path):
    with pytest.raises(SettingError, match=r"^outcome=disc_difference: tictactoe .*; set outcome=return$"):
        disc_difference(make_game("tictactoe"))
    message = "learner.outcome=disc_difference: tictactoe does not count points; set learner.outcome=return"
    with pytest.raises(SettingError, match=message):
        learn_levels(tiny_settings(tmp_path / "library", "learner.outcome=disc_difference"))
    done = run_forked(
        GENERATE, "learner.outcome=disc_difference", "matches=20", f"run_dir={tmp_path / 'script'}", "level=0"
    )
    assert (done.returncode, done.stderr) == (2, f"error: {message}\n")


def lead_counts_half(game):
    """Half for the win and half for the lead: an outcome from outside the package."""
    return EndValues(win=0.5, point=0.5 / game.num_squares)


def test_an_outcome_of_another_module_makes_the_targets_of_a_level(tmp_path):
    game = make_game("othello_4x4")
    outcome = f"{__name__}:lead_counts_half"
    generate_level(
        tiny_settings(tmp_path, "game=othello_4x4", f"learner.outcome={outcome}", "learner.gamma=1", "matches=20"), 0
    )
    rows = read_dataset(tmp_path / "level_00" / "dataset.csv", game.observation_codec)
    last = np.append(rows.match[1:] != rows.match[:-1], True)
    over = game.state_at(torch.from_numpy(rows.position[last]))
    expected = (
        outcome_of_other(game, over, match_return(game)) + outcome_of_other(game, over, disc_difference(game))
    ) / 2
    assert over.terminated.all()
    assert rows.target[last].tolist() == pytest.approx(expected.tolist())
