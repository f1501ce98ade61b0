"""The file of an experience store: what persists, other rules, broken and foreign files."""

import os
import sqlite3

import pytest

from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.experience.database import SCHEMA_VERSION
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.games import make_game
from selfplay.games.win_draw_loss import WinDrawLoss
from tests.support.experience_tools import DRAWN, GAME, O_WINS, X_WINS, boards_of, learn, new_store
from tests.support.rejections import assert_file_rejected


def test_experience_persists_between_processes(tmp_path):
    store = new_store(tmp_path, backup="minimax", canonical=True, discount=0.8)
    learn(store, X_WINS, (0,))
    assert " boards known from 1 match; " in str(store.status())
    learn(store, O_WINS, (1,))
    learn(store, DRAWN, (0,))
    before = store.boards()
    store.close()
    again = ExperienceStore(tmp_path / "store.sqlite", GAME, must_exist=True)
    assert again.boards() == before
    assert again.rule == ExperienceRule(backup="minimax", discount=0.8, canonical=True)
    assert again.status() == (len(before), 3, (WinDrawLoss(1, 1, 0), WinDrawLoss(1, 0, 0)))
    assert str(again.status()) == (
        f"{len(before)} boards known from 3 matches; "
        "against others it has won 2, drawn 1, lost 0 (moving first 1-1-0, second 1-0-0)"
    )


def test_a_store_in_a_folder_that_cannot_be_written_is_read_without_files_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "50% of #1?.sqlite"
    store = ExperienceStore(path, GAME)
    learn(store, X_WINS, (0,))
    before = store.boards()
    store.close()
    monkeypatch.setattr("os.access", lambda *_: False)
    again = ExperienceStore(path, GAME, must_exist=True)
    assert again.boards() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(StageError, match=r"^cannot write .*\.sqlite: attempt to write a readonly database$"):
        learn(again, O_WINS, (1,))
    again.close()


def test_what_a_process_has_written_beside_a_store_is_read_too(tmp_path, monkeypatch):
    writing = new_store(tmp_path)
    learn(writing, X_WINS, (0,))
    monkeypatch.setattr("os.access", lambda *_: False)
    reading = ExperienceStore(tmp_path / "store.sqlite", GAME, must_exist=True)
    learn(writing, O_WINS, (1,))
    assert reading.boards() == writing.boards()
    reading.close()
    writing.close()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            ExperienceRule(backup="minimax"),
            "backup=minimax: .*store.sqlite was created with absolute; set another path",
        ),
        (ExperienceRule(discount=1.5), "discount=1.5: must be above 0"),
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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"state_action = {}" * 100), "file is not a database"),
        (other_program, "is the database of another program"),
        (kept("PRAGMA user_version = 2"), f"has schema 2; this program reads schema {SCHEMA_VERSION}"),
        (kept("DROP TABLE board"), "its tables and triggers are not those of an experience store"),
        (kept("UPDATE kept SET value = 'go' WHERE name = 'game'"), "belongs to go, not tictactoe"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.symlink_to(path.with_name("elsewhere")), "is a link to a file that does not exist"),
    ],
)
def test_a_broken_or_foreign_file_is_refused_in_one_line_and_unchanged(tmp_path, make, message):
    path = tmp_path / "store.sqlite"
    make(path)
    with assert_file_rejected(path, message):
        ExperienceStore(path, GAME).status()


def test_a_pipe_in_place_of_a_journal_is_refused(tmp_path):
    os.mkfifo(tmp_path / "store.sqlite-journal")
    with pytest.raises(StageError, match=r"^cannot write .*store\.sqlite-journal: it is not a regular file$"):
        ExperienceStore(tmp_path / "store.sqlite", GAME)


def test_an_error_while_learning_a_match_stores_nothing(tmp_path):
    store = new_store(tmp_path)
    learn(store, X_WINS)
    before, status = store.boards(), store.status()
    with pytest.raises(InvalidFileError, match="CHECK constraint failed"):
        store.learn(boards_of(O_WINS), 7, (0,))
    assert (store.boards(), store.status()) == (before, status)
