"""The stage that trains a tabular player: its files, its settings and its program."""

import io
import os
import re
import time
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tqdm import tqdm

from selfplay import play_matches
from selfplay.cli.programs.classical import train_tabular_program
from selfplay.errors import StageError
from selfplay.figures.tabular_training import draw_training
from selfplay.files import sha256
from selfplay.games.position_graph import positions_of
from selfplay.named_players.classical import LearningTabularPlayer
from selfplay.players.player import RandomPlayer
from selfplay.progress import progress_bar
from selfplay.runs.learning_curve import read_curve
from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.run import Run
from selfplay.stages.train_tabular import train_tabular
from selfplay.tabular.table_file import load_tables
from tests.support.rejections import assert_file_rejected
from tests.support.runs import COMMAND, run_forked

# ---------------------------------------------------------------------- files


def settings_for(run_dir: Path, *overrides: str) -> TabularSettings:
    return compose_settings_of(TabularSettings, "tabular", ["episodes=600", f"run_dir={run_dir}", *overrides])


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    paths = [
        train_tabular(Run.of(settings_for(tmp_path / name, f"seed={seed}")))
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    one, again, other = map(sha256, paths)
    assert one == again != other
    with zipfile.ZipFile(paths[0]) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_existing_tables_are_kept_and_those_of_other_settings_refused(tmp_path: Path) -> None:
    path = train_tabular(Run.of(settings_for(tmp_path)))
    before = path.read_bytes()
    os.utime(path, (0, 0))
    train_tabular(Run.of(settings_for(tmp_path)))
    assert path.stat().st_mtime == 0
    with pytest.raises(StageError, match=r"step_size was 0.1, is 0.2; set another run_dir, or force=true"):
        train_tabular(Run.of(settings_for(tmp_path, "step_size=0.2")))
    assert path.read_bytes() == before
    train_tabular(Run.of(settings_for(tmp_path, "step_size=0.2", "force=true")))
    assert path.read_bytes() != before
    assert train_tabular(Run.of(settings_for(tmp_path, "agent=backward_value"))) == path.with_name("backward_value.npz")


def test_more_matches_continue_from_the_tables_that_exist(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    at_once = train_tabular(Run.of(settings_for(tmp_path / "a", "episodes=1700")))
    caplog.set_level("INFO", logger="selfplay")
    caplog.clear()
    began = time.perf_counter()
    for episodes in (700, 1700):
        in_parts = train_tabular(Run.of(settings_for(tmp_path / "b", f"episodes={episodes}")))
    taken = time.perf_counter() - began
    assert "temporal_difference: continues after 700 matches" in caplog.messages
    said = re.findall(r"learned from (\d+) matches \((\S+) s\)", caplog.text)
    assert [matches for matches, _ in said] == ["700", "1000"]
    assert sum(float(seconds) for _, seconds in said) <= taken + 0.01  # they are rounded
    for suffix in (".npz", ".csv"):
        assert in_parts.with_suffix(suffix).read_bytes() == at_once.with_suffix(suffix).read_bytes()
    rows = [line.split(",") for line in in_parts.with_suffix(".csv").read_text().splitlines()]
    assert [row[0] for row in rows] == ["matches", "500", "1000", "1500", "1700"]
    assert all(int(row[0]) == sum(map(int, row[1:])) for row in rows[1:])
    with pytest.raises(StageError, match="episodes was 1700, is 700"):
        train_tabular(Run.of(settings_for(tmp_path / "b", "episodes=700")))


def test_what_was_learned_from_others_is_kept_by_more_matches_and_replaced_by_force(tmp_path: Path) -> None:
    path, graph = train_tabular(Run.of(settings_for(tmp_path, "agent=backward_value"))), positions_of("tictactoe")
    player = LearningTabularPlayer(path, graph, load_tables(path, graph))
    list(play_matches(graph.game, (player, RandomPlayer(graph.game)), range(1), 0))
    assert load_tables(path, graph).played == 1
    train_tabular(Run.of(settings_for(tmp_path, "agent=backward_value", "episodes=700")))
    assert load_tables(path, graph).played == 1
    train_tabular(Run.of(settings_for(tmp_path, "agent=backward_value", "episodes=700", "force=true", "seed=9")))
    assert load_tables(path, graph).played == 0


# ---------------------------------------------------------------------- the program


def test_the_program_learns_and_prints_the_results_of_the_matches(tmp_path: Path) -> None:
    done = run_forked(
        COMMAND, "train-tabular", "--agent=backward_value", "--episodes", 1000, "seed=4", f"run_dir={tmp_path}"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    matches = [line.split(":")[0] for line in lines if re.search(r": X won \d+ \(0\.\d{3}\), O won \d+ ", line)]
    assert matches == [f"match {number}" for number in range(50, 1001, 50)]
    assert lines[-2:] == [
        f"wrote {tmp_path / 'tabular' / 'backward_value.npz'}",
        f"wrote {tmp_path / 'figures' / 'tabular_backward_value.png'}",
    ]
    load_tables(tmp_path / "tabular" / "backward_value.npz", positions_of("tictactoe"))


def test_the_program_draws_its_figure_only_when_the_table_is_newer(tmp_path: Path) -> None:
    train_tabular_program.body(settings_for(tmp_path))
    figure = tmp_path / "figures" / "tabular_temporal_difference.png"
    drawn = figure.stat().st_mtime_ns
    train_tabular_program.body(settings_for(tmp_path))
    assert figure.stat().st_mtime_ns == drawn
    train_tabular_program.body(settings_for(tmp_path, "force=true", "seed=5"))
    assert figure.stat().st_mtime_ns > drawn


def test_the_policies_of_a_run_compete_without_exploration(tmp_path: Path) -> None:
    done = run_forked(COMMAND, "compete", f"run_dir={tmp_path}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "temporal_difference.npz: does not exist; there are no tables in" in done.stderr
    path = train_tabular(Run.of(settings_for(tmp_path, "episodes=20000")))
    before = sha256(path)
    done = run_forked(COMMAND, "compete", f"run_dir={tmp_path}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "match 1000: X won 0 (0.000), O won 0 (0.000), drawn 1000 (1.000)",
        "only 1 of the 1000 matches differ, the others are copies",
    ]
    done = run_forked(COMMAND, "compete", f"run_dir={tmp_path}", "matches=2", "show=true")
    assert done.stdout.startswith("match 1, X: temporal_difference, O: temporal_difference\n1. ")
    assert done.stdout.count("\ndrawn\n") == 2
    assert sha256(path) == before


def test_results_are_told_beside_a_bar_that_fits_80_columns_or_in_the_lines_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "selfplay")
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr("selfplay.progress.tqdm", partial(tqdm, file=screen, ncols=80, mininterval=0))
    train_tabular(Run.of(settings_for(tmp_path, "episodes=100000")), progress_bar)
    lines = [line for line in screen.getvalue().split("\r") if "100000/100000" in line]
    assert {len(line.rstrip("\n")) for line in lines} == {80}
    assert re.search(r"\[\d\d:\d\d<00:00, \d+-\d+-\d+\]$", lines[-1].rstrip("\n"))
    settings = settings_for(tmp_path, "episodes=300", "report_every=100", "force=true")
    train_tabular(Run.of(settings), progress_bar)
    assert "/300 " not in screen.getvalue()
    told = [line.split(":")[0] for line in caplog.messages if ": X won" in line]
    assert told == ["match 100000", "match 100", "match 200", "match 300"]


CURVE_HEADER = "matches,first_won,drawn,second_won"


@pytest.mark.parametrize("rows", ["", "500,1,2,3", "500,200,100,200\n400,100,100,200", "500,,,", "500,-1,1,500", "a"])
def test_a_table_that_does_not_count_matches_is_refused(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "temporal_difference.csv"
    path.write_text(f"{CURVE_HEADER}\n{rows}\n")
    with assert_file_rejected(path, "is not a table of learned matches .*; .*train-tabular with force=true learns"):
        read_curve(path)


def test_the_figure_says_what_it_shows_and_counts_matches_in_whole_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr("selfplay.figures.tabular_training.save_figure", lambda figure, path: figures.append(figure))
    rows = [[500 * n, 200 * n, 100 * n, 200 * n] for n in range(1, 4001)]
    np.savetxt(tmp_path / "temporal_difference.csv", rows, "%d", ",", header=CURVE_HEADER, comments="")
    draw_training(tmp_path / "temporal_difference.csv", tmp_path / "x.png", "Tic-tac-toe, seed=3")
    (figure,) = figures
    assert figure.get_suptitle() == "Tic-tac-toe, seed=3"
    FigureCanvasAgg(figure).draw()
    axis = figure.axes[0].xaxis
    assert "1,000,000" in [tick.get_text() for tick in axis.get_ticklabels()]
    assert not axis.get_offset_text().get_text()
