"""The table of all runs of a sweep, and the report of finished and unfinished ones."""

import shutil

import pandas as pd
import pytest

from selfplay.cli.programs.learning import report
from selfplay.errors import StageError
from selfplay.runs.finished_runs import Runs, read_runs
from selfplay.stages.sweep import compare_runs, result_of_run, run_table, unbeatable_from
from tests.support.sweeps import LARGE, finish, folder_of_runs, level_table, run_of


def test_the_table_takes_the_newest_level_and_keeps_large_counts():
    runs = [run_of("seed=0", seed=0), run_of("seed=1", level_table(lost=(9, 0, LARGE)), seed=1, loss=0.5)]
    table = run_table(runs, {"tictactoe": ["first", "second"]})
    assert list(table.columns[:3]) == ["run", "seed", "levels"]
    assert table["levels"].tolist() == [2, 2]
    assert table["exact_win_vs_random"].tolist() == [0.9, 0.9]
    assert table["losing_lines_first"].tolist() == [0, LARGE]
    assert table["unbeatable_from"].tolist() == [2, pd.NA]
    assert table["wins_vs_random"].tolist() == [900, 900]
    assert table["validation_loss"].tolist() == [0.25, 0.5]
    assert table["rating"].tolist() == [400.0, 400.0]


def test_numbers_of_lines_stay_whole_beside_runs_without_them():
    exact = level_table(lost=(9, 0, 2**53 + 1))
    sampled = level_table(exact=False).assign(losing_lines_first=None, losing_lines_second=None)
    table = run_table([run_of("seed=0", exact, seed=0), run_of("seed=1", sampled, seed=1)], {})
    assert table.to_csv().count(f",{2**53 + 1},") == 2


@pytest.mark.parametrize(
    ("lost", "first"), [((9, 0, 0), 1), ((9, 0, 3, 0), 3), ((9, 1, 0, 2), None), ((9, 0, 1, 0, 0), 3)]
)
def test_a_run_is_unbeatable_from_the_level_after_which_no_line_is_lost(lost, first):
    table = level_table(wins=[0.5] * len(lost), lost=lost, ratings=[0] * len(lost))
    assert unbeatable_from(table, ["first", "second"]) == first
    assert unbeatable_from(table, []) is None


@pytest.fixture
def folder(tiny_run, tmp_path):
    return folder_of_runs(tiny_run, tmp_path)


def test_the_report_has_a_row_per_run_and_names_the_unfinished_ones(folder):
    text = compare_runs(folder, read_runs(folder))
    assert [line.split()[0] for line in text.splitlines()[:3]] == ["run", "seed=9", "seed=10"]
    assert text.splitlines()[1].split()[1:7] == ["3", "900-0-100", "0.9000", "0/3.1", "x", "10^21"]
    assert "Unfinished or not readable, therefore not in the table: 5 of 7 runs\n" in text
    written = pd.read_csv(folder / "sweep" / "runs.csv", dtype={"lines_first": str})
    assert written["seed"].tolist() == [9, 10]
    assert written["lines_first"].tolist() == [str(LARGE)] * 2
    assert written["unbeatable_from"].tolist() == [2, 2]


def test_nearly_all_is_not_all(tmp_path):
    table = level_table().assign(exact_win_vs_random=0.99998, exact_loss_vs_random=0.00002, optimal_action_rate=0.99999)
    text = compare_runs(tmp_path, Runs([run_of(f"seed={seed}", table, seed=seed) for seed in (0, 1)], {}))
    first = text.splitlines()[1].split()
    assert (first[3:5], first.count(">0.9999")) == ([">0.9999", "<0.0001"], 2)


def test_without_finished_runs_there_is_no_table_but_an_error(folder, capsys):
    with pytest.raises(StageError, match=r"no run in .*just begun can be compared"):
        report(folder / "just begun")
    assert capsys.readouterr().out.endswith("1 of 1 runs\n  .: no level is trained yet\n")
    assert not (folder / "just begun" / "sweep").exists()
    with pytest.raises(StageError, match="contains no runs"):
        report(folder / "something else")


def test_the_result_of_a_run_is_not_that_of_a_run_inside_it(folder):
    shutil.copytree(folder / "seed=9", folder / "seed=10" / "corrected")
    finish(folder / "seed=10" / "corrected", level_table((0.4, 0.7, 0.8, 0.5), (9, 4, 0, 0), (0, 1, 2, 3)))
    assert result_of_run(folder / "seed=10", "exact_win_vs_random") == 0.9
    with pytest.raises(StageError, match="no level is trained yet"):
        result_of_run(folder / "just begun", "rating")
