"""Figures of runs and comparisons: they show the given values, and equal input gives equal bytes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from PIL import Image

from selfplay import compose_settings, learn_levels
from selfplay.errors import InvalidFileError, StageError
from selfplay.figures.comparison import exact_figures, wins_minus_losses
from selfplay.figures.figure_files import draw_run_figures, read_trained_run, write_figures
from selfplay.figures.losses import loss_by_level, loss_curves
from selfplay.figures.position_values import (
    ValuesByLevel,
    position_value_animation,
    position_value_bars,
    position_values,
)
from selfplay.figures.style import save_animation
from selfplay.games import make_game
from selfplay.games.win_draw_loss import WinDrawLoss, sign_test, sign_test_interval
from selfplay.registry import Registry
from selfplay.runs.data_changes import data_changes
from selfplay.settings.run import Run
from selfplay.training.epochs import Epoch
from tests.support.runs import tiny_settings


def losses_of(levels: int, epochs: int = 3, *, has_policies: bool = False) -> dict[int, list[Epoch]]:
    names = "validation_value_loss", "validation_policy_loss", "decay_loss"
    parts = dict(zip(names, (0.2, 1.1, 0.05), strict=True)) if has_policies else {}

    def losses(level: int, epoch: int) -> dict[str, float]:
        return {"training_loss": 0.1 / (epoch + level), "validation_loss": 0.2 + 0.5 / (epoch * level)}

    return {
        level: [Epoch(epoch, losses(level, epoch), True, parts) for epoch in range(1, epochs + 1)]
        for level in range(1, levels + 1)
    }


def table_of(levels: int) -> pd.DataFrame:
    """A table like comparison/levels.csv, levels 0 to `levels`."""
    level = np.arange(levels + 1)
    wins = np.where(level > 0, 400.0 - 10 * level, np.nan)
    lines = 120 // (1 + 2 * level) - 5
    columns = {"wins_vs_previous": wins, "draws_vs_previous": wins * 0 + 300, "losses_vs_previous": 700 - wins}
    words = [sign_test(WinDrawLoss(400 - 10 * number, 300, 300 + 10 * number)) for number in range(1, levels + 1)]
    columns |= {"word_vs_previous": [np.nan, *words]}
    for result, rate in {"wins": 0.9, "draws": 0.1, "losses": 0.0}.items():
        sampled = {"": 1000 * rate, "_rate_low": max(0, rate - 0.02), "_rate_high": rate + 0.02}
        columns |= {f"{result}{end}_vs_random": wins * 0 + number for end, number in sampled.items()}
    columns |= {"exact_win_vs_random": 0.9 + 0 * level, "exact_draw_vs_random": 0.1 + 0 * level}
    columns |= {"exact_loss_vs_random": 0.0 * level, "optimal_action_rate": 1 - 0.4 / (level + 1)}
    columns |= {"losing_lines_first": lines.clip(0), "losing_lines_second": (2 * lines).clip(0)}
    columns |= {"value_error": np.where(level > 0, 0.3 / (level + 1), np.nan), "rating": 100.0 * level}
    columns |= {"rating_low": 90.0 * level, "rating_high": 110.0 * level}
    return pd.DataFrame({"level": level, **columns})


def positions_of(levels: int) -> ValuesByLevel:
    places = np.arange(1, 101)
    perfect = np.where((places - 1) % 11 == 0, 1.0, -1.0)
    values = np.stack([perfect * level / levels for level in range(1, levels + 1)]).astype(np.float32)
    return ValuesByLevel("sum", places, perfect, tuple(range(1, levels + 1)), values)


def drawn(figure: Figure, panel: int = 0) -> list[list[float]]:
    """The y data of each line of a panel."""
    return [np.asarray(line.get_ydata(), dtype=float).tolist() for line in figure.axes[panel].lines]


def bar_heights(figure: Figure, panel: int = 0) -> list[float]:
    return [float(bar.get_height()) for bar in figure.axes[panel].patches]


@pytest.mark.parametrize("levels", [1, 25])
def test_loss_curves_draw_every_level(levels: int) -> None:
    losses = losses_of(levels)
    assert drawn(loss_curves(losses)) == [[e.judged for e in epochs] for epochs in losses.values()]
    assert drawn(loss_by_level(losses))[0] == [epochs[-1].judged for epochs in losses.values()]
    # In a panel of its own: the two losses are not comparable.
    assert drawn(loss_by_level(losses), 1) == [[epochs[-1].measured["training_loss"] for epochs in losses.values()]]


def test_levels_of_learners_that_measure_something_else_have_panels_of_their_own() -> None:
    losses = losses_of(2) | {3: [Epoch(1, {"share_of_mistakes_left": 0.1, "share_of_mistakes_met": 0.4})]}
    curves, by_level = loss_curves(losses), loss_by_level(losses)
    units = [axes.get_ylabel().splitlines()[0] for axes in curves.axes]
    assert units == ["mean squared error", "share of the positions"]
    assert drawn(curves, 1) == [[0.4]]
    titles = [axes.get_title(loc="left") for axes in by_level.axes]
    assert titles[2:] == ["Mistakes in the matches of the level, by level", "Mistakes left among the lessons, by level"]
    assert drawn(by_level, 3) == [[0.1]]


# ---------------------------------------------------------------------- positions on a line


def test_bars_of_the_first_and_the_last_level_are_among_the_panels() -> None:
    positions = positions_of(25)
    figure = position_value_bars(positions)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == 8
    assert (titles[0], titles[-1]) == ("Level 1", "Level 25")
    assert sorted(bar_heights(figure, 7)) == sorted(positions.values[-1].tolist())


def test_the_animation_has_a_frame_for_each_level_and_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gif", "b.gif"):
        save_animation(position_value_animation(positions_of(2)), tmp_path / name)
    assert Image.open(tmp_path / "a.gif").n_frames == 2  # type: ignore[attr-defined]
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


TINY = ["matches=60", "levels=2", "learner.epochs=2", "learner.steps_per_epoch=2"]


def test_a_run_of_sumto100_gets_its_figures(tmp_path: Path) -> None:
    settings = compose_settings(["recipe=sumto100", *TINY, f"run_dir={tmp_path / 'run'}"])
    learn_levels(settings)
    draw_run_figures(Run.of(settings))
    names = {path.name for path in (tmp_path / "run" / "figures").iterdir()}
    assert names == {"losses.png", "loss_by_level.png", "position_values.png", "position_values.gif"}
    run = read_trained_run(Run.of(settings).folder, settings)
    changed = "learner.epochs=2, learner.steps_per_epoch=2, levels=2, matches=60"
    assert run.source == f"SumTo100, recipe=sumto100, seed=0, {changed}"
    assert data_changes(run.folder, run.levels) == {2: "no longer on random matches (level 0)"}
    assert run.merges_rows
    positions = position_values(settings.run_dir, make_game("sumto100"), [1, 2])
    assert positions.places.tolist() == list(range(1, 101))
    assert positions.places[positions.perfect == 1].tolist() == [1, 12, 23, 34, 45, 56, 67, 78, 89, 100]
    assert positions.values.shape == (2, 100)
    assert (positions.values[:, -1] == 1).all()


def test_a_run_without_levels_cannot_be_plotted(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="no trained level"):
        draw_run_figures(Run.of(compose_settings([f"run_dir={tmp_path}"])))
    with pytest.raises(StageError, match="does not exist; set run_dir to the folder of a run"):
        draw_run_figures(Run.of(compose_settings([f"run_dir={tmp_path / 'missing'}"])))


def test_losses_of_another_level_are_refused(run_copy: Path) -> None:
    (run_copy / "level_01" / "epoch_loss.csv").write_bytes((run_copy / "level_02" / "epoch_loss.csv").read_bytes())
    with pytest.raises(InvalidFileError, match=r"level_01/epoch_loss\.csv: differs from its manifest"):
        draw_run_figures(Run.of(tiny_settings(run_copy)))


def test_a_figure_from_another_module_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "longest_match.py").write_text(
        "from matplotlib.figure import Figure\n"
        "def pictures(run):\n"
        "    return {f'longest_match_{run}.png': Figure((1, 1))}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    figures = Registry("figure", {"longest_match": "longest_match:pictures"})
    assert write_figures(figures, "x", tmp_path) == [tmp_path / "longest_match_x.png"]
    assert Image.open(tmp_path / "longest_match_x.png").size == (150, 150)


def test_exact_figures_draw_the_columns_and_bars_are_wins_minus_losses() -> None:
    table = table_of(9)
    figure = exact_figures(table, ceiling=0.9556)
    assert drawn(figure)[:3] == [table[f"exact_{result}_vs_random"].tolist() for result in ("win", "draw", "loss")]
    assert drawn(figure, 1) == [table[f"losing_lines_{seat}"].tolist() for seat in ("first", "second")]
    assert drawn(figure, 2) == [table["optimal_action_rate"].tolist()]
    assert bar_heights(wins_minus_losses(table)) == [80, 60, 40, 20, 0, -20, -40, -60, -80]


def test_lines_that_no_float_can_count_are_drawn() -> None:
    table = table_of(2).astype({"losing_lines_first": object})
    table.loc[0, "losing_lines_first"] = 10**400
    assert drawn(exact_figures(table), 1)[0] == [1e200, *table["losing_lines_first"][1:]]


def whiskers(figure: Figure) -> list[list[float]]:
    """The ends of each error bar."""
    (lines,) = (each for each in figure.axes[0].collections if isinstance(each, LineCollection))
    return [[float(y) for _, y in segment] for segment in lines.get_segments()]


def test_copies_of_matches_do_not_shorten_the_whiskers_of_wins_minus_losses() -> None:
    table = table_of(2)
    two_different = {1: WinDrawLoss(1, 0, 1)}
    shown, by_default = whiskers(wins_minus_losses(table, two_different)), whiskers(wins_minus_losses(table))
    scale = 1000 / 2
    assert shown[0] == pytest.approx([end * scale for end in sign_test_interval(WinDrawLoss(1, 0, 1))])
    assert shown[1] == by_default[1]


def test_matches_are_counted_in_whole_numbers() -> None:
    few = {f"{result}_vs_previous": [np.nan, count] for result, count in (("wins", 8), ("draws", 4), ("losses", 8))}
    axes = wins_minus_losses(table_of(1).assign(**few)).axes[0]
    assert all(float(tick).is_integer() for tick in axes.get_yticks())
