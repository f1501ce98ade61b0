"""Damaged experience stores: one line, and the file stays as it is."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from selfplay.errors import InvalidFileError
from selfplay.experience.graph import MetBoard
from selfplay.experience.store import ExperienceStore
from selfplay.players.experience import load_experience_player
from tests.support.experience_tools import GAME, learn, new_store, random_match
from tests.support.rejections import assert_file_rejected

MATCHES = 20
FLIPS = 100

DAMAGE = {
    "matches is NULL": ("UPDATE kept SET value = NULL WHERE name = 'matches'", "does not count its matches"),
    "matches is negative": ("UPDATE kept SET value = -1 WHERE name = 'matches'", "does not count its matches"),
    "a negative count": ("UPDATE record SET matches = -1", "does not count its matches"),
    "a result of 2": (
        "UPDATE record SET result = 2 WHERE seat = 0 AND result = 1",
        "result of a seat that no match has",
    ),
    "a seat of 2": ("INSERT INTO record VALUES (2, 1, 0)", "result of a seat that no match has"),
    "more results than matches": ("UPDATE record SET matches = 1000", "more results than matches"),
    "a trigger that deletes": (
        "CREATE TRIGGER hostile AFTER INSERT ON following BEGIN DELETE FROM board; END",
        "its tables and triggers are not those",
    ),
    "a view in place of a table": (
        "ALTER TABLE record RENAME TO other; CREATE VIEW record AS SELECT 0 AS seat, 1 AS result, 1 AS matches",
        "its tables and triggers are not those",
    ),
    "a table without its checks": (
        "DROP TABLE record; CREATE TABLE record (seat, result, matches)",
        "its tables and triggers are not those",
    ),
    "canonical was 0": ("UPDATE kept SET value = 1 WHERE name = 'canonical'", "is not in the form that the store uses"),
    "an edge skips plies": (
        "UPDATE following SET next = (SELECT max(number) FROM board) WHERE met = 1",
        "is not one move away",
    ),
    "another score": ("UPDATE board SET score = 0.5 WHERE number = 0", "its score does not follow from the others"),
    "an edge to no board": ("UPDATE following SET next = 5000 WHERE met = 1", "next '5000' is missing"),
}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that has learned from some matches."""
    store = new_store(tmp_path_factory.mktemp("learned"))
    for seed in range(MATCHES):
        learn(store, random_match(seed))
    store.close()
    return store.path


@pytest.fixture
def path(learned: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(learned, tmp_path / "experience.sqlite"))


def use(path: Path) -> None:
    """Load the store, ask it for values and let it learn."""
    player = load_experience_player(path, GAME)
    try:
        player.action_values(GAME.init())
        assert str(player.status())
        for seed in (0, 1000):
            learn(player.store, random_match(seed))
    finally:
        player.store.close()


def stored_boards(path: Path) -> dict[int, MetBoard]:
    store = ExperienceStore(path, GAME)
    try:
        return store.boards()
    finally:
        store.close()


def rejection(path: Path) -> str | None:
    """The message with which the store is rejected; None if it is accepted."""
    try:
        stored_boards(path)
    except InvalidFileError as error:
        return str(error)
    return None


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_store_is_rejected_in_one_line_and_not_changed(path: Path, case: str) -> None:
    statement, message = DAMAGE[case]
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.execute("PRAGMA ignore_check_constraints = ON")
        sql.executescript(statement)
    with closing(sqlite3.connect(path)) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with assert_file_rejected(path, message):
        use(path)


def test_an_empty_file_is_a_new_store_and_not_an_existing_one(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    path.touch()
    with assert_file_rejected(path, "is empty, not an experience store"):
        ExperienceStore(path, GAME, must_exist=True)
    assert path.stat().st_size == 0
    assert len(ExperienceStore(path, GAME)) == 0


@pytest.mark.slow
def test_damaged_bytes_are_rejected_or_harmless(learned: Path, tmp_path: Path) -> None:
    chance, content, path = random.Random(13), learned.read_bytes(), tmp_path / "experience.sqlite"
    boards, rejected = stored_boards(learned), 0
    for _ in range(FLIPS):
        damaged = bytearray(content)
        for place in chance.sample(range(len(damaged)), chance.choice([1, 1, 4, 64])):
            damaged[place] ^= 1 << chance.randrange(8)
        if chance.random() < 0.2:
            del damaged[chance.randrange(len(damaged)) :]
        for stale in tmp_path.iterdir():
            stale.unlink()
        path.write_bytes(damaged)
        message = rejection(path)
        if message is not None:
            assert "\n" not in message
            assert path.read_bytes() == damaged
            rejected += 1
            continue
        # Bits that no value depends on, such as those of free pages. A file cut to nothing is a new one.
        assert stored_boards(path) in (boards, {})
        use(path)
    assert rejected > FLIPS / 4
