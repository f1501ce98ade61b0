"""Finished runs are read, played, compared and resumed.

tests/data/finished_run holds two tiny runs of November 2026: 60 matches a level, a hidden layer of 16 units, and
figures drawn with few pixels.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay import compare_levels, generate_level, learn_levels, load_level, make_game, train_level
from selfplay.cli.programs.learning import compare_program
from selfplay.errors import StageError
from selfplay.runs.finished_runs import read_runs
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings, compose_settings
from selfplay.stages.compare import is_compared
from selfplay.stages.learning_run import open_run
from tests.support.dataset_tools import read_dataset
from tests.support.runs import PROJECT, files_of, report_of_comparison

RUNS = PROJECT / "tests" / "data" / "finished_run"
LEVELS = {"csv": 3, "parquet": 2}
GIVEN = ["matches=60", "seed=7", "architecture.hidden_sizes=[16]", "learner.epochs=3", "comparison.matches=20"]
"""What the runs were started with, beside run_dir and levels."""
OF_FORM = {"csv": [], "parquet": ["dataset.format=parquet", "dataset.shard_matches=32"]}


@pytest.fixture(params=["csv", "parquet"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run_dir(form: str, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    shutil.copytree(RUNS / form, tmp_path / "run")
    return tmp_path / "run"


def settings_of(form: str, run_dir: Path, *overrides: str) -> Settings:
    given = [*GIVEN, *OF_FORM[form], f"run_dir={run_dir}", f"levels={LEVELS[form]}", *overrides]
    return compose_settings(given)


def test_its_datasets_and_its_settings_are_read(form, run_dir):
    run, game = RunFolder(run_dir), make_game("tictactoe")
    for level in range(LEVELS[form]):
        rows = read_dataset(run.dataset(level, form), game.observation_codec)
        assert rows.match.max() == 59
        assert Manifest(run.level(level)).sections["generation"]["counts"]["rows"] == len(rows.match)
    (finished,) = read_runs(run_dir).finished
    assert finished.all_settings["learner.epochs"] == 3
    assert finished.table["level"].tolist() == list(range(LEVELS[form] + 1))
    assert load_level(run_dir, LEVELS[form], game).name == f"level {LEVELS[form]}"


def is_already_compared(settings):
    with open_run(settings, "compare") as run:
        return is_compared(run)


def test_finished_stages_are_skipped(form, run_dir):
    before = files_of(run_dir)
    settings = settings_of(form, run_dir)
    for level in range(LEVELS[form]):
        assert not generate_level(settings, level)
        assert not train_level(settings, level + 1)
    assert is_already_compared(settings)
    assert files_of(run_dir) == before


def test_compare_repeats_its_report_where_nothing_can_be_written(form, run_dir, monkeypatch, capsys):
    monkeypatch.setattr("selfplay.cli.programs.learning.compare_and_report", lambda *_: "compared again")
    compare_program.body(settings_of(form, run_dir))
    assert capsys.readouterr().out == "\ncompared again\n"
    before = files_of(run_dir)
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    compare_program.body(settings_of(form, run_dir))
    report = (run_dir / "comparison" / "report.txt").read_text()
    assert capsys.readouterr().out.startswith(f"\n{report}\nPlay against it: ")
    assert files_of(run_dir) == before


def test_its_levels_are_compared_with_the_same_result(form, run_dir):
    before = RunFolder(run_dir).comparison.read_bytes()
    compare_levels(settings_of(form, run_dir))
    assert RunFolder(run_dir).comparison.read_bytes() == before


@pytest.mark.slow
def test_its_tables_have_the_same_bytes_whatever_instructions_the_libraries_use(tmp_path):
    """Matrix libraries add in another order on another processor; these variables make them take its code."""
    older = {"OPENBLAS_CORETYPE": "Zen", "ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}
    others = [{}, older | {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}]
    run_dir, tables = Path(shutil.copytree(RUNS / "csv", tmp_path / "run")), set()
    for threads, variables in zip((1, 2), others, strict=True):
        settings = ["levels=3", *GIVEN, f"threads={threads}"]
        command = [sys.executable, "-m", "selfplay", "compare", f"run_dir={run_dir}", *settings]
        subprocess.run(command, env=os.environ | variables, check=True, capture_output=True)
        tables.add((RunFolder(run_dir).comparison.read_bytes(), RunFolder(run_dir).report.read_bytes()))
    assert len(tables) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet"])
def test_it_is_continued_by_another_level(form, run_dir):
    before, run, newest = files_of(run_dir), RunFolder(run_dir), LEVELS[form] + 1
    settings = settings_of(form, run_dir, f"levels={newest}")
    learn_levels(settings)
    assert run.trained_levels() == list(range(1, newest + 1))
    assert run.dataset(newest - 1, form).exists()
    untouched = before.keys() - {f"level_{newest - 1:02d}/manifest.json", "manifest.json"}
    after = files_of(run_dir)
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    assert not is_already_compared(settings)
    assert f"Level {newest} can" in report_of_comparison(settings)
    assert is_already_compared(settings)


def forget(run_dir: Path, level: int, stage: str, name: str) -> None:
    """Remove a setting that a manifest records."""
    path = RunFolder(run_dir).level(level) / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest[stage]["settings"][name]
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("form", ["csv"])
def test_a_setting_missing_in_its_manifest_counts_as_having_the_default(form, run_dir):
    for level, stage, name in (
        (1, "generation", "learner.viewpoints"),
        (1, "generation", "player.depth"),
        (2, "training", "learner.weight_decay"),
        (2, "training", "architecture.dropout"),
    ):
        forget(run_dir, level, stage, name)
    settings = settings_of(form, run_dir)
    assert not generate_level(settings, 1)
    assert not train_level(settings, 2)
    with pytest.raises(StageError, match=r'viewpoints was "both", is "agent"; '):
        generate_level(settings_of(form, run_dir, "learner.viewpoints=agent"), 1)
    with pytest.raises(StageError, match=r"learner\.weight_decay was 0\.0, is 0\.1; "):
        train_level(settings_of(form, run_dir, "learner.weight_decay=0.1"), 2)
    with pytest.raises(StageError, match=r"architecture\.dropout was 0\.0, is 0\.5; "):
        train_level(settings_of(form, run_dir, "architecture.dropout=0.5"), 2)
