"""Settings of the tests of the console."""

import pytest

from selfplay.playing import console_values, hints


@pytest.fixture(autouse=True)
def _any_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow computer there are no notices, which tests do not expect, and best lines are not shorter."""
    monkeypatch.setattr(console_values, "QUIET_SECONDS", 600.0)
    monkeypatch.setattr(hints, "LINE_SECONDS", 600.0)
