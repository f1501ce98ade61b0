"""The fake engine as a player."""

import os
import sys
from pathlib import Path

import pytest

from selfplay import play_matches
from selfplay.games import make_game
from selfplay.protocols.gtp.player import GtpPlayer
from tests.support.runs import PROJECT

GAME = make_game("tictactoe")
FAKE = PROJECT / "tests" / "support" / "fake_engine.py"
KEY = 5


def command(folder: Path, fault: str = "", at: int = 0) -> str:
    return f"{sys.executable} {FAKE} {folder}" + (f" {fault} {at}" if fault else "")


def fake(folder: Path, fault: str = "", at: int = 0, time_limit: float = 60.0) -> GtpPlayer:
    """The fake engine, which plays like FirstLegal except for its fault."""
    return GtpPlayer(GAME, command(folder, fault, at), time_limit=time_limit)


def told(folder: Path) -> list[str]:
    return (folder / "told").read_text().splitlines()


def sequences(players, matches=range(4), game=GAME, **options):
    records = play_matches(game, players, matches, KEY, **options)
    return [(record.action_sequences()[0].tolist(), float(record.returns())) for record in records]


def assert_all_ended(folder: Path) -> None:
    for number in map(int, (folder / "pids").read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
