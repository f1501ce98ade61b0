"""Rows streamed from disk: the parts of a dataset, and passes that show every training row once and no held-out one."""

from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfplay.dataset.parquet import parquet_parts
from selfplay.errors import InvalidFileError
from selfplay.training.batch_training import BatchTraining
from selfplay.training.held_out import is_held_out
from selfplay.training.learning_rate import LearningRate
from selfplay.training.parameters import LossWeights
from selfplay.training.process_group import SINGLE_PROCESS
from selfplay.training.trainer import TrainingJob
from tests.support.dataset_tools import observations_of, read_dataset, rows_are_equal
from tests.support.streaming import (
    CODEC,
    KEY,
    ROWS,
    SHAPE,
    in_parts,
    make_network,
    make_settings,
    split,
    streamed,
)


def passes(rows, count=1, settings=None):
    """The batches of each of the first passes."""
    settings = settings or make_settings()
    rates = LearningRate(settings, rows.num_examples, 1)
    job = TrainingJob(make_network(), SHAPE, settings, rates, SINGLE_PROCESS, LossWeights())
    batches = rows.batches(BatchTraining(job))
    steps = -(-rows.num_examples // settings.batch_size)
    return [list(islice(batches, steps)) for _ in range(count)]


def as_rows(batches):
    """(observation, target) of all rows of these batches, in order."""
    observations = np.concatenate([batch.share.inputs.reshape(-1, 18).numpy() for batch in batches])
    targets = np.concatenate([batch.share.targets.numpy() for batch in batches])
    return [(row.tobytes(), target) for row, target in zip(observations, targets.tolist(), strict=True)]


def training_rows(rows=ROWS, key=KEY):
    kept = rows.select(~is_held_out(rows.match, 0.2, key))
    return [
        (row.tobytes(), target) for row, target in zip(observations_of(kept, CODEC), kept.target.tolist(), strict=True)
    ]


# ---------------------------------------------------------------------- the parts of a dataset


def test_the_parts_are_read_as_one_dataset(dataset):
    assert [path.name for path in parquet_parts(dataset)] == [f"part-{number:05d}.parquet" for number in range(5)]
    rows = read_dataset(dataset, CODEC)
    assert rows_are_equal(rows, ROWS)


def test_broken_parts_are_named(dataset, tmp_path):
    folder = tmp_path / "dataset.parquet"
    folder.mkdir()
    with pytest.raises(
        InvalidFileError, match=r"dataset\.parquet: is neither .* nor a folder with part-00000\.parquet in it"
    ):
        read_dataset(folder, CODEC)
    in_parts(tmp_path / "cut.parquet", ROWS)
    part = tmp_path / "cut.parquet" / "part-00002.parquet"
    part.write_bytes(part.read_bytes()[:-50])
    with pytest.raises(InvalidFileError, match=r"part-00002\.parquet"):
        split(part.parent)
    table = pq.read_table(dataset / "part-00001.parquet")
    for column, value, message in (("target", 2.0, r"target of row 251 is 2\.0"), ("ply", -1, "ply of row 251 is -1")):
        values = table.column(column).to_numpy().copy()
        values[250] = value
        index = table.schema.get_field_index(column)
        changed = table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))
        folder = in_parts(tmp_path / column / "dataset.parquet", ROWS)
        pq.write_table(changed, folder / "part-00001.parquet", row_group_size=100)
        with pytest.raises(InvalidFileError, match=rf"part-00001\.parquet: column {message}"):
            split(folder)
    pq.write_table(table.drop_columns(["observation"]), folder / "part-00001.parquet")
    with pytest.raises(InvalidFileError, match=r"part-00001\.parquet: column 3 is .*, not 'observation"):
        split(folder)


# ---------------------------------------------------------------------- passes


@pytest.mark.parametrize("buffer_rows", [1, 300])
def test_each_pass_shows_every_training_row_once_in_an_order_of_its_own(dataset, buffer_rows):
    rows = split(dataset, buffer_rows=buffer_rows)
    expected = training_rows()
    assert (streamed(dataset).num_rows, rows.num_examples) == (len(ROWS.match), len(expected))
    first, second = (as_rows(batches) for batches in passes(rows, 2))
    assert sorted(first) == sorted(second) == sorted(expected)
    assert first != second
    assert first == as_rows(passes(split(dataset, buffer_rows=buffer_rows))[0])
    assert first != as_rows(passes(split(dataset, buffer_rows=buffer_rows, key=8))[0])


def test_batches_are_full_but_for_the_last_of_a_pass(dataset):
    (batches,) = passes(split(dataset))
    sizes = [batch.size for batch in batches]
    assert sizes == [64] * (len(sizes) - 1) + [len(training_rows()) % 64]
    assert all(len(batch.share.targets) == batch.size and (batch.share.weights == 1).all() for batch in batches)
