"""The store of an experience graph: processes that learn into one file at once, and kills."""

import os
import signal
import subprocess
import sys
import time

import pytest

from selfplay.learners.experience.graph import rescored
from selfplay.learners.experience.store import ExperienceStore
from tests.support.experience_tools import GAME, learn, new_store

PLAY = """
import sys
import torch
from selfplay.matches.arena import play_matches
from selfplay.games import make_game
from selfplay.players.experience import load_experience_player
from selfplay.players.random import RandomPlayer
torch.set_num_threads(1)
game = make_game("tictactoe")
machine = load_experience_player(sys.argv[1], game)
print("ready", flush=True)
sys.stdin.readline()
first, matches = machine.status().matches if sys.argv[3] == "on" else 0, int(sys.argv[2])
for record in play_matches(game, (machine, RandomPlayer(game)), range(first, matches), key=int(sys.argv[4])):
    print(*record.action_sequences()[0].tolist(), flush=True)
"""


def start(path, matches, *, go_on=True, key=0):
    command = [sys.executable, "-c", PLAY, path, str(matches), "on" if go_on else "anew", str(key)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)


def finish(process):
    """The matches, as lists of actions, that `process` plays until it ends."""
    output, _ = process.communicate("\n")
    assert process.returncode == 0
    return [list(map(int, line.split())) for line in output.splitlines() if line != "ready"]


def edges(store):
    boards = store.boards()
    return {(board.squares, boards[child].squares) for board in boards.values() for child in board.following}


@pytest.mark.slow
def test_two_processes_learn_into_one_new_file_at_once(tmp_path):
    path = tmp_path / "new" / "store.sqlite"
    processes = [start(path, 60, go_on=False, key=key) for key in (1, 2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    played = [finish(process) for process in processes]
    store = ExperienceStore(path, GAME, must_exist=True)
    assert store.status().matches == 120
    one_by_one = new_store(tmp_path)
    for moves in (*played[0], *played[1]):
        learn(one_by_one, moves)
    assert edges(store) == edges(one_by_one)
    assert store.boards() == rescored(store.boards(), store.rule)


@pytest.mark.slow
def test_a_kill_during_200_matches_loses_at_most_the_current_one(tmp_path):
    path, seen = tmp_path / "store.sqlite", []
    for kills in range(4):
        process = start(path, 200)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        seen += [process.stdout.readline() for _ in range(30 + 7 * kills)]
        time.sleep(0.003 * kills)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
        assert process.wait() == -signal.SIGKILL
        seen += rest.splitlines(keepends=True)
        seen = [line for line in seen if line.endswith("\n")]
        store = ExperienceStore(path, GAME, must_exist=True)
        # A match is taken in before it is shown, so one may have been learned that was never said.
        unsaid = store.status().matches - len(seen)
        assert unsaid in (0, 1)
        seen += ["unsaid\n"] * unsaid
        assert store.boards() == rescored(store.boards(), store.rule)
        store.close()
    finish(start(path, 200))
    killed, whole = ExperienceStore(path, GAME), ExperienceStore(tmp_path / "whole.sqlite", GAME)
    finish(start(tmp_path / "whole.sqlite", 200))
    # The matches have the same random numbers, so the run that was killed four times has the same result as the other.
    assert killed.status() == whole.status()
    assert killed.boards() == whole.boards()
