"""Finished runs of a sweep: their settings, and reading them."""

import json
import math
import shlex
import shutil

import pytest

from selfplay import name_modules
from selfplay.errors import StageError
from selfplay.files import sha256
from selfplay.runs.command_lines import command_line
from selfplay.runs.finished_runs import (
    differing_settings,
    distinguishing_settings,
    read_level_table,
    read_runs,
)
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from tests.support.rejections import assert_file_rejected
from tests.support.sweeps import finish, folder_of_runs, level_table, run_of

# ---------------------------------------------------------------------- which settings tell runs apart


def test_only_settings_that_differ_are_columns():
    assert differing_settings([run_of("a"), run_of("b")]) == []
    assert differing_settings([run_of("a", seed=1), run_of("b", seed=2, **{"learner.epochs": 5})]) == [
        "seed",
        "learner.epochs",
    ]


def test_a_named_recipe_accounts_for_what_it_sets():
    runs = [
        run_of(f"recipe={recipe},seed={seed}", seed=seed, **{"learner.epochs": epochs})
        for recipe, epochs in (("article", 5), ("default", 20))
        for seed in (0, 1)
    ]
    assert differing_settings(runs) == ["recipe", "seed", "learner.epochs"]
    assert distinguishing_settings(runs) == ["recipe", "seed"]
    # The same recipe with other settings is different.
    more = [*runs, run_of("other/recipe=default,seed=0", **{"learner.epochs": 7})]
    assert distinguishing_settings(more) == ["recipe", "seed", "learner.epochs"]


# ---------------------------------------------------------------------- reading


@pytest.fixture
def folder(tiny_run, tmp_path):
    return folder_of_runs(tiny_run, tmp_path)


def test_runs_are_read_and_unfinished_ones_are_named(folder):
    runs = read_runs(folder, [folder / "seed=9", folder / "never begun"])
    assert [run.name for run in runs.finished] == ["seed=9", "seed=10"]
    assert [run.all_settings["seed"] for run in runs.finished] == [9, 10]
    assert [run.all_settings["learner.epochs"] for run in runs.finished] == [3, 3]
    assert runs.finished[0].all_settings["player.depth"] == 1
    assert runs.skipped.keys() == {"not compared", "newer level", "broken", "cut off", "just begun", "never begun"}
    assert runs.skipped["never begun"] == "it has not started"
    assert runs.skipped["just begun"] == "no level is trained yet"
    assert runs.skipped["not compared"] == "trained up to level 3, and its levels are not compared yet"
    assert runs.skipped["newer level"] == "trained up to level 3, but compared up to level 2"
    assert "levels.csv: is not a table of compared levels" in runs.skipped["broken"]
    assert "epoch_loss.csv: is cut off" in runs.skipped["cut off"]


def test_the_parts_of_a_run_do_not_hide_it(tiny_run, tmp_path):
    run = shutil.copytree(tiny_run, tmp_path / "run")
    finish(run)
    # train-tabular, a player that learns into tables elsewhere, and `correct` with its proof.
    for part, file in (("tabular", None), ("own", "tables.npz"), ("corrected", None)):
        (run / part).mkdir()
        (run / part / ".lock").touch()
        if file is not None:
            (run / part / file).touch()
    alone, among_others = read_runs(run), read_runs(tmp_path)
    assert [found.name for found in alone.finished] == ["."]
    assert alone.skipped == {"corrected": "no level is trained yet"}
    assert [found.name for found in among_others.finished] == ["run"]
    assert among_others.skipped == {"run/corrected": "no level is trained yet"}
    # A run may have the name of a part.
    shutil.copytree(run, tmp_path / "tabular")
    assert [found.name for found in read_runs(tmp_path).finished] == ["run", "tabular"]
    with pytest.raises(StageError, match="contains no runs"):
        read_runs(run / "tabular")


def test_a_run_of_an_unknown_game_is_left_out_and_named(folder):
    manifest = Manifest(folder / "seed=9" / "level_03")
    manifest.sections["training"]["settings"]["game.name"] = "no_module:Game"
    manifest.path.write_text(json.dumps({"format": 2, **manifest.sections}))
    runs = read_runs(folder)
    assert [run.name for run in runs.finished] == ["seed=10"]
    assert "game" in runs.skipped["seed=9"]


def test_a_table_that_differs_from_its_manifest_is_left_out_and_named(folder):
    run = RunFolder(folder / "seed=9")
    manifest = Manifest(run.path)
    manifest.record("comparison", {}, {}, ["comparison/levels.csv"])
    assert "seed=9" in [run.name for run in read_runs(folder).finished]
    finish(run.path, level_table((0.4, 0.7, 0.8, 0.9), (9, 4, 0, 0), (0, 1, 2, 999)))
    reason = read_runs(folder).skipped["seed=9"]
    command = f"{command_line('compare')} {shlex.quote(f'run_dir={run.path}')}"
    assert reason == f"{run.comparison}: differs from its manifest; {command} writes it again"
    # While a comparison is made again, no manifest describes the table.
    manifest.forget("comparison")
    assert "seed=9" in [run.name for run in read_runs(folder).finished]


def test_a_comparison_with_other_code_than_today_is_left_out_and_named(folder, tmp_path, monkeypatch):
    module = tmp_path / "compared_player.py"
    module.write_text("from tests.support.stub_players import FirstLegal\n\nclass Opponent(FirstLegal):\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    name_modules(["compared_player"])
    run, references = RunFolder(folder / "seed=9"), ["compared_player:Opponent"]
    manifest = Manifest(run.path)
    manifest.record("comparison", {"references": references}, {}, ["comparison/levels.csv"])
    assert "seed=9" in [run.name for run in read_runs(folder).finished]
    code = manifest.sections["comparison"]["code"]
    code["modules"]["compared_player"] = code["sha256"] = "0" * 64
    manifest.path.write_text(json.dumps({"format": 2, **manifest.sections}))
    assert read_runs(folder).skipped["seed=9"] == (
        f"the code of {module} has changed, or a value that it uses, since its levels were compared; "
        f"{command_line('compare')} compares again"
    )


def test_a_comparison_of_earlier_levels_is_left_out_and_named(folder):
    run = RunFolder(folder / "seed=9")
    agents = [sha256(run.agent(level)) for level in run.trained_levels()]
    Manifest(run.path).record("comparison", {"agents_sha256": agents}, {}, ["comparison/levels.csv"])
    assert "seed=9" in [run.name for run in read_runs(folder).finished]
    run.agent(2).write_bytes(run.agent(3).read_bytes())
    reason = read_runs(folder).skipped["seed=9"]
    assert (
        reason
        == f"level 2 has been made again since the levels were compared; {command_line('compare')} compares again"
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda table: table.drop(columns="rating"),
        lambda table: table.assign(losing_lines_first="-3"),
        lambda table: table.assign(exact_win_vs_random=[0.5, math.nan, 0.7]),
    ],
)
def test_a_table_that_is_not_one_of_levels_is_refused(tmp_path, spoil):
    path = tmp_path / "levels.csv"
    level_table().to_csv(path, index=False)
    assert read_level_table(path)["losing_lines_first"].tolist() == [50, 4, 0]
    spoil(level_table()).to_csv(path, index=False)
    with assert_file_rejected(path, "is not a table of compared levels"):
        read_level_table(path)
