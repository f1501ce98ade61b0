"""Progress bars."""

import io
import time
from functools import partial

import pytest
from tqdm import tqdm

from selfplay.progress import progress_bar


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is written to a terminal, on which bars are shown again after each hundredth of a second."""
    screen = io.StringIO()
    monkeypatch.setattr("selfplay.progress.tqdm", partial(tqdm, file=screen, ncols=80))
    monkeypatch.setattr("selfplay.progress.SECONDS", 0.01)
    return screen


def test_the_time_beside_a_bar_goes_on_while_nothing_is_done(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "isatty", lambda: True)
    bar = progress_bar(total=300, desc="level 3: matches")
    latest = time.monotonic() + 60
    while screen.getvalue().count("level 3: matches:   0%|") < 4:
        assert time.monotonic() < latest
        time.sleep(0.01)
    bar.close()
    written = screen.getvalue()
    time.sleep(0.05)
    assert screen.getvalue() == written
    assert written.endswith(f"\r{' ' * 80}\r")


def test_nothing_is_written_where_there_is_no_terminal(screen: io.StringIO) -> None:
    bar = progress_bar(total=300, desc="level 3: matches")
    time.sleep(0.05)
    bar.close()
    assert screen.getvalue() == ""
