"""The store of an experience graph: scores, symmetry, persistence, concurrent processes, kills."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.learners.experience.database import APPLICATION_ID, SCHEMA_VERSION
from selfplay.learners.experience.graph import BACKUPS, rescored
from selfplay.learners.experience.store import ExperienceStore
from selfplay.settings.experience import ExperienceRule
from tests.support.experience_tools import GAME, boards_of, learn, new_store, random_match
from tests.support.rejections import assert_file_rejected

X_WINS = [0, 3, 1, 4, 2]
O_WINS = [0, 3, 1, 4, 8, 5]
DRAWN = [0, 1, 2, 4, 3, 5, 7, 6, 8]


def scores(store, moves):
    """The score of each board of a match."""
    by_squares = {board.squares: board.score for board in store.boards().values()}
    return [by_squares[store.form.of(board)] for board in boards_of(moves)]


# ---------------------------------------------------------------------- scores


def test_a_won_board_gives_the_one_before_it_nine_tenths_and_the_start_059(tmp_path):
    store = new_store(tmp_path)
    learn(store, X_WINS)
    assert scores(store, X_WINS) == pytest.approx([0.9**5, 0.9**4, 0.9**3, 0.9**2, 0.9, 1])
    assert f"{scores(store, X_WINS)[0]:.2f}" == "0.59"
    assert [board.is_end for board in store.boards().values()] == [False] * 5 + [True]


def test_a_drawn_match_leaves_no_end_and_no_score(tmp_path):
    store = new_store(tmp_path)
    learn(store, DRAWN)
    assert not any(board.is_end or board.score for board in store.boards().values())


def test_successors_are_in_the_order_in_which_they_were_seen(tmp_path):
    store = new_store(tmp_path)
    for moves in (X_WINS, DRAWN, [4, 0, 1, 2, 7], X_WINS):
        learn(store, moves)
    boards = store.boards()
    assert [boards[n].squares.index(1) for n in boards[0].following] == [0, 4]


def test_of_two_threats_absolute_backup_takes_the_nearer_and_minimax_the_movers_choice(tmp_path):
    # X . O
    # X O .     X to move: the left column wins (+1), anything else lets O win on the diagonal (-0.9).
    # . . .
    start = [0, 4, 3, 2]
    absolute, minimax = (new_store(tmp_path / name, backup=name) for name in BACKUPS)
    for store in (absolute, minimax):
        learn(store, [*start, 8, 6])
        learn(store, [*start, 6])
    assert scores(absolute, start)[-1] == scores(minimax, start)[-1] == pytest.approx(0.9)
    # O . .
    # X X O     O to move: it can block; absolute only sees that X could win, minimax sees the draw.
    # X . .
    start = [3, 0, 4, 5, 6]
    for store in (absolute, minimax):
        learn(store, [*start, 1, 2])
        learn(store, [*start, 2, 8, 7, 1])
        assert scores(store, [*start, 2])[-1] == 0
    assert scores(absolute, start)[-1] == pytest.approx(0.9**2)
    assert scores(minimax, start)[-1] == 0


@given(
    seeds=st.lists(st.integers(0, 60), max_size=30), backup=st.sampled_from(sorted(BACKUPS)), canonical=st.booleans()
)
def test_incremental_updates_equal_recomputing_the_whole_graph(tmp_path_factory, seeds, backup, canonical):
    store = new_store(tmp_path_factory.mktemp("store"), backup=backup, canonical=canonical)
    for seed in seeds:
        learn(store, random_match(seed))
        boards = store.boards()
        assert boards == rescored(boards, store.rule)
    store.close()


# ---------------------------------------------------------------------- symmetry


@pytest.mark.parametrize("canonical", [False, True])
def test_one_of_eight_symmetric_boards_is_kept(tmp_path, canonical):
    store = new_store(tmp_path, canonical=canonical)
    moves = [0, 1, 5, 2, 4, 6, 8]
    for actions in GAME.symmetries.actions:
        learn(store, [int(actions[move]) for move in moves])
    ply_counts = [sum(map(abs, board.squares)) for board in store.boards().values()]
    assert [ply_counts.count(ply) for ply in range(8)] == [1] * 8 if canonical else [1, 4, 8, 8, 8, 8, 8, 8]


def test_all_boards_of_tictactoe_and_their_classes_are_counted(tmp_path):
    plain, canonical = new_store(tmp_path / "plain"), new_store(tmp_path / "canonical", canonical=True)
    for seed in range(1500):
        learn(plain, random_match(seed))
        learn(canonical, random_match(seed))
    assert {canonical.form.of(board.squares) for board in plain.boards().values()} == {
        board.squares for board in canonical.boards().values()
    }
    assert len(canonical) <= 765 < len(plain) <= 5478


# ---------------------------------------------------------------------- the file


def test_experience_persists_between_processes(tmp_path):
    store = new_store(tmp_path, backup="minimax", canonical=True, discount=0.8)
    learn(store, X_WINS, (0, 1))
    assert " boards known from 1 match; " in str(store.status())
    learn(store, O_WINS, (1,))
    learn(store, DRAWN, (0,))
    before = store.boards()
    store.close()
    again = ExperienceStore(tmp_path / "store.sqlite", GAME, must_exist=True)
    assert again.boards() == before
    assert again.rule == ExperienceRule("minimax", 0.8, True)
    assert again.status() == (len(before), 3, (WinDrawLoss(1, 1, 0), WinDrawLoss(1, 0, 1)))
    assert str(again.status()) == (
        f"{len(before)} boards known from 3 matches; it has won 2, drawn 1, lost 1 (moving first 1-1-0, second 1-0-1)"
    )


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            ExperienceRule("minimax"),
            "experience.backup=minimax: .*store.sqlite was created with absolute; set another path",
        ),
        (ExperienceRule(canonical=True), "experience.canonical=True: .* was created with False"),
        (ExperienceRule(discount=0.5), "experience.discount=0.5: .* was created with 0.9"),
        (ExperienceRule("median"), "experience.backup=median: must be absolute or minimax"),
        (ExperienceRule(discount=1.5), "experience.discount=1.5: must be above 0"),
    ],
)
def test_another_rule_is_refused(tmp_path, wanted, message):
    new_store(tmp_path).close()
    with pytest.raises(SettingError, match=message):
        ExperienceStore(tmp_path / "store.sqlite", GAME, wanted)


def test_a_game_without_boards_is_refused_before_a_file_is_created(tmp_path):
    with pytest.raises(SettingError, match="sumto100: this game has no board of squares"):
        ExperienceStore(tmp_path / "store.sqlite", make_game("sumto100"))
    assert not list(tmp_path.iterdir())


def other_program(path):
    with sqlite3.connect(path) as sql:
        sql.execute("CREATE TABLE theirs (value)")


def kept(statement):
    def change(path):
        ExperienceStore(path, GAME).close()
        with sqlite3.connect(path) as sql:
            sql.execute(statement)

    return change


def cut_off(path):
    store = ExperienceStore(path, GAME)
    for seed in range(50):
        learn(store, random_match(seed))
    store.close()
    path.write_bytes(path.read_bytes()[:-9000])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"state_action = {}" * 100), "file is not a database"),
        (lambda path: path.write_text("{}"), "file is not a database"),
        (other_program, "is the database of another program"),
        (kept("PRAGMA user_version = 2"), f"has schema 2; this program reads schema {SCHEMA_VERSION}"),
        (kept("DROP TABLE board"), "cannot be read as an experience store: no such table"),
        (kept("DELETE FROM kept WHERE name = 'backup'"), "does not record its backup rule"),
        (kept("UPDATE kept SET value = 'go' WHERE name = 'game'"), "belongs to go, not tictactoe"),
        (cut_off, "is damaged|cannot be read|can be read: database disk image is malformed"),
    ],
)
def test_a_broken_or_foreign_file_is_refused_in_one_line_and_unchanged(tmp_path, make, message):
    path = tmp_path / "store.sqlite"
    make(path)
    with assert_file_rejected(path, message):
        ExperienceStore(path, GAME).status()


def test_a_missing_file_is_refused_where_it_must_exist(tmp_path):
    with pytest.raises(InvalidFileError, match="does not exist"):
        ExperienceStore(tmp_path / "store.sqlite", GAME, must_exist=True)
    assert not list(tmp_path.iterdir())


def test_the_header_identifies_the_file(tmp_path):
    new_store(tmp_path).close()
    with sqlite3.connect(tmp_path / "store.sqlite") as sql:
        assert sql.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_error_while_learning_a_match_stores_nothing(tmp_path):
    store = new_store(tmp_path)
    learn(store, X_WINS)
    before, status = store.boards(), store.status()
    with pytest.raises(InvalidFileError, match="CHECK constraint failed"):
        store.learn(boards_of(O_WINS), 7, (0,))
    assert (store.boards(), store.status()) == (before, status)


# ---------------------------------------------------------------------- processes

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
