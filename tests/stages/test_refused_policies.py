"""Policies where there are none, and searches that are out of range: one line on stderr and an exit code."""

import re
from pathlib import Path

import pytest

from selfplay import generate_level
from selfplay.runs.run_folder import RunFolder
from tests.support.runs import PROJECT, TINY, TRAIN, run_forked, tiny_settings

MATCHES = PROJECT / "train" / "play_matches.py"
POLICY = ["targets=search", "architecture=alphazero_mlp"]
PARTS = ["dataset.format=parquet", "training.merge=false", "dataset.buffer_rows=100"]


def assert_refused(script: Path, arguments: list[str], code: int, message: str) -> None:
    result = run_forked(script, *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert re.fullmatch(rf"error: .*{message}\n", result.stderr), result.stderr


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_dataset_without_policies_is_refused(tmp_path: Path, form: str) -> None:
    settings = tiny_settings(tmp_path, "matches=20", f"dataset.format={form}")
    generate_level(settings, 0)
    arguments = [*TINY, *POLICY, f"dataset.format={form}", f"run_dir={tmp_path}", "level=1"]
    message = rf"dataset\.{form}: has no policies, which targets=search needs; generate it again with force=true"
    assert_refused(TRAIN, arguments, 1, message)
    assert not RunFolder(tmp_path).agent(1).exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            [*POLICY, *PARTS],
            r"dataset\.buffer_rows=100: rows with policies are trained in memory; set dataset\.buffer_.*",
        ),
        ([*POLICY, "mcts.simulations=0"], r"mcts\.simulations=0: must be 1 to 1,000,000"),
        (["gate=1.5"], r"gate=1\.5: must be from 0 to 1, or null"),
        (["gate=nan"], r"gate=nan: must be from 0 to 1, or null"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, overrides: list[str], message: str) -> None:
    assert_refused(TRAIN, [*TINY, *overrides, f"run_dir={tmp_path}", "level=1"], 2, message)


def test_policies_are_not_trained_by_several_processes(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    arguments = [*TINY, *POLICY, f"run_dir={tiny_run}", "level=1"]
    assert_refused(TRAIN, arguments, 2, "targets=search trains in one process; start it without torchrun")


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("policy:1", "level 1 has no policy head; write level:1"),
        ("mcts:level:1?simulations=0", "simulations=0: must be 1 to 1,000,000"),
    ],
)
def test_players_that_a_level_cannot_be_are_refused(run_copy: Path, player: str, message: str) -> None:
    assert_refused(MATCHES, [f"first={player}", "second=random", "matches=2", f"run_dir={run_copy}"], 2, message)


def test_a_level_without_a_policy_head_plays_tree_search_by_its_values(run_copy: Path) -> None:
    players = ["first=mcts:level:1?simulations=2", "second=random"]
    result = run_forked(MATCHES, *players, "matches=2", f"run_dir={run_copy}")
    assert (result.returncode, "Traceback" in result.stderr) == (0, False)
