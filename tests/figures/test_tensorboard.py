"""TensorBoard event files: contents, no duplicates, and written only on request."""

import logging
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from selfplay import compose_settings, learn_levels, train_level
from selfplay.errors import SettingError, StageError
from selfplay.training.epochs import read_epochs
from tests.support.runs import LEARN, files_of, report_of_comparison, run_forked, tiny_settings

needs_tensorboard = pytest.mark.skipif(
    find_spec("tensorboard") is None, reason="tensorboard is not installed (pip install -e '.[tensorboard]')"
)
LOGGED = ["logger=tensorboard", "comparison.matches=20"]


def accumulated(folder: Path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logging.getLogger("tensorboard").setLevel(logging.ERROR)
    return EventAccumulator(str(folder)).Reload()


def scalars_of(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """(step, value) of each scalar in the files of the folder, in file order."""
    events = accumulated(folder)
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def check_losses(run_dir: Path, level: int) -> None:
    losses = read_epochs(run_dir / f"level_{level:02d}" / "epoch_loss.csv")
    scalars = scalars_of(run_dir / "tensorboard" / f"level_{level:02d}")
    assert set(scalars) == {"loss/training", "loss/validation"}
    for tag, column in (("loss/training", "training_loss"), ("loss/validation", "validation_loss")):
        assert [step for step, _ in scalars[tag]] == [loss.epoch for loss in losses]
        assert [value for _, value in scalars[tag]] == pytest.approx([loss.measured[column] for loss in losses])


@pytest.fixture(scope="module")
def logged_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compared run of three levels with events. Copy it before changing anything."""
    run_dir = tmp_path_factory.mktemp("logged") / "run"
    settings = tiny_settings(run_dir, *LOGGED)
    learn_levels(settings)
    report_of_comparison(settings)
    return run_dir


@needs_tensorboard
def test_the_losses_of_each_level_are_read_back_by_epoch(logged_run: Path) -> None:
    for level in (1, 2, 3):
        check_losses(logged_run, level)


@needs_tensorboard
def test_a_level_in_another_folder_changes_no_events(logged_run: Path, tmp_path: Path) -> None:
    before = files_of(logged_run / "tensorboard")
    train_level(tiny_settings(logged_run, *LOGGED, f"output_dir={tmp_path / 'own'}", "force=true"), 1)
    assert (tmp_path / "own" / "agent.safetensors").exists()
    assert files_of(logged_run / "tensorboard") == before


@needs_tensorboard
def test_the_numbers_of_the_comparison_are_read_back_by_level(logged_run: Path) -> None:
    table = pd.read_csv(logged_run / "comparison" / "levels.csv")
    scalars = scalars_of(logged_run / "tensorboard" / "comparison")
    numeric = [name for name in table.select_dtypes("number").columns if name != "level"]
    assert set(scalars) == {f"comparison/{name}" for name in numeric}
    for name in numeric:
        filled = table[table[name].notna()]
        steps, values = zip(*scalars[f"comparison/{name}"], strict=True)
        assert list(steps) == filled["level"].tolist()
        assert list(values) == pytest.approx(filled[name].tolist(), rel=1e-6)


@needs_tensorboard
def test_the_figures_are_logged_as_images(logged_run: Path) -> None:
    events = accumulated(logged_run / "tensorboard" / "comparison")
    expected = {f"figures/{path.stem}" for path in (logged_run / "figures").glob("*.png")}
    assert set(events.Tags()["images"]) == expected >= {"figures/ratings", "figures/exact"}
    (picture,) = events.Images("figures/ratings")
    assert (picture.step, picture.encoded_image_string[:4]) == (3, b"\x89PNG")


def event_files(run_dir: Path) -> dict[Path, int]:
    """The size of every event file."""
    return {path: path.stat().st_size for path in (run_dir / "tensorboard").rglob("events.out.*")}


@pytest.mark.slow
@needs_tensorboard
def test_finished_stages_are_not_logged_twice(logged_run: Path, tmp_path: Path) -> None:
    run_dir = Path(shutil.copytree(logged_run, tmp_path / "run"))
    settings = tiny_settings(run_dir, *LOGGED)
    before = event_files(run_dir)
    learn_levels(settings)
    assert event_files(run_dir) == before
    report_of_comparison(settings)
    steps = [step for step, _ in scalars_of(run_dir / "tensorboard" / "comparison")["comparison/rating"]]
    assert steps == [0, 1, 2, 3]


@needs_tensorboard
def test_levels_trained_without_events_get_them_from_their_losses(tiny_run: Path, run_copy: Path) -> None:
    assert not train_level(tiny_settings(run_copy, *LOGGED), 2)
    check_losses(run_copy, 2)
    assert files_of(run_copy) == files_of(tiny_run)
    assert [path.name for path in (run_copy / "tensorboard").iterdir()] == ["level_02"]


@needs_tensorboard
def test_events_that_cannot_be_written_are_refused_in_one_line(run_copy: Path) -> None:
    (run_copy / "tensorboard").write_text("a file is in the way")
    with pytest.raises(StageError, match=r"cannot write in .*/tensorboard/\.level_01\.partial: Not a directory"):
        train_level(tiny_settings(run_copy, *LOGGED), 1)


def test_without_the_package_nothing_starts_and_the_install_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    message = r"^logger=tensorboard needs the package tensorboard, .*; run \S+ -m pip install -e '/\S+\[tensorboard\]'"
    with pytest.raises(SettingError, match=message) as caught:
        compose_settings(["logger=tensorboard"])
    assert "\n" not in str(caught.value)
    done = run_forked(LEARN, "logger=tensorboard", f"run_dir={tmp_path / 'run'}")
    assert (done.returncode, done.stderr) == (2, f"error: {caught.value}\n")
    assert not (tmp_path / "run").exists()
