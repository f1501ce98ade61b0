"""Policies where there are none, and searches that are out of range, are refused in one line."""

from pathlib import Path

import pytest

from selfplay import generate_level, train_level
from selfplay.errors import InvalidFileError, SettingError
from selfplay.runs.run_folder import RunFolder
from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, run_forked, tiny_settings

POLICY = ["learner=policy", "architecture=alphazero_mlp"]


def test_a_dataset_without_policies_is_refused(tmp_path: Path) -> None:
    generate_level(tiny_settings(tmp_path, "matches=20"), 0)
    message = r"dataset\.csv: has no policies, which learner=policy needs; generate it again with force=true$"
    with pytest.raises(InvalidFileError, match=message):
        train_level(tiny_settings(tmp_path, *POLICY), 1)
    assert not RunFolder(tmp_path).agent(1).exists()


def test_policies_are_not_trained_by_several_processes(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SettingError, match=r"^learner=policy trains in one process"):
        train_level(tiny_settings(tiny_run, *POLICY), 1)


@pytest.mark.slow
def test_players_that_a_level_cannot_be_are_refused_and_it_plays_tree_search_by_its_values(run_copy: Path) -> None:
    def played(player: str):
        return run_forked(
            COMMAND, "play-matches", f"first={player}", "second=random", "matches=2", f"run_dir={run_copy}"
        )

    assert_refused(played("policy:1"), 2, "level 1 has no policy head; write level:1")
    assert_refused(played("mcts:level:1?simulations=0"), 2, "simulations=0: must be 1 to 1,000,000")
    result = played("mcts:level:1?simulations=2")
    assert (result.returncode, "Traceback" in result.stderr) == (0, False)
