"""Datasets in Parquet: parts, shards of an interrupted run, and broken files."""

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfplay.dataset.formats import PARQUET
from selfplay.errors import InvalidFileError
from selfplay.games import make_game
from selfplay.games.observation_codec import BitCodec
from tests.support.dataset_tools import drawn_rows, read_dataset, rows_are_equal, write_dataset
from tests.support.rejections import assert_file_rejected

CODEC = BitCodec(np.arange(4), 1)
TICTACTOE = make_game("tictactoe")


def test_the_split_into_parts_changes_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr("selfplay.dataset.parquet.GROUP_SIZE", 64)
    codec = TICTACTOE.observation_codec
    rows = drawn_rows(codec, 500, 0)
    for name, size in (("whole", 500), ("parted", 7), ("of a group", 64), ("beyond it", 200)):
        parts = (rows.select(slice(start, start + size)) for start in range(0, 500, size))
        assert write_dataset(tmp_path / f"{name}.parquet", parts, codec) == 500
    files = {path.read_bytes() for path in tmp_path.glob("*.parquet/part-00000.parquet")}
    assert len(files) == 1
    assert rows_are_equal(read_dataset(tmp_path / "whole.parquet", codec), rows)


BROKEN_TABLES = {
    "no rows": (lambda table: table.slice(0, 0), "holds no rows"),
    "another game's": (
        lambda table: table.set_column(2, "observation", pa.array([b"ab"] * len(table), pa.binary(2))),
        r"column 3 is 'observation \(fixed_size_binary\[2\]\)', not 'observation \(fixed_size_binary\[1\]\)'; its "
        r"columns must be match \(int64\), ply \(int32\), observation \(fixed_size_binary\[1\]\), target \(float\)$",
    ),
    "target 1.5": (
        lambda table: table.set_column(3, "target", pa.array([1.5] * len(table), pa.float32())),
        "column target of row 1 is 1.5; it must be from -1 to 1",
    ),
    "matches out of order": (
        lambda table: table.take([1, 0, 2]),
        r"part-00000\.parquet: row 2 is out of order: rows are in the order of matches, then of plies$",
    ),
    "a row twice": (lambda table: table.take([0, 1, 1]), "row 3 is out of order"),
    "null target": (
        lambda table: table.set_column(3, "target", pa.array([0.5, None, 0.5], pa.float32())),
        r"part-00000\.parquet: column target of row 2 is empty$",
    ),
}


@pytest.fixture
def parquet(tmp_path):
    """A dataset of three rows in one part; its folder."""
    path = tmp_path / "dataset.parquet"
    write_dataset(path, [drawn_rows(CODEC, 3, 0)], CODEC)
    return path


@pytest.mark.parametrize("kind", BROKEN_TABLES)
def test_a_broken_table_is_refused_with_its_name_and_one_line(parquet, kind):
    change, message = BROKEN_TABLES[kind]
    part = parquet / "part-00000.parquet"
    pq.write_table(change(pq.read_table(part)), part)
    with pytest.raises(InvalidFileError, match=message) as caught:
        read_dataset(parquet, CODEC)
    assert str(caught.value).startswith(str(parquet))


def test_a_file_that_is_not_parquet_is_refused_in_one_line(parquet):
    (parquet / "part-00000.parquet").write_bytes(b"PAR1")
    with assert_file_rejected(parquet / "part-00000.parquet", r"Parquet file size is 4 bytes"):
        read_dataset(parquet, CODEC)


def test_a_single_file_is_read_as_a_folder_with_one_part(parquet):
    assert rows_are_equal(read_dataset(parquet / "part-00000.parquet", CODEC), read_dataset(parquet, CODEC))


def test_a_dataset_without_one_of_its_parts_is_refused(tmp_path):
    path = tmp_path / "dataset.parquet"
    with PARQUET.written(path, {}) as writer:
        for shard in range(3):
            writer.add(shard, PARQUET.encode([drawn_rows(CODEC, 5, shard)], CODEC)[0])
    assert len(read_dataset(path, CODEC).match) == 15
    (path / "part-00001.parquet").unlink()
    with pytest.raises(InvalidFileError, match=r"part-00001\.parquet: is missing; there is part-00002.parquet$"):
        read_dataset(path, CODEC)
    with pytest.raises(InvalidFileError, match=r"is neither a Parquet file nor a folder with part-00000\.parquet"):
        read_dataset(tmp_path / "nowhere.parquet", CODEC)


def interrupted(path, record, *contents):
    """Begin to write a dataset, add these shards and stop; returns what was there before."""
    with suppress(KeyboardInterrupt), PARQUET.written(path, record) as writer:
        there = dict(writer.written)
        for shard, content in enumerate(contents):
            writer.add(shard, content)
        raise KeyboardInterrupt
    return there


def test_complete_shards_are_reused_by_the_next_run_with_the_same_settings(tmp_path):
    path, record = tmp_path / "dataset.parquet", {"seed": 0}
    contents = [PARQUET.encode([drawn_rows(CODEC, 5 + shard, shard)], CODEC)[0] for shard in range(2)]
    assert interrupted(path, record, contents[0]) == {}
    assert not path.exists()
    assert interrupted(path, record) == {0: 5}
    for other in (contents[0][:-9], contents[1]):
        (tmp_path / ".dataset.parquet.partial" / "part-00000.parquet").write_bytes(other)
        assert interrupted(path, record, contents[0]) == {}, "a part that was cut off or exchanged counts as whole"
    with PARQUET.written(path, record) as writer:
        assert writer.written == {0: 5}
        writer.add(1, contents[1])
    assert [file.name for file in sorted(path.iterdir())] == ["part-00000.parquet", "part-00001.parquet"]
    assert len(read_dataset(path, CODEC).match) == 11


def test_files_that_are_not_parts_are_not_reused(tmp_path):
    path, record, beside = tmp_path / "dataset.parquet", {"seed": 0}, tmp_path / ".dataset.parquet.partial"
    content, _ = PARQUET.encode([drawn_rows(CODEC, 5, 0)], CODEC)
    assert interrupted(path, record, content) == {}
    (beside / "part-foreign.parquet").write_bytes(content)
    (beside / "part-00001.parquet").mkdir()
    assert interrupted(path, record) == {0: 5}
    assert {file.name for file in beside.iterdir()} == {"record.json", "digests.txt", "part-00000.parquet"}
    (beside / "record.json").write_bytes(b"\xff")
    assert interrupted(path, record) == {}, "a record that is not text counts as this one"
