"""The comparison of a run: its table, its figures, and the printed command to play against the newest level."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from selfplay.cli.command import overrides_first
from selfplay.errors import StageError
from selfplay.figures.figure_files import draw_run_figures
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import Run, compose_settings
from selfplay.stages.compare import commands_to_play
from selfplay.tables import Columns, Row, data_frame
from tests.support.runs import report_of_comparison, tiny_settings

COLUMNS = [
    "level",
    *("wins_vs_previous", "draws_vs_previous", "losses_vs_previous"),
    *("wins_vs_random", "draws_vs_random", "losses_vs_random"),
    *("exact_win_vs_random", "exact_draw_vs_random", "exact_loss_vs_random"),
    *("losing_lines_first", "losing_lines_second", "lines_first", "lines_second"),
    *("optimal_action_rate", "rating"),
]

FIGURES = ["exact.png", "loss_by_level.png", "losses.png", "ratings.png", "versus_random.png"]
FIGURES += ["wins_minus_losses.png"]

PYTHON = Path(sys.executable).name


def test_the_table_has_its_columns_and_the_figures_are_drawn(run_copy: Path) -> None:
    run_dir = run_copy
    settings = tiny_settings(run_dir, "comparison.matches=20")
    draw_run_figures(Run.of(settings))
    report = report_of_comparison(settings)
    assert report.splitlines()[-1].startswith("Play against it: ")
    assert max(map(len, report.splitlines()[:-1])) <= 80
    assert "In 20 matches against the random player, moving first in half of them, level 3 won " in " ".join(
        report.split()
    )
    for script in ("console", "web"):
        assert f"play/{script}.py run_dir={run_dir}" in report.splitlines()[-1]
    table = pd.read_csv(run_dir / "comparison" / "levels.csv")
    assert set(COLUMNS) <= set(table.columns)
    assert table["level"].tolist() == [0, 1, 2, 3]
    played = table[table["level"] > 0]
    for opponent in ("previous", "random"):
        results = [f"{result}_vs_{opponent}" for result in ("wins", "draws", "losses")]
        assert (played[results].sum(axis=1) == 20).all()
    exact = table[[f"exact_{outcome}_vs_random" for outcome in ("win", "draw", "loss")]]
    assert exact.sum(axis=1).tolist() == pytest.approx([1.0] * 4, abs=2e-6)
    assert sorted(path.name for path in (run_dir / "figures").iterdir()) == FIGURES
    for path in (run_dir / "figures").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")


def test_a_run_deleted_while_it_is_compared_is_an_error(run_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deleting(columns: Columns, rows: Sequence[Row]) -> pd.DataFrame:
        shutil.rmtree(run_copy)
        return data_frame(columns, rows)

    monkeypatch.setattr("selfplay.grading.comparison.data_frame", deleting)
    with pytest.raises(StageError, match=rf"{run_copy} was deleted or replaced meanwhile"):
        report_of_comparison(tiny_settings(run_copy, "comparison.matches=20"))


@pytest.mark.parametrize(
    ("overrides", "command"),
    [
        ([], f"{PYTHON} play/console.py"),
        (
            ["recipe=sumto100", "run_dir='my runs/seed=1'"],
            f"{PYTHON} play/console.py game=sumto100 'run_dir=my runs/seed=1'",
        ),
    ],
)
def test_the_report_ends_with_the_command_to_play(
    monkeypatch: pytest.MonkeyPatch, overrides: list[str], command: str
) -> None:
    monkeypatch.chdir(PROJECT_FOLDER)
    monkeypatch.setattr(sys, "prefix", "elsewhere")
    settings = compose_settings(overrides)
    page = command.replace("console.py", "web.py")
    assert commands_to_play(settings) == f"Play against it: {command}   or in a browser: {page}"
    # The console accepts the printed command.
    words = shlex.split(command)
    assert Path(words[1]).exists()
    read = compose_settings_of(PlaySettings, "play", overrides_first(words[2:], PlaySettings)[0])
    assert (read.game, Path(read.run_dir).resolve()) == (settings.game, Path(settings.run_dir).resolve())
