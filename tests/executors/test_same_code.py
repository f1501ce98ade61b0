"""Workers that import code from outside after it was edited: their tasks are refused."""

import sys

import pytest

from selfplay.errors import SettingError, StageError
from selfplay.executors import ExecutorOptions, open_executor
from selfplay.games import GAMES, make_game
from selfplay.runs.manifest import code_of

GAME = """
from pathlib import Path
from selfplay import rule
from tests.support.pile import Pile

MORE = 1

def with_end(more):
    @rule
    def is_over(p):
        return p.own + p.opp + MORE + more >= 7 + MORE + more

    return Pile.rules._replace(is_terminal=is_over)

class Longer(Pile):
    def __init__(self):
        self.rules = with_end(int((Path(__file__).parent / "more.txt").read_text()))
"""
NAME = "game_of_workers:Longer"


@pytest.fixture(autouse=True)
def game(tmp_path, monkeypatch):
    """A game whose file and whose data are in the temporary folder, made before they are edited."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(GAMES._found, NAME, raising=False)
    (tmp_path / "game_of_workers.py").write_text(GAME)
    (tmp_path / "more.txt").write_text("1")
    yield make_game(NAME)
    sys.modules.pop("game_of_workers")


class Sent:
    """Is read by a worker as the game with this name."""

    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return make_game, (self.name,)


def name_made(name):
    return make_game(name).name


def in_worker(function, task):
    with open_executor(ExecutorOptions("process", 1)) as executor:
        return list(executor.map(function, [task]))


def test_code_that_is_unchanged_or_has_another_comment_is_accepted(game, tmp_path):
    (tmp_path / "game_of_workers.py").write_text(f"# Edited.{GAME}")
    assert in_worker(repr, Sent(NAME)) == [repr(game)]
    assert in_worker(name_made, NAME) == [NAME]


@pytest.mark.parametrize("task", ["sent", "named"])
@pytest.mark.parametrize(
    ("file", "text"), [("game_of_workers.py", GAME.replace("MORE = 1", "MORE = 2")), ("more.txt", "2")]
)
def test_code_that_was_edited_before_a_worker_imports_it_is_refused(tmp_path, file, text, task):
    (tmp_path / file).write_text(text)
    with pytest.raises(
        StageError,
        match=rf"^the code of {NAME}, or a file or value that it uses, is another one in a worker: it was edited",
    ):
        in_worker(*((repr, Sent(NAME)) if task == "sent" else (name_made, NAME)))


def test_code_that_a_worker_cannot_import_is_refused_in_one_line(game, tmp_path):
    (tmp_path / "game_of_workers.py").write_text("def play(:")
    with pytest.raises(StageError, match=r"^a worker process cannot read its task: invalid syntax .*start the program"):
        in_worker(repr, type(game))


def test_a_game_keeps_what_its_class_has_read_from_a_file(tmp_path):
    recorded = code_of({"game.name": NAME})
    (tmp_path / "more.txt").write_text("2")
    assert code_of({"game.name": NAME}) == recorded
    with pytest.raises(SettingError, match=rf"^game '{NAME}': a file or another value that its class reads"):
        make_game(NAME)
