"""A game, an architecture, a target rule and a player from outside the package, combined by settings alone."""

from pathlib import Path

import pytest
import torch

from selfplay import learn_levels, load_level
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.play_matches import play_match_series
from tests.support.dataset_tools import read_dataset
from tests.support.doc_pages import write_module
from tests.support.outside_training import PolicyNetwork
from tests.support.pile import Pile
from tests.support.runs import tiny_settings

GAME = "tests.support.pile:Pile"
PLAYER = "tests.support.stub_players:FirstLegal"
LEARNING = [
    f"game.name={GAME}",
    "architecture=custom",
    "architecture.name=tests.support.outside_training:PolicyNetwork",
    "learner.targets=tests.support.outside_training:halved",
    "levels=2",
]


def test_levels_of_an_outside_game_are_generated_trained_loaded_and_played(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    learn_levels(tiny_settings(run.path, *LEARNING))

    agent = load_level(run.path, 2)
    assert type(agent.game) is Pile
    for level in (0, 1):
        rows = read_dataset(run.dataset(level), agent.game.observation_codec)
        assert set(rows.target.tolist()) == {-0.5, 0.5}

    assert type(agent.network) is PolicyNetwork
    state = agent.game.init()
    value, policy_logits = agent.network(agent.game.observe(state))
    assert (value.shape, policy_logits.shape) == ((1,), (1, 3))
    values = agent.action_values(state)
    torch.nn.init.normal_(agent.network.policy.weight)
    torch.testing.assert_close(agent.action_values(state), values, equal_nan=True)

    overrides = [f"game.name={GAME}", f"run_dir={run.path}", f"first={PLAYER}", "second=level:2", "matches=20"]
    results = play_match_series(compose_settings_of(MatchSettings, "matches", overrides))
    wins, draws, losses = results.by_player
    # Both players are deterministic, so only who moves first decides a match; seven coins cannot be shared equally.
    assert (wins + losses, draws) == (20, 0)
    assert wins in {0, 10, 20}


def test_an_outcome_a_target_an_optimiser_and_a_schedule_of_the_documentation_are_learned_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path, "adding_a_learner.md", "class SignDescent", "own_parts.py")
    monkeypatch.syspath_prepend(tmp_path)
    parts = {"outcome": "win_and_lead", "targets": "bold", "optimizer": "SignDescent", "schedule": "halving"}
    run = RunFolder(tmp_path / "run")
    chosen = [f"learner.{parameter}=own_parts:{name}" for parameter, name in parts.items()]
    learn_levels(tiny_settings(run.path, *chosen, "levels=1", "matches=50"))
    agent = load_level(run.path, 1)
    targets = set(read_dataset(run.dataset(0), agent.game.observation_codec).target.tolist())
    assert min(abs(target) for target in targets) == pytest.approx(0.1)
