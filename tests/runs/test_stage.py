"""A stage that keeps what it has found so far: when it is resumed, when it begins anew, and what is left after it."""

import shutil
from itertools import count
from pathlib import Path

import pytest

from selfplay.errors import StageError
from selfplay.runs.manifest import Manifest, Stage
from tests.support.kills import is_killed_at_change

STEPS = 4


def stage_in(folder: Path, **more: object) -> Stage:
    record = {"seed": 1} | more
    return Stage("proof", folder, record, force=True, unfinished="walk", state=folder / "state.txt")


def count_to_four(stage: Stage, *, anew: bool = False, stop_at: int = STEPS) -> list[int]:
    """The steps that were done; each is kept in the state. Raises StageError after `stop_at` of them."""
    assert stage.state is not None
    done = []
    with stage.making(anew=anew) as made:
        start = int(stage.state.read_text()) if made.is_resumed else 0
        for step in range(start, STEPS):
            done.append(step)
            stage.state.write_text(str(step + 1))
            if step + 1 == stop_at < STEPS:
                raise StageError("interrupted")
        (stage.folder / "result.txt").write_text("four")
        made.files = ["result.txt"]
    return done


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """A folder in which a stage was interrupted after two steps."""
    with pytest.raises(StageError, match="interrupted"):
        count_to_four(stage_in(tmp_path), stop_at=2)
    assert not stage_in(tmp_path).is_done()
    return tmp_path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupted_stage_goes_on_where_it_was_and_leaves_no_state(interrupted: Path) -> None:
    assert count_to_four(stage_in(interrupted)) == [2, 3]
    assert stage_in(interrupted).is_done()
    assert names_in(interrupted) == ["manifest.json", "result.txt"]
    assert list(Manifest(interrupted).sections) == ["proof"]


def test_the_state_of_other_settings_is_not_taken(interrupted: Path) -> None:
    assert count_to_four(stage_in(interrupted, after="44")) == [0, 1, 2, 3]


def test_a_stage_begins_anew_if_it_is_told_to(interrupted: Path) -> None:
    assert count_to_four(stage_in(interrupted), anew=True) == [0, 1, 2, 3]


def test_state_without_its_record_is_not_taken(interrupted: Path) -> None:
    Manifest(interrupted).forget("walk")
    assert count_to_four(stage_in(interrupted)) == [0, 1, 2, 3]


def test_a_stage_killed_at_any_change_of_its_files_ends_in_the_same_files(tmp_path: Path) -> None:
    for number in count(1):
        folder = tmp_path / str(number)
        if not is_killed_at_change(number, count_to_four, stage_in(folder), below=folder):
            break
        if not stage_in(folder).is_done():
            count_to_four(stage_in(folder))
        assert stage_in(folder).is_done()
        assert names_in(folder) == ["manifest.json", "result.txt"]
        assert list(Manifest(folder).sections) == ["proof"]
        shutil.rmtree(folder)
    assert number > STEPS


def test_a_stage_that_makes_no_files_is_not_recorded(tmp_path: Path) -> None:
    with Stage("endgames", tmp_path, {"seed": 1}).making():
        pass
    assert not Manifest(tmp_path).sections
