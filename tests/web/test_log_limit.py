"""What strangers can make the server write into its log is limited."""

import logging

import pytest

from selfplay.web import log_limit
from selfplay.web.log_limit import LOG_SECONDS, LogLimit


class Log:
    """A log with a limit, and a clock that is set by hand."""

    def __init__(self) -> None:
        self.now, self.limit = 0.0, LogLimit(lambda: self.now)

    def said(self, text: str, *arguments: object) -> str | None:
        """What is written of a record, None if nothing."""
        record = logging.LogRecord("web", logging.WARNING, __file__, 1, text, arguments, None)
        return record.getMessage() if self.limit.filter(record) else None


def test_a_kind_of_line_is_written_once_in_a_minute_with_the_number_of_those_left_out() -> None:
    log = Log()
    assert log.said("from %s", "a") == "from a"
    assert [log.said("from %s", name) for name in "bcd"] == [None] * 3
    assert log.said("another") == "another"
    log.now = LOG_SECONDS
    assert log.said("from %s", "e") == "from e (3 more of this kind since the last one)"
    log.now = 2 * LOG_SECONDS
    assert log.said("from %s", "f") == "from f"
    assert log.said("another") == "another"


def test_the_kind_that_was_written_longest_ago_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_limit, "MOST_KINDS", 2)
    log = Log()
    assert [log.said(kind) for kind in ("a", "b", "a", "c", "b", "a")] == ["a", "b", None, "c", None, "a"]
