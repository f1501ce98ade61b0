"""All runs of a sweep in one table and one figure: reading, unfinished runs, drawing."""

import json
import math
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from selfplay import registry
from selfplay.errors import StageError
from selfplay.figures.style import save_figure
from selfplay.figures.sweep import run_curves
from selfplay.grading.finished_runs import (
    Run,
    differing_settings,
    distinguishing_settings,
    read_level_table,
    read_runs,
    setting_text,
)
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.sweep import compare_runs, run_table, unbeatable_from
from tests.support.rejections import assert_file_rejected

LARGE = 31 * 10**20
"""A count of lines that 64 bits do not hold."""


def level_table(wins=(0.4, 0.8, 0.9), lost=(50, 4, 0), ratings=(0, 300, 400), *, exact=True):
    """A table like comparison/levels.csv, with wins in 1,000 matches and equal exact shares."""
    levels = np.arange(len(wins))
    table = pd.DataFrame({"level": levels, "exact_win_vs_random": [share if exact else np.nan for share in wins]})
    for seat in ("first", "second"):
        table[f"losing_lines_{seat}"] = [str(count) if exact else pd.NA for count in lost]
        table[f"lines_{seat}"] = str(LARGE) if exact else pd.NA
    table["wins_vs_random"] = [pd.NA, *(round(1000 * share) for share in wins[1:])]
    table["draws_vs_random"] = [pd.NA] + [0] * (len(wins) - 1)
    table["losses_vs_random"] = 1000 - table["wins_vs_random"]
    table["optimal_action_rate"] = 0.5 if exact else np.nan
    return table.assign(rating=[float(rating) for rating in ratings])


def run_of(name, table=None, *, game="tictactoe", loss=0.25, **training):
    first = {"game": game, "seed": training.pop("seed", 0), "gamma": training.pop("gamma", 0.95)}
    table = level_table() if table is None else table
    return Run(name, {"play_0": first, "training": {"training.epochs": 3} | training}, table, loss)


# ---------------------------------------------------------------------- which settings tell runs apart


def test_only_settings_that_differ_are_columns():
    assert differing_settings([run_of("a"), run_of("b")]) == []
    assert differing_settings([run_of("a", seed=1), run_of("b", seed=2, **{"training.epochs": 5})]) == [
        "seed",
        "training.epochs",
    ]


def test_a_setting_that_a_run_has_not_used_yet_is_not_a_difference():
    """In a run of one level only the random player has played, so its exploration rates are unknown."""
    longer = run_of("b")
    longer.settings["play"] = {"epsilons": [0.5]}
    assert differing_settings([run_of("a"), longer]) == []
    other = run_of("c")
    other.settings["play"] = {"epsilons": [0.1]}
    assert differing_settings([run_of("a"), longer, other]) == ["epsilons"]


def test_a_setting_that_only_one_run_has_is_a_difference():
    assert differing_settings([run_of("a"), run_of("b", **{"architecture.dropout": 0.5})]) == ["architecture.dropout"]


def test_a_named_recipe_accounts_for_what_it_sets():
    runs = [
        run_of(f"recipe={recipe},seed={seed}", seed=seed, **{"training.epochs": epochs})
        for recipe, epochs in (("article", 5), ("default", 20))
        for seed in (0, 1)
    ]
    assert differing_settings(runs) == ["recipe", "seed", "training.epochs"]
    assert distinguishing_settings(runs) == ["recipe", "seed"]
    # The same recipe with other settings is different.
    more = [*runs, run_of("other/recipe=default,seed=0", **{"training.epochs": 7})]
    assert distinguishing_settings(more) == ["recipe", "seed", "training.epochs"]


def test_names_are_read_and_manifests_take_precedence():
    run = run_of("old/epsilons=[0.5,0.1],recipe=a/gamma=0.5,seed=7", gamma=0.9)
    assert run.settings_in_name == {"epsilons": "[0.5,0.1]", "recipe": "a", "gamma": "0.5", "seed": "7"}
    assert [setting_text(run, name) for name in ("recipe", "gamma", "seed", "nothing")] == ["a", "0.9", "0", ""]


# ---------------------------------------------------------------------- the table


def test_the_table_takes_the_newest_level_and_keeps_large_counts():
    runs = [run_of("seed=0", seed=0), run_of("seed=1", level_table(lost=(9, 0, LARGE)), seed=1, loss=0.5)]
    table = run_table(runs, {"tictactoe": ["first", "second"]})
    assert list(table.columns[:3]) == ["run", "seed", "levels"]
    assert table["levels"].tolist() == [2, 2]
    assert table["exact_win_vs_random"].tolist() == [0.9, 0.9]
    assert table["losing_lines_first"].tolist() == ["0", str(LARGE)]
    assert table["unbeatable_from"].tolist() == [2, pd.NA]
    assert table["wins_vs_random"].tolist() == [900, 900]
    assert table["validation_loss"].tolist() == [0.25, 0.5]
    assert table["rating"].tolist() == [400.0, 400.0]


@pytest.mark.parametrize(
    ("lost", "first"), [((9, 0, 0), 1), ((9, 0, 3, 0), 3), ((9, 1, 0, 2), None), ((9, 0, 1, 0, 0), 3)]
)
def test_a_run_is_unbeatable_from_the_level_after_which_no_line_is_lost(lost, first):
    table = level_table(wins=[0.5] * len(lost), lost=lost, ratings=[0] * len(lost))
    assert unbeatable_from(table, ["first", "second"]) == first
    assert unbeatable_from(table, []) is None


def test_a_seat_that_no_player_can_hold_does_not_count():
    table = level_table()
    table["losing_lines_second"] = "5"
    assert unbeatable_from(table, ["first"]) == 2
    assert unbeatable_from(table, ["first", "second"]) is None


# ---------------------------------------------------------------------- reading


def finish(run_dir, table=None):
    path = RunFolder(run_dir).comparison
    path.parent.mkdir(exist_ok=True)
    (level_table((0.4, 0.7, 0.8, 0.9), (9, 4, 0, 0), (0, 1, 2, 3)) if table is None else table).to_csv(
        path, index=False
    )


@pytest.fixture
def folder(tiny_run, tmp_path):
    """A finished run, and one of each unfinished kind."""
    for name in ("seed=9", "seed=10", "not compared", "newer level", "broken", "cut off"):
        shutil.copytree(tiny_run, tmp_path / name)
        if name != "not compared":
            finish(tmp_path / name)
    for number in (9, 10):
        for level, part in ((0, "generation"), (3, "training")):
            manifest = Manifest(tmp_path / f"seed={number}" / f"level_{level:02d}")
            manifest.sections[part]["settings"]["seed"] = number
            manifest.path.write_text(json.dumps({"format": 1, **manifest.sections}))
    finish(tmp_path / "newer level", level_table())
    RunFolder(tmp_path / "broken").comparison.write_text("level,rating\n0,zero\n")
    path = RunFolder(tmp_path / "cut off").epoch_loss(3)
    path.write_text(path.read_text()[:-4])
    (tmp_path / "just begun").mkdir()
    (tmp_path / "just begun" / ".lock").touch()
    (tmp_path / "something else").mkdir()
    return tmp_path


def test_runs_are_read_and_unfinished_ones_are_named(folder):
    runs = read_runs(folder, [folder / "seed=9", folder / "never begun"])
    assert [run.name for run in runs.finished] == ["seed=9", "seed=10"]
    assert [run.all_settings["seed"] for run in runs.finished] == [9, 10]
    assert [run.all_settings["training.epochs"] for run in runs.finished] == [3, 3]
    assert runs.finished[0].all_settings["player.depth"] == 1
    assert runs.skipped.keys() == {"not compared", "newer level", "broken", "cut off", "just begun", "never begun"}
    assert runs.skipped["never begun"] == "it has not started"
    assert runs.skipped["just begun"] == "no level is trained yet"
    assert runs.skipped["not compared"] == "trained up to level 3, and its levels are not compared yet"
    assert runs.skipped["newer level"] == "trained up to level 3, but compared up to level 2"
    assert "levels.csv: is not a table of compared levels" in runs.skipped["broken"]
    assert "epoch_loss.csv: is cut off" in runs.skipped["cut off"]


def test_the_name_gives_the_replayed_levels_where_there_are_fewer(folder):
    (folder / "seed=9").rename(folder / "dataset.replay=12")
    for run, replayed in (("dataset.replay=12", ["a" * 64, "b" * 64]), ("seed=10", ["b" * 64])):
        manifest = Manifest(folder / run / "level_03")
        manifest.sections["training"]["settings"]["replayed_sha256"] = replayed
        manifest.path.write_text(json.dumps({"format": 1, **manifest.sections}))
    replay = {run.name: run.all_settings["dataset.replay"] for run in read_runs(folder).finished}
    assert replay == {"dataset.replay=12": "12", "seed=10": 1}


def test_the_report_has_a_row_per_run_and_names_the_unfinished_ones(folder):
    text = compare_runs(folder)
    assert [line.split()[0] for line in text.splitlines()[:3]] == ["seed", "9", "10"]
    assert text.splitlines()[1].split()[1:7] == ["3", "900-0-100", "0.9000", "0/3.1", "x", "10^21"]
    assert "Not finished, therefore not in the table: 5 of 7 runs\n" in text
    written = pd.read_csv(folder / "sweep" / "runs.csv", dtype={"lines_first": str})
    assert written["seed"].tolist() == [9, 10]
    assert written["lines_first"].tolist() == [str(LARGE)] * 2
    assert written["unbeatable_from"].tolist() == [2, 2]


def test_runs_with_and_without_the_columns_of_an_exact_judge_share_a_table(folder):
    """Before Connect Four had an exact solver of whole matches, its levels had columns of endgame positions."""
    for name, columns in {"seed=9": {"endgame_optimal_rate": 0.5}, "seed=10": {"judged_mistake_rate": 0.125}}.items():
        path = RunFolder(folder / name).comparison
        pd.read_csv(path, dtype="string").assign(**columns).to_csv(path, index=False)
    lines = compare_runs(folder).splitlines()
    assert "mistakes" in lines[0].split()
    assert ("0.125" in lines[1].split(), "0.125" in lines[2].split()) == (False, True)
    written = pd.read_csv(folder / "sweep" / "runs.csv")
    assert written["judged_mistake_rate"].isna().tolist() == [True, False]
    assert written["endgame_optimal_rate"].isna().tolist() == [False, True]


@pytest.mark.parametrize("game", [["a"], "../x", "", "no_module:Game"])
def test_a_run_of_an_unknown_game_is_left_out_and_named(folder, game):
    manifest = Manifest(folder / "seed=9" / "level_03")
    manifest.sections["training"]["settings"]["game"] = game
    manifest.path.write_text(json.dumps({"format": 1, **manifest.sections}))
    runs = read_runs(folder)
    assert [run.name for run in runs.finished] == ["seed=10"]
    assert "game" in runs.skipped["seed=9"]


def test_a_game_of_another_package_is_compared_only_if_the_user_has_named_it(folder, monkeypatch):
    monkeypatch.setattr(registry, "_named_modules", set())
    for number in ("9", "10"):
        for level, part in ((0, "generation"), (1, "generation"), (3, "training")):
            manifest = Manifest(folder / f"seed={number}" / f"level_{level:02d}")
            manifest.sections[part]["settings"]["game"] = "tests.support.pile:Pile"
            manifest.path.write_text(json.dumps({"format": 1, **manifest.sections}))
    runs = read_runs(folder)
    assert runs.finished == []
    assert runs.skipped["seed=9"].endswith("if you trust it, set modules=[tests.support.pile]")
    registry.name_modules(["tests.support.pile"])
    assert [run.name for run in read_runs(folder).finished] == ["seed=9", "seed=10"]


def test_a_table_that_differs_from_its_manifest_is_left_out_and_named(folder):
    run = RunFolder(folder / "seed=9")
    manifest = Manifest(run.path)
    manifest.record("comparison", {}, {}, ["comparison/levels.csv"])
    assert "seed=9" in [run.name for run in read_runs(folder).finished]
    finish(run.path, level_table((0.4, 0.7, 0.8, 0.9), (9, 4, 0, 0), (0, 1, 2, 999)))
    reason = read_runs(folder).skipped["seed=9"]
    assert reason == f"{run.comparison}: differs from its manifest; train/compare_levels.py writes it again"
    # While a comparison is made again, no manifest describes the table.
    manifest.forget("comparison")
    assert "seed=9" in [run.name for run in read_runs(folder).finished]


def test_losses_that_differ_from_their_manifest_are_left_out_and_named(folder):
    path = RunFolder(folder / "seed=9").epoch_loss(3)
    text = path.read_text()
    changed = re.sub(r"0\.(\d+),True", r"0.0\1,True", text)
    assert changed != text
    path.write_text(changed)
    assert read_runs(folder).skipped["seed=9"] == f"{path}: differs from its manifest; make it again with force=true"


@pytest.mark.parametrize("name", ["level_²", "level_99999999999999999999", "level_3", "level_-1", "level_²/x"])
def test_folders_that_only_look_like_levels_are_ignored(folder, name):
    (folder / "seed=9" / name).mkdir(parents=True)
    (folder / "seed=9" / name / "agent.safetensors").touch()
    assert "seed=9" in [run.name for run in read_runs(folder).finished]


def test_half_a_row_is_refused(tmp_path):
    path = tmp_path / "levels.csv"
    level_table().to_csv(path, index=False)
    text = path.read_text()
    for cut in (text[:-1], text[:-30], text[:-30] + "\n"):
        path.write_text(cut)
        with assert_file_rejected(path, "is not a table of compared levels"):
            read_level_table(path)


def test_the_folder_may_itself_be_the_only_run(folder):
    assert [run.name for run in read_runs(folder / "seed=9").finished] == ["."]


def test_without_finished_runs_there_is_no_table(folder):
    text = compare_runs(folder / "just begun")
    assert text.endswith("1 of 1 runs\n  .: no level is trained yet")
    assert not (folder / "just begun" / "sweep").exists()
    with pytest.raises(StageError, match="contains no runs"):
        compare_runs(folder / "something else")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda table: table.drop(columns="rating"),
        lambda table: table.drop(columns="lines_first"),
        lambda table: table.iloc[1:],
        lambda table: table.iloc[:1],
        lambda table: table.assign(losing_lines_first="-3"),
        lambda table: table.assign(exact_win_vs_random="often"),
        lambda table: table.assign(rating=[0, math.nan, 2]),
        lambda table: table.assign(rating=[0, math.inf, 2]),
        lambda table: table.assign(exact_win_vs_random=[0.5, math.nan, 0.7]),
        lambda table: table.assign(wins_vs_random=[None, 900, None]),
        lambda table: table.assign(wins_vs_random=[None, 900, 10**25]),
    ],
)
def test_a_table_that_is_not_one_of_levels_is_refused(tmp_path, spoil):
    path = tmp_path / "levels.csv"
    level_table().to_csv(path, index=False)
    assert read_level_table(path)["losing_lines_first"].tolist() == ["50", "4", "0"]
    spoil(level_table()).to_csv(path, index=False)
    with assert_file_rejected(path, "is not a table of compared levels"):
        read_level_table(path)


# ---------------------------------------------------------------------- the figure


def lines_of(axes):
    """The colour, width and values of each line."""
    return [(line.get_color(), line.get_linewidth(), np.round(line.get_ydata(), 6).tolist()) for line in axes.lines]


def test_runs_are_thin_lines_and_medians_of_equal_settings_are_thick_ones():
    shares = {"article": [(0.5, 0.6), (0.6, 0.8), (0.9, 0.7)], "default": [(0.9, 0.95)]}
    runs = [
        run_of(f"recipe={recipe},seed={seed}", level_table((0.4, *pair), ratings=(0, seed, 10 * seed)), seed=seed)
        for recipe, pairs in shares.items()
        for seed, pair in enumerate(pairs)
    ]
    figure = run_curves(runs)
    won, rated = map(lines_of, figure.axes)
    assert [values for _, _, values in won] == [[0.5, 0.6], [0.6, 0.8], [0.9, 0.7], [0.6, 0.7], [0.9, 0.95]]
    assert [values for _, _, values in rated] == [[0, 0], [1, 10], [2, 20], [1, 10], [0, 0]]
    colours, widths = [line[0] for line in won], [line[1] for line in won]
    assert len(set(colours[:4])) == 1
    assert colours[4] != colours[0]
    assert max(widths[:3]) < min(widths[3:])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["recipe=article (median of 3 runs)", "recipe=default (one run)"]
    assert "exact" in figure.axes[0].get_title(loc="left")


def test_all_shares_are_sampled_if_one_run_is_not_graded_exactly():
    runs = [run_of("a", level_table((0.4, 0.5, 0.75), exact=False), game="othello"), run_of("b", level_table())]
    figure = run_curves(runs)
    assert "sampled" in figure.axes[0].get_title(loc="left")
    assert [values for _, _, values in lines_of(figure.axes[0])] == [[0.5, 0.75], [0.8, 0.9]]


def test_the_median_ends_where_the_shorter_run_ends():
    shorter = run_of("seed=0", level_table((0.4, 0.6), (9, 0), (0, 5)))
    longer = run_of("seed=1", level_table((0.4, 0.8, 0.9)), seed=1)
    *_, (_, _, median) = lines_of(run_curves([shorter, longer]).axes[0])
    assert median == [0.7]


def test_many_settings_have_colours_of_their_own_and_equal_runs_equal_bytes(tmp_path):
    runs = [run_of(f"gamma={number}", gamma=number / 100) for number in range(14)]
    figure = run_curves(runs)
    assert len({colour for colour, _, _ in lines_of(figure.axes[0])}) == 14
    for name in ("one", "other"):
        save_figure(run_curves(runs), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_long_settings_get_labels_that_differ():
    runs = [run_of(f"run{number}", **{"architecture.hidden_sizes": [100 + number] * 20}) for number in range(2)]
    labels = [text.get_text() for text in run_curves(runs).legends[0].get_texts()]
    assert labels == ["run0 (one run)", "run1 (one run)"]
