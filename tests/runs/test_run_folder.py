"""The folder of a run: its paths and its levels."""

import pytest

from selfplay.runs.run_folder import RunFolder


def test_the_files_of_a_run_have_their_documented_paths(tmp_path):
    run = RunFolder(tmp_path)
    assert run.dataset(0) == tmp_path / "level_00" / "dataset.csv"
    assert run.agent(3) == tmp_path / "level_03" / "agent.safetensors"
    assert run.epoch_loss(17) == tmp_path / "level_17" / "epoch_loss.csv"
    assert run.level(100) == tmp_path / "level_100"
    assert run.comparison == tmp_path / "comparison" / "levels.csv"
    assert run.figures == tmp_path / "figures"


def test_the_trained_levels_are_those_with_an_agent_in_order(tmp_path):
    run = RunFolder(tmp_path)
    assert run.trained_levels() == []
    for level in (10, 2, 1):
        run.level(level).mkdir()
        run.agent(level).touch()
    run.level(3).mkdir()
    assert run.trained_levels() == [1, 2, 10]


@pytest.mark.parametrize("name", ["best", "²", "007", "-1"])
def test_folders_whose_name_is_not_that_of_a_level_are_ignored(tmp_path, name):
    (tmp_path / f"level_{name}").mkdir()
    (tmp_path / f"level_{name}" / "agent.safetensors").touch()
    assert RunFolder(tmp_path).trained_levels() == []
