"""Datasets in either format have the documented columns and are read back as they were written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from selfplay.dataset.rows import (
    COLUMNS,
    OBSERVATION,
    POLICY,
    POSITION,
    Rows,
    concatenate,
    csv_schema,
    parquet_schema,
)
from selfplay.errors import InvalidFileError
from selfplay.games import make_game
from selfplay.games.observation_codec import BitCodec, ShownCodec, stones_of
from tests.support.dataset_tools import drawn_rows, random_rows, read_dataset, rows_are_equal, write_dataset
from tests.support.runs import PROJECT
from tests.support.waits import Waits

TICTACTOE = make_game("tictactoe")
CODEC = BitCodec(np.arange(2), 1)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@settings(max_examples=10)
@given(data=st.data())
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, form, data):
    counts = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=4).filter(any))
    codec = BitCodec(np.array(data.draw(st.permutations(range(128))))[: data.draw(st.integers(1, 128))], 2)
    num_actions = data.draw(st.integers(0, 3))
    parts = [drawn_rows(codec, count, seed, num_actions) for seed, count in enumerate(counts)]
    targets = data.draw(hnp.arrays(np.float32, counts[0], elements=st.floats(-1, 1, width=32)))
    parts[0] = parts[0]._replace(target=targets)
    path = tmp_path_factory.mktemp("round trip") / f"dataset.{form}"
    assert write_dataset(path, iter(parts), codec) == sum(counts)
    assert rows_are_equal(read_dataset(path, codec), concatenate(parts))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_dataset_of_many_rows_is_read_back(tmp_path, form):
    # More than one block of the reader (1 MiB), more than one batch of the writer, more than one row group.
    rows = drawn_rows(TICTACTOE.observation_codec, 70_000, 0)
    write_dataset(tmp_path / f"dataset.{form}", [rows], TICTACTOE.observation_codec)
    assert rows_are_equal(read_dataset(tmp_path / f"dataset.{form}", TICTACTOE.observation_codec), rows)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("num_actions", [0, 5])
def test_positions_are_in_the_file_where_observations_hide_a_part_of_them(tmp_path, form, num_actions):
    game, path = Waits(), tmp_path / f"dataset.{form}"
    rows = random_rows(game, range(50))
    if num_actions:
        rows = rows._replace(policy=np.full((len(rows.match), 5), 0.2, dtype=np.float32))
    assert len(np.unique(rows.position, axis=0)) > len(np.unique(game.observation_codec.pack(rows.position), axis=0))
    write_dataset(path, [rows], game.observation_codec)
    assert rows_are_equal(read_dataset(path, game.observation_codec), rows)
    names = csv_schema(game.observation_codec, num_actions).names
    assert names[:11] + names[13:14] == [
        "match",
        "ply",
        *(f"v{i}" for i in range(8)),
        "w0",
        *["p0"] * (num_actions > 0),
    ]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["tictactoe", "go_3x3", "gomoku"])
def test_stones_of_both_players_on_one_square_are_refused(tmp_path, form, name):
    game, path = make_game(name), tmp_path / f"dataset.{form}"
    rows = random_rows(game, range(2))
    (own, opp), position = stones_of(game.rules.position), rows.position.copy()
    position[3, own.offset // 64] = position[3, opp.offset // 64] = 3
    write_dataset(path, [rows._replace(position=position)], game.observation_codec)
    with pytest.raises(
        InvalidFileError, match=r"row 4 has stones of both players on one square|belongs to no position"
    ):
        read_dataset(path, game.observation_codec)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_observation_of_another_position_is_refused(tmp_path, form):
    game = Waits()
    path, codec = tmp_path / f"dataset.{form}", game.observation_codec
    rows = random_rows(game, range(3))

    class Shifted(ShownCodec):
        def pack(self, positions):
            return codec.pack(np.roll(positions, 1, axis=0))

    write_dataset(path, [rows], Shifted(game.rules, game.observation_shape, game.kernels.observe))
    with pytest.raises(InvalidFileError, match="the observation of row 1 is not that of its position"):
        read_dataset(path, codec)


def test_the_docs_list_exactly_these_columns():
    docs = (PROJECT / "docs" / "files.md").read_text(encoding="utf-8")
    names = {OBSERVATION: "`v0`, `v1`, ...", POSITION: "`w0`, `w1`, ...", POLICY: "`p0`, `p1`, ..."}
    starts = [f"| {names.get(column, f'`{column.name}`')} | {column.dtype}, {column.allowed} | " for column in COLUMNS]
    table = docs.partition("| column | type and values | meaning |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert all(line.startswith(start) for line, start in zip(table.splitlines(), starts, strict=True))


def test_rows_have_a_field_for_each_column():
    assert {column.name for column in COLUMNS if column is not OBSERVATION} == set(Rows._fields)


def test_both_formats_have_the_columns_in_the_same_order():
    assert csv_schema(CODEC).names == ["match", "ply", "v0", "v1", "target"]
    assert parquet_schema(CODEC).names == ["match", "ply", "observation", "target"]


def test_policies_follow_the_other_columns():
    assert csv_schema(CODEC, 3).names == ["match", "ply", "v0", "v1", "target", "p0", "p1", "p2"]
    assert parquet_schema(CODEC, 3).names == ["match", "ply", "observation", "target", "policy"]
