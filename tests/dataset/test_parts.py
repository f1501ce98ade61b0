"""The parts of a dataset in Parquet are read as one, and broken ones are named."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfplay.dataset.parquet import parquet_parts
from selfplay.errors import InvalidFileError
from tests.support.dataset_tools import read_dataset, rows_are_equal
from tests.support.datasets_in_parts import CODEC, all_rows, in_parts


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return in_parts(tmp_path_factory.mktemp("run") / "dataset.parquet", all_rows())


def test_the_parts_are_read_as_one_dataset(dataset):
    assert [path.name for path in parquet_parts(dataset)] == [f"part-{number:05d}.parquet" for number in range(5)]
    assert rows_are_equal(read_dataset(dataset, CODEC), all_rows())


def test_broken_parts_are_named(dataset, tmp_path):
    folder = tmp_path / "dataset.parquet"
    folder.mkdir()
    with pytest.raises(
        InvalidFileError, match=r"dataset\.parquet: is neither .* nor a folder with part-00000\.parquet in it"
    ):
        read_dataset(folder, CODEC)
    in_parts(tmp_path / "cut.parquet", all_rows())
    part = tmp_path / "cut.parquet" / "part-00002.parquet"
    part.write_bytes(part.read_bytes()[:-50])
    with pytest.raises(InvalidFileError, match=r"part-00002\.parquet"):
        read_dataset(part.parent, CODEC)
    table = pq.read_table(dataset / "part-00001.parquet")
    for column, value, message in (("target", 2.0, r"target of row 251 is 2\.0"), ("ply", -1, "ply of row 251 is -1")):
        values = table.column(column).to_numpy().copy()
        values[250] = value
        index = table.schema.get_field_index(column)
        changed = table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))
        folder = in_parts(tmp_path / column / "dataset.parquet", all_rows())
        pq.write_table(changed, folder / "part-00001.parquet", row_group_size=100)
        with pytest.raises(InvalidFileError, match=rf"part-00001\.parquet: column {message}"):
            read_dataset(folder, CODEC)
    pq.write_table(table.drop_columns(["observation"]), folder / "part-00001.parquet")
    with pytest.raises(InvalidFileError, match=r"part-00001\.parquet: column 3 is .*, not 'observation"):
        read_dataset(folder, CODEC)
