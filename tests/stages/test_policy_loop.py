"""Runs that learn a policy by tree search: datasets, losses, resuming, and refused settings."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selfplay import generate_level, learn_levels, train_level
from selfplay.dataset.reader import read_dataset
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.runs.run_folder import RunFolder
from tests.support.runs import files_of, tiny_settings

GAME = make_game("tictactoe")
POLICY = ["targets=search", "architecture=alphazero_mlp", "architecture.hidden_sizes=[16]", "mcts.simulations=4"]
SMALL = ["matches=40", "levels=2", "training.epochs=2", "training.batch_size=32"]


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


@pytest.mark.parametrize("overrides", [["batch_size=7"], ["dataset.shard_matches=16", "batch_size=9"]])
def test_batches_and_shards_change_no_byte(policy_run: Path, policy_copy: Path, overrides: list[str]) -> None:
    for level in (0, 1, 2):
        (policy_copy / f"level_{level:02d}" / "dataset.csv").unlink()
        assert generate_level(policy_settings(policy_copy, "force=true", *overrides), level)
    assert files_of(policy_copy) == files_of(policy_run)


def test_parquet_has_the_same_rows_and_trains_the_same_network(policy_run: Path, tmp_path: Path) -> None:
    settings = policy_settings(tmp_path, "dataset.format=parquet", "levels=1")
    learn_levels(settings)
    generate_level(settings, 1)
    codec = GAME.observation_codec
    pairs = zip(
        read_dataset(RunFolder(tmp_path).dataset(1, "parquet"), codec),
        read_dataset(RunFolder(policy_run).dataset(1), codec),
        strict=True,
    )
    assert all(np.array_equal(one, other) for one, other in pairs)
    assert RunFolder(tmp_path).agent(1).read_bytes() == RunFolder(policy_run).agent(1).read_bytes()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["mcts.simulations=0"], r"^mcts\.simulations=0: must be 1 to 1,000,000$"),
        (["mcts.value_mix=2"], r"^mcts\.value_mix=2.0: must be between 0 and 1$"),
        (["mcts.rule=best"], r"^mcts\.rule=best: must be puct or gumbel or uct$"),
        (["opponents=pool"], "opponents=pool: with targets=search, a level plays against itself; set opponents=self"),
        (["dataset.format=parquet", "training.merge=false", "dataset.buffer_rows=9"], "are trained in memory"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(tmp_path: Path, overrides: list[str], message: str) -> None:
    with pytest.raises(SettingError, match=message) as caught:
        policy_settings(tmp_path, *overrides)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["architecture=mlp"], "architecture=mlp has no policy head, which targets=search trains; set architecture="),
        (["mcts.rule=gumbel"], "rule=gumbel has no constant 'alpha'"),
    ],
)
def test_levels_that_could_not_play_are_refused_before_level_0(
    tmp_path: Path, overrides: list[str], message: str
) -> None:
    settings = tiny_settings(tmp_path, "targets=search", "architecture=alphazero_mlp", *overrides)
    with pytest.raises(SettingError, match=message):
        generate_level(settings, 0)


def test_a_dataset_without_policies_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    own = f"dataset_file={RunFolder(tiny_run).dataset(0)}"
    with pytest.raises(InvalidFileError, match=r"dataset\.csv: has no policies, which targets=search needs"):
        train_level(policy_settings(tmp_path, own), 1)


def test_the_values_of_a_dataset_with_policies_train_other_networks(policy_run: Path, tmp_path: Path) -> None:
    own = f"dataset_file={RunFolder(policy_run).dataset(1)}"
    assert train_level(tiny_settings(tmp_path, own), 1)
    assert list(pd.read_csv(tmp_path / "level_01" / "epoch_loss.csv").columns)[-1] == "is_champion"
