"""Files are written as a whole or not at all."""

import os
import re
import socket
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from pandas import DataFrame
from PIL import Image

from selfplay.dataset.parquet import PartsWriter
from selfplay.errors import StageError
from selfplay.experience.json_file import export_json
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.figures.style import save_animation, save_figure
from selfplay.files import written_whole
from selfplay.tables import write_csv
from tests.support.experience_tools import GAME


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new folder" / "file.txt"
    with written_whole(path) as beside:
        beside.write_text("half")
        assert not path.exists()
        assert beside.parent == path.parent
        beside.write_text("whole")
    assert path.read_text() == "whole"
    assert names(path.parent) == ["file.txt"]


def test_a_failure_leaves_the_old_file_and_no_partial_one(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write_half():
        with written_whole(path) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


def test_a_failing_disk_is_named_with_the_file(tmp_path):
    path = tmp_path / "file.txt"
    with pytest.raises(StageError, match=rf"cannot write {path}: No space left on device"), written_whole(path):
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "error", [FileNotFoundError(2, "No such file or directory", "font.ttf"), BrokenPipeError(32, "Broken pipe")]
)
def test_an_error_of_another_file_or_of_a_pipe_is_not_blamed_on_the_file(tmp_path, error):
    with pytest.raises(type(error)) as caught, written_whole(tmp_path / "file.txt"):
        raise error
    assert caught.value is error
    assert names(tmp_path) == []


def test_a_link_in_place_of_a_partial_file_is_not_followed(tmp_path):
    other, path = tmp_path / "other.txt", tmp_path / "file.txt"
    other.write_text("of another program")
    (tmp_path / ".file.txt.partial").symlink_to(other)
    with written_whole(path) as beside:
        beside.write_text("new")
    assert (path.read_text(), path.is_symlink()) == ("new", False)
    assert other.read_text() == "of another program"
    assert names(tmp_path) == ["file.txt", "other.txt"]


def test_what_is_not_a_regular_file_is_not_replaced(tmp_path):
    path = tmp_path / "file.txt"
    os.mkfifo(path)
    with pytest.raises(StageError, match=r"cannot write .*file\.txt: it is not a regular file"), written_whole(path):
        pytest.fail("nothing is computed")
    assert path.is_fifo()
    assert names(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("name", ["", ".."])
def test_a_path_that_is_not_that_of_a_file_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StageError, match=r"^cannot write \.\.?: "), written_whole(Path(name)) as beside:
        beside.write_text("whole")
    assert names(tmp_path) == []


def write_boards(path):
    store = ExperienceStore(path.parent / "experience.sqlite", GAME, ExperienceRule())
    try:
        export_json(store, path)
    finally:
        store.close()
        (path.parent / "experience.sqlite").unlink()


WRITERS = {
    "boards.json": write_boards,
    "figure.png": lambda path: save_figure(Figure(), path),
    "animation.gif": lambda path: save_animation([Image.new("RGB", (2, 2))], path),
    "table.csv": lambda path: write_csv(DataFrame({"level": [1]}), path),
}


def socket_at(path):
    with socket.socket(socket.AF_UNIX) as bound:
        # The whole path may be longer than the 107 bytes that are allowed.
        bound.bind(path.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("boards.json", os.mkfifo),
        ("figure.png", os.mkdir),
        ("animation.gif", socket_at),
        ("table.csv", lambda path: path.symlink_to(os.devnull)),
    ],
)
def test_no_output_replaces_what_is_not_a_regular_file(tmp_path, monkeypatch, name, make):
    monkeypatch.chdir(tmp_path)
    other, path = tmp_path / "other.txt", tmp_path / name
    other.write_text("of another program")
    make(path)
    before = path.lstat()
    with pytest.raises(StageError, match=rf"^cannot write .*{re.escape(name)}: [^\n]*$"):
        WRITERS[name](path)
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert other.read_text() == "of another program"
    assert set(names(tmp_path)) == {"other.txt", name}


@pytest.mark.parametrize("name", [".dataset.parquet.partial", "dataset.parquet"])
def test_a_link_in_place_of_a_folder_of_parts_is_not_followed(tmp_path, name):
    other, path = tmp_path / "other", tmp_path / "dataset.parquet"
    other.mkdir()
    (other / "record.json").write_text("{}")
    (tmp_path / name).symlink_to(other)
    writer = PartsWriter(path, {})
    writer.add(0, b"part")
    writer.finish()
    assert names(path) == ["part-00000.parquet"]
    assert not path.is_symlink()
    assert names(other) == ["record.json"]
