"""Runs that learn a policy by tree search: datasets, losses, resuming, and refused settings."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from selfplay import generate_level, learn_levels
from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.grades_and_policies import POLICY_COLUMNS, ways_of_playing
from selfplay.grading.proof import Grader
from selfplay.named_players.make import make_player
from selfplay.runs.levels import agent_of_level
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.measure_levels import gate_text
from selfplay.tables import data_frame
from tests.support.runs import files_of, tiny_settings

GAME = make_game("tictactoe")
POLICY = [
    *("learner=policy", "learner.rule=puct", "learner.simulations=4"),
    *("architecture=alphazero_mlp", "architecture.hidden_sizes=[16]"),
]
SMALL = ["matches=40", "levels=2", "learner.epochs=2", "learner.batch_size=32"]


def policy_settings(run_dir: Path, *overrides: str):
    return tiny_settings(run_dir, *POLICY, *SMALL, *overrides)


@pytest.fixture(scope="module")
def policy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run_dir = tmp_path_factory.mktemp("policy") / "run"
    learn_levels(policy_settings(run_dir))
    generate_level(policy_settings(run_dir), 2)
    return run_dir


@pytest.fixture
def policy_copy(policy_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(policy_run, tmp_path / "copy"))


def test_a_run_with_policies_has_the_documented_files(policy_run: Path) -> None:
    table = pd.read_csv(policy_run / "level_01" / "dataset.csv")
    assert list(table.columns[-10:]) == ["target", *(f"p{action}" for action in range(9))]
    losses = pd.read_csv(policy_run / "level_02" / "epoch_loss.csv")
    for stage in ("training", "validation"):
        parts = losses[f"{stage}_value_loss"] + losses[f"{stage}_policy_loss"]
        assert losses[f"{stage}_loss"].tolist() == pytest.approx(parts.tolist())


def test_batches_and_shards_change_no_byte(policy_run: Path, policy_copy: Path) -> None:
    for level in (0, 2):
        (policy_copy / f"level_{level:02d}" / "dataset.csv").unlink()
        settings = policy_settings(policy_copy, "force=true", "dataset.shard_matches=16", "batch_size=9")
        assert generate_level(settings, level)
    assert files_of(policy_copy) == files_of(policy_run)


def test_batches_and_shards_change_no_byte_of_matches_with_kept_trees(policy_run: Path, policy_copy: Path) -> None:
    def rows(*overrides: str) -> bytes:
        RunFolder(policy_copy).dataset(1).unlink()
        assert generate_level(policy_settings(policy_copy, "force=true", "learner.reuse=true", *overrides), 1)
        return RunFolder(policy_copy).dataset(1).read_bytes()

    kept = rows()
    assert kept != RunFolder(policy_run).dataset(1).read_bytes()
    assert rows("batch_size=17", "dataset.shard_matches=24") == kept


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["architecture=mlp"], "architecture=mlp has no policy head, which learner=policy trains; set architecture="),
        (
            ["learner.rule=gumbel", "learner.reuse=true"],
            "reuse=true: learner.rule=gumbel divides its simulations from an unvisited position",
        ),
    ],
)
def test_levels_that_could_not_play_are_refused_before_level_0(
    tmp_path: Path, overrides: list[str], message: str
) -> None:
    settings = tiny_settings(tmp_path, "learner=policy", "architecture=alphazero_mlp", *overrides)
    with pytest.raises(SettingError, match=message):
        generate_level(settings, 0)


def test_a_level_that_does_not_pass_the_gate_keeps_the_weights_before(policy_run: Path, tmp_path: Path) -> None:
    gated = ["learner.gate_matches=10", "matches=40", "levels=2"]
    learn_levels(policy_settings(tmp_path / "closed", *gated, "learner.gate=1.0"))
    learn_levels(policy_settings(tmp_path / "open", *gated, "learner.gate=0.0"))
    closed, opened, free = RunFolder(tmp_path / "closed"), RunFolder(tmp_path / "open"), RunFolder(policy_run)
    weights = [load_file(run.agent(level)) for run in (closed, closed, opened, free) for level in (1, 2)]
    assert equal(weights[1], weights[0])
    assert equal(weights[5], weights[7])
    assert not equal(weights[5], weights[4])
    counts = Manifest(closed.level(2)).sections["training"]["counts"]
    assert counts["gate_taken"] == 0
    assert counts["gate_wins"] + counts["gate_draws"] + counts["gate_losses"] == 10
    assert "gate_taken" not in Manifest(closed.level(1)).sections["training"]["counts"]
    (text,) = gate_text(closed)
    assert re.fullmatch(r"Level 2 was not taken: it won .* against level 1, too few for learner.gate=1\.0; .*", text)
    assert gate_text(opened) == []


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def test_the_policy_head_plays_alone(policy_run: Path) -> None:
    player = make_player("policy:2", GAME, policy_run)
    state = GAME.state_after(["1,1", "0,0"])
    policy = player.policy(state)
    assert policy.sum() == 1
    assert GAME.legal_action_mask(state)[0, int(policy.argmax())]
    assert player.act(state, Draws(0, torch.tensor([0]), 2)).tolist() == [int(policy.argmax())]


def test_the_ways_of_playing_are_graded_exactly(policy_run: Path) -> None:
    ways = ways_of_playing({2: agent_of_level(policy_run, 2, GAME)}, Grader(enumerate_positions(GAME)))
    names = ["policy:2", "level:2", *(f"mcts:level:2?simulations={number}" for number in (2, 8, 32))]
    assert [way["player"] for way in ways] == names
    assert 0 < ways[0]["search_agreement"] < ways[-1]["search_agreement"] == 1
    assert [way["policy_entropy"] is None for way in ways] == [False, True, True, True, True]
    assert ways[-1]["optimal_action_rate"] > ways[0]["optimal_action_rate"]
    table = data_frame(POLICY_COLUMNS, ways)
    assert table["losing_lines_second"].tolist() == [way["losing_lines_second"] for way in ways]
