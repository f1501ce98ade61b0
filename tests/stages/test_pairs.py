"""Matches of many pairs, with lines about their progress."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from selfplay import compose_settings
from selfplay.settings.run import Run
from selfplay.stages import pairs


def test_where_there_is_no_bar_lines_say_how_many_pairs_are_left_and_how_long_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = iter(range(0, 1000, 90))
    monkeypatch.setattr(pairs, "monotonic", lambda: next(clock))
    executor = SimpleNamespace(map=lambda play, tasks, files: (task.series for task in tasks))
    monkeypatch.setattr(pairs, "open_executor", lambda *_: nullcontext(executor))
    settings = compose_settings([f"run_dir={tmp_path}"])
    with caplog.at_level("INFO", logger="selfplay"):
        played = pairs.play_pairs(Run.of(settings), ["a", "b", "c"], None, description="comparing levels")
        assert list(played) == ["a", "b", "c"]
    assert caplog.messages == [
        "comparing levels: 1 of 3 pairs, about 3 min left",
        "comparing levels: 2 of 3 pairs, about 2 min left",
    ]
