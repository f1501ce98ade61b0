"""The SQLite file of an experience store: schema, checks and transactions.

The write-ahead log lets one process write while others read; a second writer waits. A transaction interrupted by a kill
leaves no trace. Files of another program or another format are never written to.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from selfplay.errors import InvalidFileError, RunLockedError, SettingError, StageError, shortened
from selfplay.experience.rule import ExperienceRule
from selfplay.files import check_writable, open_file, resolved

APPLICATION_ID = 0x53504C58
"""Identifies the files of this program, in the header of the SQLite file."""
SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0

SCHEMA = """
CREATE TABLE kept (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE board (
    number INTEGER PRIMARY KEY,
    squares TEXT NOT NULL UNIQUE,
    player INTEGER NOT NULL CHECK (player IN (0, 1)),
    score REAL NOT NULL DEFAULT 0 CHECK (score BETWEEN -1 AND 1),
    is_end INTEGER NOT NULL DEFAULT 0 CHECK (is_end IN (0, 1))
);
CREATE TABLE following (
    met INTEGER PRIMARY KEY,
    board INTEGER NOT NULL REFERENCES board,
    next INTEGER NOT NULL REFERENCES board,
    UNIQUE (board, next)
);
CREATE INDEX following_next ON following (next);
CREATE TABLE record (
    seat INTEGER NOT NULL,
    result INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    PRIMARY KEY (seat, result)
) WITHOUT ROWID;
"""

CANNOT_WRITE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM)


class ExperienceDatabase:
    """An open experience file. An existing file is not changed before `allow_writing`, and can only be read where its
    folder cannot be written to.

    Args:
        path: the file; it is created, with its folder, if it does not exist, unless `must_exist`.
        rule: how scores are backed up; None for the rule of the file, or the default for a new file.

    Raises InvalidFileError if the file is missing, broken, in another format or of another program or game;
    SettingError if it was created with another rule; RunLockedError if another process has been writing for
    BUSY_SECONDS; StageError if it cannot be written.
    """

    def __init__(self, path: Path, game_name: str, rule: ExperienceRule | None = None, *, must_exist: bool = False):
        (rule or ExperienceRule()).check()
        self.path = path
        self._lock = threading.RLock()
        if must_exist or path.exists() or path.is_symlink():
            open_file(path).close()
        # SQLite opens these by itself.
        for suffix in ("-journal", "-wal", "-shm"):
            check_writable(path.with_name(path.name + suffix))
        with self._reporting():
            path.parent.mkdir(parents=True, exist_ok=True)
            name, is_uri = _name_for_sqlite(path)
            self._sql = sqlite3.connect(
                name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=is_uri
            )
            # Before the schema is checked, nothing that it contains may call functions.
            self._sql.execute("PRAGMA trusted_schema = OFF")
        try:
            self.rule = self._prepare(game_name, rule, must_exist=must_exist)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._sql.close()

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        """Apply all changes of the block or none; reads within the block are consistent."""
        with self._lock, self._reporting():
            self._sql.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield self._sql
                self._sql.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._sql.execute("ROLLBACK")
                raise

    def allow_writing(self) -> None:
        """Prepare the file for being written to by one process while others read it."""
        with self._reporting():
            self._sql.execute("PRAGMA journal_mode = WAL")
            # Commits survive a kill of the process; only a power failure can lose the latest ones.
            self._sql.execute("PRAGMA synchronous = NORMAL")

    def _prepare(self, game_name: str, rule: ExperienceRule | None, *, must_exist: bool) -> ExperienceRule:
        with self.transaction(write=False) as sql:
            if self._check_format(sql):
                return self._rule_of(sql, game_name, rule)
        if must_exist:
            raise InvalidFileError(self.path, "is empty, not an experience store")
        self.allow_writing()
        with self.transaction() as sql:
            # Another process may have created it in the meantime.
            if not self._check_format(sql):
                self._create(sql, game_name, rule or ExperienceRule())
            return self._rule_of(sql, game_name, rule)

    def _check_format(self, sql: sqlite3.Connection) -> bool:
        """Whether the file is an experience store; False if it is new. Raises InvalidFileError if it is neither."""
        application, version = (
            sql.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if application == 0 and not sql.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return False
        if application != APPLICATION_ID:
            raise InvalidFileError(self.path, "is the database of another program")
        if version != SCHEMA_VERSION:
            raise InvalidFileError(self.path, f"has schema {version}; this program reads schema {SCHEMA_VERSION}")
        if _schema_of(sql) != _own_schema():
            raise damaged(self.path, "its tables and triggers are not those of an experience store")
        fault = sql.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if fault != "ok":
            raise damaged(self.path, fault)
        return True

    def _create(self, sql: sqlite3.Connection, game_name: str, rule: ExperienceRule) -> None:
        # Not executescript, which would end the transaction.
        for statement in SCHEMA.split(";"):
            sql.execute(statement)
        kept = {"game": game_name, **asdict(rule), "matches": 0}
        sql.executemany("INSERT INTO kept VALUES (?, ?)", kept.items())
        sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _rule_of(self, sql: sqlite3.Connection, game_name: str, wanted: ExperienceRule | None) -> ExperienceRule:
        """The rule of the file. Raises SettingError if another one is wanted."""
        kept = dict(sql.execute("SELECT name, value FROM kept"))
        if kept.get("game") != game_name:
            raise InvalidFileError(self.path, f"belongs to {shortened(kept.get('game'))}, not {game_name}")
        matches, records = kept.get("matches"), sql.execute("SELECT seat, result, matches FROM record").fetchall()
        if not all(isinstance(count, int) and count >= 0 for count in (matches, *(count for *_, count in records))):
            raise damaged(self.path, "it does not count its matches")
        if not all(seat in (0, 1) and result in (-1, 0, 1) for seat, result, _ in records):
            raise damaged(self.path, "it has a result of a seat that no match has")
        if sum(count for *_, count in records) > matches:
            raise damaged(self.path, "it has more results than matches")
        try:
            own = ExperienceRule(
                backup=str(kept["backup"]), discount=float(kept["discount"]), canonical=bool(kept["canonical"])
            )
            own.check()
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFileError(self.path, "does not record its backup rule") from error
        for name, value in asdict(wanted or own).items():
            was = getattr(own, name)
            if was != value:
                raise SettingError(f"{name}={value}: {self.path} was created with {was}; set another path")
        return own

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn errors of SQLite into errors of this program."""
        try:
            yield
        # Names in a damaged file may not be valid text.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise RunLockedError(f"{self.path}: locked by another process for {BUSY_SECONDS:.0f} s") from error
            if code in CANNOT_WRITE:
                raise StageError(f"cannot write {self.path}: {error}") from error
            reason = " ".join(str(error).split())
            raise InvalidFileError(self.path, f"cannot be read as an experience store: {reason}") from error
        except OSError as error:
            raise StageError(f"cannot write {self.path}: {error.strerror}") from error


def _name_for_sqlite(path: Path) -> tuple[str, bool]:
    """The name of a file, and whether it is a URI. A file in a folder that cannot be written to is opened for reading
    only, which needs no files beside it, unless a process that writes has one there."""
    path = resolved(path)
    is_read_only = path.exists() and not os.access(path.parent, os.W_OK)
    is_written = path.with_name(f"{path.name}-wal").exists()
    return (f"{path.as_uri()}?immutable=1", True) if is_read_only and not is_written else (str(path), False)


def _schema_of(sql: sqlite3.Connection) -> set[tuple[str, ...]]:
    """The tables, indexes, views and triggers of a database, with the text that made them."""
    return set(sql.execute("SELECT type, name, tbl_name, trim(coalesce(sql, '')) FROM sqlite_master"))


@cache
def _own_schema() -> frozenset[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as sql:
        sql.executescript(SCHEMA)
        return frozenset(_schema_of(sql))


def damaged(path: Path, fault: str) -> InvalidFileError:
    """The error for a store with contents that none can have."""
    return InvalidFileError(path, f"is damaged: {' '.join(fault.split())}; restore it or set another path")
