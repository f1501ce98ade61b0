"""The levels at which training data change in kind, as the manifests record it."""

from pathlib import Path

from selfplay.runs.data_changes import data_changes
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder

DIGEST = "0" * 64


def recorded(path: Path, levels: int, replay: int, changed: dict[int, dict[str, object]]) -> RunFolder:
    """A run whose manifests record training with this replay, and other settings of matches from some levels on."""
    run, matches = RunFolder(path), {"epsilons": [0.3], "player.depth": 1, "targets": "full"}
    for level in range(levels + 1):
        run.level(level).mkdir(parents=True)
        matches = matches | changed.get(level, {})
        manifest = Manifest(run.level(level))
        own = {"level": level} if level == 0 else {"level": level, **matches}
        manifest.record("generation", own, {}, [])
        if level > 0:
            count = min(replay, level - 1)
            replayed = {"replayed_sha256": [DIGEST] * count} if count else {}
            manifest.record("training", {"level": level, **replayed}, {}, [])
    return run


def test_the_random_matches_leave_at_once_without_replay_and_with_it_when_the_window_is_full(tmp_path: Path) -> None:
    alone = recorded(tmp_path / "alone", 4, 0, {})
    assert data_changes(alone, [1, 2, 3, 4]) == {2: "no longer on random matches (level 0)"}
    replay = recorded(tmp_path / "replay", 5, 2, {})
    assert data_changes(replay, [1, 2, 3, 4, 5]) == {
        2: "also on matches of earlier levels",
        4: "no longer on random matches (level 0)",
    }


def test_other_settings_of_the_matches_are_named_at_the_level_that_learns_from_them(tmp_path: Path) -> None:
    changed = {3: {"epsilons": [0.1], "player.depth": 2}, 4: {"targets": "watkins"}}
    run = recorded(tmp_path, 5, 0, changed)
    assert data_changes(run, [1, 2, 3, 4, 5]) == {
        2: "no longer on random matches (level 0)",
        4: "epsilons was [0.3], is [0.1]; player.depth was 1, is 2",
        5: "targets was full, is watkins",
    }


def test_levels_without_a_record_are_left_out(tmp_path: Path) -> None:
    run = recorded(tmp_path, 3, 0, {})
    (run.level(2) / "manifest.json").unlink()
    assert data_changes(run, [1, 2, 3]) == {}
    assert data_changes(run, []) == {}
