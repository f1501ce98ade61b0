"""The store of an experience graph: processes that learn into one file at once, and kills."""

import multiprocessing
import signal
import time

import pytest

from selfplay import play_matches
from selfplay.experience.graph import rescored
from selfplay.experience.store import ExperienceStore
from selfplay.players.experience import load_experience_player
from selfplay.players.player import RandomPlayer
from tests.support.experience_tools import GAME

FORK = multiprocessing.get_context("fork")


def play(path, matches, go_on, key, connection):
    """Send the actions of each match as soon as it has been learned; begin when told to."""
    machine = load_experience_player(str(path), GAME)
    connection.send("ready")
    connection.recv()
    numbers = range(machine.status().matches if go_on else 0, matches)
    for record in play_matches(GAME, (machine, RandomPlayer(GAME)), numbers, key=key):
        connection.send(record.action_sequences()[0].tolist())


def start(path, matches, *, go_on=True, key=0):
    """A process that is ready to play, and the connection to it."""
    connection, other_end = FORK.Pipe()
    process = FORK.Process(target=play, args=(path, matches, go_on, key, other_end))
    process.start()
    other_end.close()
    assert connection.recv() == "ready"
    return process, connection


def rest_of(process, connection):
    """The matches that the process still sends before it ends."""
    found = []
    try:
        while True:
            found.append(connection.recv())
    except EOFError:
        process.join()
    return found


def finish(process, connection):
    """The matches, as lists of actions, that the process plays until it ends."""
    connection.send("go")
    matches = rest_of(process, connection)
    assert process.exitcode == 0
    return matches


@pytest.mark.slow
def test_a_kill_during_200_matches_loses_at_most_the_current_one(tmp_path):
    path, seen = tmp_path / "store.sqlite", []
    for kills in range(4):
        process, connection = start(path, 200)
        connection.send("go")
        seen += [connection.recv() for _ in range(30 + 7 * kills)]
        time.sleep(0.003 * kills)
        process.kill()
        seen += rest_of(process, connection)
        assert process.exitcode == -signal.SIGKILL
        store = ExperienceStore(path, GAME, must_exist=True)
        # A match is taken in before it is shown, so one may have been learned that was never said.
        unsaid = store.status().matches - len(seen)
        assert unsaid in (0, 1)
        seen += ["unsaid"] * unsaid
        assert store.boards() == rescored(store.boards(), store.rule)
        store.close()
    finish(*start(path, 200))
    killed, whole = ExperienceStore(path, GAME), ExperienceStore(tmp_path / "whole.sqlite", GAME)
    finish(*start(tmp_path / "whole.sqlite", 200))
    # The matches have the same random numbers, so the run that was killed four times has the same result as the other.
    assert killed.status() == whole.status()
    assert killed.boards() == whole.boards()
