"""Datasets: what is written is read back in either form, and every kind of broken file is refused by name."""

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from selfplay.dataset.parquet import parquet_parts
from selfplay.dataset.reader import read_dataset
from selfplay.dataset.rows import Rows, concatenate
from selfplay.dataset.schema import csv_schema
from selfplay.dataset.writer import dataset_written, encode_rows
from selfplay.errors import InvalidFileError
from selfplay.games import make_game
from selfplay.games.observation_codec import BitCodec
from selfplay.matches.arena import play_matches
from selfplay.players.random import RandomPlayer
from tests.support.dataset_tools import observations_of, rows_of_record, words_of
from tests.support.rejections import assert_file_rejected

CODEC = BitCodec(np.arange(4))
TICTACTOE = make_game("tictactoe")
HEADER = "match,ply,v0,v1,v2,v3,target\n"
GOOD = HEADER + "0,0,1,0,0,0,0.95\n0,1,1,0,0,1,-1\n"


def rows_are_equal(rows, other):
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(rows, other, strict=True))


def write_dataset(path, parts, codec=CODEC):
    """Write the rows of `parts` as one shard; returns how many there were."""
    with dataset_written(path, codec.size, {}) as writer:
        content, rows = encode_rows(parts, path.suffix.removeprefix("."), codec)
        writer.add(0, content)
    return rows


def make_rows(codec, count, seed):
    random = np.random.default_rng(seed)
    match, ply = random.integers(0, 2**62, count), random.integers(0, 2**31 - 1, count, dtype=np.int32)
    words = words_of(random.integers(0, 2, (count, codec.size), dtype=np.uint8), codec)
    return Rows(match, ply, *words, random.uniform(-1, 1, count).astype(np.float32))


@pytest.fixture
def written(tmp_path):
    """Writes text, or bytes, to a file."""

    def write(content):
        path = tmp_path / "broken.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_the_file_has_the_columns_that_the_design_names(tmp_path):
    path = tmp_path / "dataset.csv"
    rows = Rows(
        np.array([0, 0]),
        np.array([0, 1], dtype=np.int32),
        *words_of(np.array([[1, 0, 0, 0], [1, 0, 0, 1]], dtype=np.uint8), CODEC),
        np.array([0.95, -1], dtype=np.float32),
    )
    assert write_dataset(path, [rows]) == 2
    assert path.read_text() == GOOD
    assert csv_schema(18).names == ["match", "ply", *(f"v{i}" for i in range(18)), "target"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@given(data=st.data())
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, form, data):
    counts = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=4).filter(any))
    codec = BitCodec(np.array(data.draw(st.permutations(range(128))))[: data.draw(st.integers(1, 128))])
    parts = [make_rows(codec, count, seed) for seed, count in enumerate(counts)]
    targets = data.draw(hnp.arrays(np.float32, counts[0], elements=st.floats(-1, 1, width=32)))
    parts[0] = parts[0]._replace(target=targets)
    path = tmp_path_factory.mktemp("round trip") / f"dataset.{form}"
    assert write_dataset(path, iter(parts), codec) == sum(counts)
    assert rows_are_equal(read_dataset(path, codec), concatenate(parts))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_dataset_of_many_rows_is_read_back(tmp_path, form):
    # More than one block of the reader (1 MiB), more than one batch of the writer, more than one row group.
    rows = make_rows(TICTACTOE.observation_codec, 70_000, 0)
    write_dataset(tmp_path / f"dataset.{form}", [rows], TICTACTOE.observation_codec)
    assert rows_are_equal(read_dataset(tmp_path / f"dataset.{form}", TICTACTOE.observation_codec), rows)


def test_how_the_rows_were_parted_changes_no_byte(tmp_path):
    game, codec = TICTACTOE, TICTACTOE.observation_codec
    player = RandomPlayer(game)
    for name, batch_size in (("whole", 1000), ("parted", 7)):
        records = play_matches(game, (player, player), range(100), 0, batch_size=batch_size)
        write_dataset(tmp_path / f"{name}.csv", (rows_of_record(game, record, 0.95) for record in records), codec)
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "parted.csv").read_bytes()


def test_how_the_rows_were_parted_changes_no_byte_of_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr("selfplay.dataset.parquet.GROUP_SIZE", 64)
    codec = TICTACTOE.observation_codec
    rows = make_rows(codec, 500, 0)
    for name, size in (("whole", 500), ("parted", 7), ("of a group", 64), ("beyond it", 200)):
        parts = (rows.select(slice(start, start + size)) for start in range(0, 500, size))
        assert write_dataset(tmp_path / f"{name}.parquet", parts, codec) == 500
    files = {path.read_bytes() for path in tmp_path.glob("*.parquet/part-00000.parquet")}
    assert len(files) == 1
    assert rows_are_equal(read_dataset(tmp_path / "whole.parquet", codec), rows)


def test_a_file_with_the_line_ends_of_windows_is_read(written):
    assert read_dataset(written(GOOD.replace("\n", "\r\n")), CODEC).target.tolist() == [np.float32(0.95), -1]


BROKEN_FILES = {
    "empty file": ("", "holds no rows"),
    "header only": (HEADER, "holds no rows"),
    "header without its newline": (HEADER.rstrip(), "holds no rows"),
    "missing column": (GOOD.replace("v2,", "", 1), "column v2 is missing"),
    "missing target": (GOOD.replace(",target", "", 1), "column target is missing"),
    "foreign column": (GOOD.replace("target", "target,note", 1), "its columns are not match ... target"),
    "another game's columns": (
        ",".join(csv_schema(6).names) + "\n0,0,1,0,0,0,0,0,1\n",
        "its columns are not match ... target",
    ),
    "columns in another order": (GOOD.replace("v0,v1", "v1,v0", 1), "its columns are not match ... target"),
    "no header": (GOOD.removeprefix(HEADER), "column match is missing"),
    "2 in v3": (GOOD.replace("0,0,1,-1", "0,0,2,-1"), "column v3 of row 2 is 2; it must be 0 or 1"),
    "-1 in v3": (GOOD.replace("0,0,1,-1", "0,0,-1,-1"), "v3|-1"),
    "256 in v3": (GOOD.replace("0,0,1,-1", "0,0,256,-1"), "256"),
    "half a stone": (GOOD.replace("0,0,1,-1", "0,0,0.5,-1"), "0.5"),
    "target 1.5": (GOOD.replace("0.95", "1.5"), "column target of row 1 is 1.5; it must be from -1 to 1"),
    "target below -1": (GOOD.replace("-1\n", "-1.001\n"), "column target of row 2 is -1.001"),
    "target nan": (GOOD.replace("0.95", "nan"), "column target of row 1 is nan"),
    "target infinite": (GOOD.replace("0.95", "inf"), "column target of row 1 is inf"),
    "no target": (GOOD.replace("0.95", ""), "target|conversion|invalid value"),
    "cut off in a row": (GOOD[:-6], "is cut off in its last row"),
    "cut off in a target": (GOOD.replace("-1\n", "-0.9"), "is cut off in its last row"),
    "a row cut off in the middle": (GOOD.replace(",0,0,1,-1", ""), "Expected 7 columns, got 3"),
    "a row too long": (GOOD.replace("-1\n", "-1,0\n"), "Expected 7 columns, got 8"),
    "negative match": (GOOD.replace("\n0,1", "\n-3,1"), "column match of row 2 is -3; it must be 0 or more"),
    "negative ply": (GOOD.replace("\n0,1", "\n0,-1"), "column ply of row 2 is -1; it must be 0 or more"),
    "text in a number": (GOOD.replace("0.95", "many"), "many"),
    "text in a match": (GOOD.replace("\n0,1", "\nfirst,1"), "first"),
    "match beyond 64 bits": (GOOD.replace("\n0,1", f"\n{2**63},1"), str(2**63)),
    "not text at all": (bytes(range(256)) * 4, "column match is missing"),
}


@pytest.mark.parametrize("kind", BROKEN_FILES)
def test_a_broken_file_is_refused_with_its_name_and_one_line(written, kind):
    content, message = BROKEN_FILES[kind]
    path = written(content)
    with assert_file_rejected(path, message):
        read_dataset(path, CODEC)


def test_the_unbroken_file_is_read(written):
    rows = read_dataset(written(GOOD), CODEC)
    assert observations_of(rows, CODEC).tolist() == [[1, 0, 0, 0], [1, 0, 0, 1]]


def test_a_file_cut_off_anywhere_is_refused_unless_whole_rows_are_left(written):
    whole_rows = {len(HEADER) + len("0,0,1,0,0,0,0.95\n"), len(GOOD)}
    for length in range(len(GOOD) + 1):
        path = written(GOOD[:length])
        if length in whole_rows:
            read_dataset(path, CODEC)
        else:
            with pytest.raises(InvalidFileError):
                read_dataset(path, CODEC)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidFileError, match=r"nowhere\.csv: cannot be read: No such file"):
        read_dataset(tmp_path / "nowhere.csv", CODEC)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InvalidFileError, match="cannot be read: Is a directory"):
        read_dataset(tmp_path, CODEC)


BROKEN_TABLES = {
    "no rows": (lambda table: table.slice(0, 0), "holds no rows"),
    "missing column": (lambda table: table.drop_columns("observation"), "column observation is missing"),
    "foreign column": (
        lambda table: table.append_column("note", [[""] * len(table)]),
        "its columns are not match, ply, observation, target",
    ),
    "another game's": (
        lambda table: table.set_column(2, "observation", pa.array([b"ab"] * len(table), pa.binary(2))),
        "its columns are not match, ply, observation, target; is it another game's?",
    ),
    "target 1.5": (
        lambda table: table.set_column(3, "target", pa.array([1.5] * len(table), pa.float32())),
        "column target of row 1 is 1.5; it must be from -1 to 1",
    ),
    "null target": (
        lambda table: table.set_column(3, "target", pa.array([0.5, None, 0.5], pa.float32())),
        "part-00000.parquet: .*null",
    ),
    "negative ply": (
        lambda table: table.set_column(1, "ply", pa.array([-1] * len(table), pa.int32())),
        "column ply of row 1 is -1",
    ),
}


@pytest.fixture
def parquet(tmp_path):
    """A dataset of three rows in one part; its folder."""
    path = tmp_path / "dataset.parquet"
    write_dataset(path, [make_rows(CODEC, 3, 0)])
    return path


@pytest.mark.parametrize("kind", BROKEN_TABLES)
def test_a_broken_table_is_refused_with_its_name_and_one_line(parquet, kind):
    change, message = BROKEN_TABLES[kind]
    part = parquet / "part-00000.parquet"
    pq.write_table(change(pq.read_table(part)), part)
    with pytest.raises(InvalidFileError, match=message) as caught:
        read_dataset(parquet, CODEC)
    assert str(caught.value).startswith(str(parquet))


@pytest.mark.parametrize("content", [b"", b"PAR1", GOOD.encode()])
def test_what_is_no_parquet_is_refused_in_one_line(parquet, content):
    (parquet / "part-00000.parquet").write_bytes(content)
    with pytest.raises(InvalidFileError, match="generate it again") as caught:
        read_dataset(parquet, CODEC)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_cut_off_anywhere_is_refused(parquet):
    part = parquet / "part-00000.parquet"
    whole = part.read_bytes()
    for length in range(0, len(whole), 31):
        part.write_bytes(whole[:length])
        with pytest.raises(InvalidFileError):
            read_dataset(parquet, CODEC)


def test_parts_come_by_their_numbers_also_where_these_have_more_digits_than_others(tmp_path, monkeypatch):
    """As from the hundred thousandth part on, in names of five digits."""
    monkeypatch.setattr("selfplay.dataset.parquet.part_name", "part-{}.parquet".format)
    for number in range(12):
        (tmp_path / f"part-{number}.parquet").touch()
    assert [part.stem for part in parquet_parts(tmp_path)] == [f"part-{number}" for number in range(12)]


def test_a_dataset_without_one_of_its_parts_is_refused(tmp_path):
    path = tmp_path / "dataset.parquet"
    with dataset_written(path, CODEC.size, {}) as writer:
        for shard in range(3):
            writer.add(shard, encode_rows([make_rows(CODEC, 5, shard)], "parquet", CODEC)[0])
    assert len(read_dataset(path, CODEC).match) == 15
    (path / "part-00001.parquet").unlink()
    with pytest.raises(InvalidFileError, match=r"part-00001\.parquet: is missing; generate it again with force=true"):
        read_dataset(path, CODEC)
    with pytest.raises(InvalidFileError, match=r"is not a folder with part-00000\.parquet in it"):
        read_dataset(tmp_path / "nowhere.parquet", CODEC)


def interrupted(path, record, *contents):
    """Begin to write a dataset, add these shards and stop; returns what was there before."""
    with suppress(KeyboardInterrupt), dataset_written(path, CODEC.size, record) as writer:
        there = dict(writer.written)
        for shard, content in enumerate(contents):
            writer.add(shard, content)
        raise KeyboardInterrupt
    return there


def test_shards_that_are_whole_are_taken_over_by_the_next_run_of_the_same_settings(tmp_path):
    path, record = tmp_path / "dataset.parquet", {"seed": 0}
    contents = [encode_rows([make_rows(CODEC, 5 + shard, shard)], "parquet", CODEC)[0] for shard in range(2)]
    assert interrupted(path, record, contents[0]) == {}
    assert not path.exists()
    assert interrupted(path, record) == {0: 5}
    (tmp_path / ".dataset.parquet.partial" / "part-00000.parquet").write_bytes(contents[0][:-9])
    with dataset_written(path, CODEC.size, record) as writer:
        assert writer.written == {}, "a part that was cut off counts as whole"
        writer.add(0, contents[0])
        writer.add(1, contents[1])
    assert [file.name for file in sorted(path.iterdir())] == ["part-00000.parquet", "part-00001.parquet"]
    assert len(read_dataset(path, CODEC).match) == 11


def test_shards_of_other_settings_are_not_taken_over(tmp_path):
    path = tmp_path / "dataset.parquet"
    content, _ = encode_rows([make_rows(CODEC, 5, 0)], "parquet", CODEC)
    interrupted(path, {"seed": 0}, content)
    assert interrupted(path, {"seed": 1}) == {}
