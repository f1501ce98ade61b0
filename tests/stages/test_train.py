"""The stages of a run: files, resuming, changed settings, and kills."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from selfplay import generate_level, learn_levels, load_level, train_level
from selfplay.errors import InvalidFileError, StageError
from selfplay.runs.run_folder import RunFolder
from tests.support.kills import is_killed_at_change
from tests.support.runs import files_of, tiny_settings


def test_a_run_writes_the_files_of_each_level(tiny_run: Path) -> None:
    trained = ["agent.safetensors", "dataset.csv", "epoch_loss.csv", "manifest.json", "strength.csv"]
    expected = ["level_00/dataset.csv", "level_00/manifest.json"]
    expected += [f"level_{level:02d}/{name}" for level in (1, 2) for name in trained]
    expected += [f"level_03/{name}" for name in trained if name != "dataset.csv"]
    expected += ["manifest.json"]
    assert list(files_of(tiny_run)) == expected


def test_another_seed_gives_other_bytes(tiny_run: Path, tmp_path: Path) -> None:
    generate_level(tiny_settings(tmp_path, "seed=1"), 0)
    assert RunFolder(tmp_path).dataset(0).read_bytes() != RunFolder(tiny_run).dataset(0).read_bytes()


# Level 0 plays at random and the others by their network; one of these is enough where each worker imports torch.
@pytest.mark.parametrize(
    ("levels", "overrides"),
    [
        ((0, 2), ["dataset.shard_matches=100", "batch_size=37"]),
        pytest.param(
            *((2,), ["executor=process", "executor.workers=2", "dataset.shard_matches=100"]), marks=pytest.mark.slow
        ),
    ],
)
def test_batches_and_workers_change_no_byte(
    tiny_run: Path, run_copy: Path, levels: tuple[int, ...], overrides: list[str]
) -> None:
    settings = tiny_settings(run_copy, "force=true", *overrides)
    for level in levels:
        (run_copy / f"level_{level:02d}" / "dataset.csv").unlink()
        assert generate_level(settings, level)
    assert files_of(run_copy) == files_of(tiny_run)


def test_a_finished_stage_is_skipped(tiny_run: Path) -> None:
    paths = (path for path in tiny_run.rglob("*") if path.is_file() and path.name != "run.log")
    before = {path: path.stat().st_mtime_ns for path in paths}
    settings = tiny_settings(tiny_run)
    assert not generate_level(settings, 1)
    assert not train_level(settings, 2)
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_other_settings_are_refused_and_forced(tiny_run: Path, run_copy: Path) -> None:
    with pytest.raises(StageError, match=r"level_00: learner.gamma was 0\.9, is 0\.5"):
        generate_level(tiny_settings(run_copy, "learner.gamma=0.5"), 0)
    assert files_of(run_copy) == files_of(tiny_run)
    assert generate_level(tiny_settings(run_copy, "learner.gamma=0.5", "force=true"), 0)
    with pytest.raises(StageError, match="level_01: dataset_sha256 was"):
        train_level(tiny_settings(run_copy), 1)


def test_a_changed_dataset_is_refused(run_copy: Path) -> None:
    shutil.rmtree(run_copy / "level_01")
    path = run_copy / "level_00" / "dataset.csv"
    path.write_bytes(path.read_bytes()[: -len(path.read_bytes().splitlines()[-1]) - 1])
    with pytest.raises(StageError, match=r"differs from its manifest; generate it again with force=true$"):
        train_level(tiny_settings(run_copy), 1)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(StageError, match=r"differs from its manifest; generate it again with force=true$"):
        train_level(tiny_settings(run_copy), 1)


def test_another_architecture_than_the_level_before_is_refused(run_copy: Path) -> None:
    before = files_of(run_copy)
    with pytest.raises(StageError, match=r"has the architecture .*; set that architecture, or another run_dir$"):
        train_level(tiny_settings(run_copy, "architecture=conv", "force=true"), 3)
    assert files_of(run_copy) == before


# Convolutions with a policy head, and features.
@pytest.mark.parametrize(
    ("architecture", "options", "game"),
    [
        ("alphazero_residual", ["architecture.channels=4", "architecture.blocks=2"], "tictactoe"),
        ("othello_features", [], "othello"),
    ],
)
def test_an_architecture_learns_a_level(tmp_path: Path, architecture: str, options: list[str], game: str) -> None:
    settings = tiny_settings(
        tmp_path, f"architecture={architecture}", *options, f"game={game}", "levels=1", "matches=60"
    )
    learn_levels(settings)
    agent = load_level(tmp_path, 1)
    state = agent.game.init()
    assert agent.game.name == game
    assert agent.action_values(state)[agent.game.legal_action_mask(state)].isfinite().all()
    assert len(pd.read_csv(tmp_path / "level_01" / "epoch_loss.csv")) == 3


def test_the_agents_viewpoint_keeps_its_own_rows(tiny_run: Path, tmp_path: Path) -> None:
    generate_level(tiny_settings(tmp_path, "learner.viewpoints=agent"), 0)
    both, agent = (pd.read_csv(run_dir / "level_00/dataset.csv") for run_dir in (tiny_run, tmp_path))
    # The agent moves first in the even matches, so its plies are even there, and odd in the others.
    expected = both[both["ply"] % 2 == both["match"] % 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(agent, expected)


@pytest.mark.slow
def test_a_run_killed_at_any_change_of_its_files_ends_with_the_same_bytes(tiny_run: Path, tmp_path: Path) -> None:
    """A level makes twelve changes, so these are all kinds of them."""
    expected = files_of(tiny_run)
    for change in range(1, 39, 5):
        run_dir = tmp_path / f"killed_at_{change}"
        assert is_killed_at_change(change, learn_levels, tiny_settings(run_dir), below=run_dir)
        assert files_of(run_dir) != expected
        assert not is_killed_at_change(99, learn_levels, tiny_settings(run_dir), below=run_dir)
        assert files_of(run_dir) == expected


def test_an_agent_that_differs_from_its_manifest_is_not_trained_on(run_copy: Path) -> None:
    path = RunFolder(run_copy).agent(1)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"level_01/agent\.safetensors: differs from its manifest"):
        train_level(tiny_settings(run_copy, "force=true"), 2)
