"""A referee with a clock: our engines, started without any compiled code, lose no match on time.

The clock counts the processor time of the engine, so that other programs on the computer do not change the result.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.runs import COMMAND

SECONDS = 5.0
"""The time of each colour for all of its moves."""
MOST_PLIES = 1200
"""After so many moves, a match is ended without a result."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the clock reads files of Linux")


class Referee:
    """Sends commands to an engine, and takes the time of its answers from a clock."""

    def __init__(self, engine: "subprocess.Popen[str]", ends_with_empty_line: bool) -> None:
        self._engine, self._is_gtp = engine, ends_with_empty_line
        self.left = [SECONDS, SECONDS]

    def ask(self, command: str, seat: int | None = None) -> str:
        """The answer. `seat`: whose clock runs meanwhile."""
        assert self._engine.stdin is not None
        assert self._engine.stdout is not None
        began = self._processor_seconds
        print(command, file=self._engine.stdin, flush=True)
        answer = self._engine.stdout.readline().strip()
        if seat is not None:
            self.left[seat] -= self._processor_seconds - began
        while self._is_gtp and self._engine.stdout.readline().strip():
            pass
        return answer.removeprefix("=").strip()

    @property
    def _processor_seconds(self) -> float:
        """What the engine has used so far."""
        fields = Path(f"/proc/{self._engine.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def tell(self, command: str) -> None:
        """A command without an answer."""
        assert self._engine.stdin is not None
        print(command, file=self._engine.stdin, flush=True)


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Referee]:
    """An engine that finds no compiled code."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    words = [sys.executable, str(COMMAND), *arguments]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as engine:
        try:
            yield Referee(engine, arguments[0] == "gtp")
        finally:
            engine.kill()


@pytest.mark.slow
@needs_proc
def test_gtp_loses_no_match_of_go_on_time(tmp_path: Path) -> None:
    with started(tmp_path, "gtp", "game=go", "search_threads=1") as referee:
        for size in (9, 13, 19):
            referee.left = [SECONDS, SECONDS]
            for command in (f"boardsize {size}", "clear_board", f"time_settings {SECONDS:g} 0 0"):
                referee.ask(command)
            passes = 0
            for ply in range(MOST_PLIES):
                seat = ply % 2
                referee.ask(f"time_left {'BW'[seat]} {referee.left[seat]:.2f} 0")
                passes = passes + 1 if referee.ask(f"genmove {'BW'[seat]}", seat).upper() == "PASS" else 0
                assert referee.left[seat] > 0, (size, ply)
                if passes == 2:
                    break


@pytest.mark.slow
@needs_proc
def test_gomocup_loses_no_match_on_time(tmp_path: Path) -> None:
    with started(tmp_path, "gomocup", "game=gomoku", "search_threads=1") as referee:
        for size in (9, 15):
            referee.left = [SECONDS, SECONDS]
            assert referee.ask(f"START {size}") == "OK"
            referee.tell(f"INFO timeout_match {SECONDS * 1000:g}")
            stones: list[str] = []
            for ply in range(size * size):
                seat = ply % 2
                referee.tell(f"INFO time_left {round(1000 * referee.left[seat])}")
                marked = [f"{stone},{2 - (number + ply + 1) % 2}" for number, stone in enumerate(stones)]
                answer = referee.ask("\n".join(["BOARD", *marked, "DONE"]) if marked else "BEGIN", seat)
                assert referee.left[seat] > 0, (size, ply)
                if answer == "ERROR the match is over":
                    break
                stones.append(answer)
            assert answer == "ERROR the match is over" or len(stones) == size * size
