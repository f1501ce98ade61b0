"""Training on rows streamed from disk: every training row once per pass, no held-out row, limited memory."""

import os
import subprocess
import sys
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from selfplay.architectures import build_network
from selfplay.dataset.parquet import ParquetRowGroups, encode_parquet, parquet_parts
from selfplay.dataset.reader import read_dataset
from selfplay.dataset.rows import Rows, concatenate
from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.games import make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.training import OptimizerSettings, TrainingSettings
from selfplay.stages.train import train_level
from selfplay.training.fitting import fit, seeded
from selfplay.training.held_out import is_held_out
from selfplay.training.loss import validation_losses
from selfplay.training.optimizer import make_optimizer
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.shuffle_buffer import replaced_rows
from selfplay.training.streaming import StreamedRows
from tests.support.dataset_tools import observations_of, random_rows, rows_are_equal, words_of
from tests.support.runs import PROJECT, tiny_settings
from tests.support.training import fit_to_rows

GAME = make_game("tictactoe")
SHAPE = GAME.observation_shape
MATCHES = 400
KEY = 7
CODEC = GAME.observation_codec
ROWS = random_rows(GAME, range(MATCHES))


def in_parts(folder, rows, part_rows=700, group_rows=100):
    """A dataset as a folder of parts with `part_rows` rows each and small row groups."""
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, len(rows.match), part_rows)):
        path = folder / f"part-{number:05d}.parquet"
        path.write_bytes(encode_parquet([rows.select(slice(start, start + part_rows))], CODEC)[0])
        pq.write_table(pq.read_table(path), path, row_group_size=group_rows, use_dictionary=False)
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return in_parts(tmp_path_factory.mktemp("run") / "dataset.parquet", ROWS)


def make_settings(**changes):
    rate = changes.pop("learning_rate", 0.003)
    optimizer = OptimizerSettings(name=changes.pop("optimizer", "adam"), learning_rate=rate)
    values = {
        "epochs": 2,
        "steps_per_epoch": None,
        "batch_size": 64,
        "merge": False,
        "symmetries": False,
        "optimizer": optimizer,
    }
    return TrainingSettings(**{**values, **changes})


def streamed(*paths, settings=None, buffer_rows=300, key=KEY, processes=SINGLE_PROCESS, matches=MATCHES):
    groups = [ParquetRowGroups(path, CODEC) for path in paths]
    return StreamedRows(groups, matches, settings or make_settings(), GAME, key, buffer_rows, processes)


def make_network(architecture="mlp"):
    options = {"hidden_sizes": [16]} if architecture == "mlp" else {}
    with seeded(1):
        return build_network({"name": architecture, **options}, SHAPE, GAME.num_distinct_actions)


def passes(rows, count=1, settings=None):
    """The batches of each of the first passes."""
    settings = settings or make_settings()
    batches = rows.batches(make_optimizer(make_network(), rows.num_examples, SHAPE, settings, 1))
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


def test_a_row_group_is_located_in_its_part(dataset):
    groups = ParquetRowGroups(dataset, CODEC)
    path, first = groups.place(9)
    assert (path.name, first) == ("part-00001.parquet", 200)
    assert (groups.read(9).match == ROWS.match[900:1000]).all()
    numbers = groups.read(9, with_observations=False)
    assert (numbers.target == ROWS.target[900:1000]).all()
    assert not numbers.own.any()


def test_broken_parts_are_named(dataset, tmp_path):
    folder = tmp_path / "dataset.parquet"
    folder.mkdir()
    with pytest.raises(InvalidFileError, match=r"dataset\.parquet: is not a folder with part-00000\.parquet in it"):
        read_dataset(folder, CODEC)
    in_parts(tmp_path / "cut.parquet", ROWS)
    part = tmp_path / "cut.parquet" / "part-00002.parquet"
    part.write_bytes(part.read_bytes()[:-50])
    with pytest.raises(InvalidFileError, match=r"part-00002\.parquet"):
        streamed(part.parent)
    table = pq.read_table(dataset / "part-00001.parquet")
    for column, value, message in (("target", 2.0, r"target of row 251 is 2\.0"), ("ply", -1, "ply of row 251 is -1")):
        values = table.column(column).to_numpy().copy()
        values[250] = value
        index = table.schema.get_field_index(column)
        changed = table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))
        folder = in_parts(tmp_path / column / "dataset.parquet", ROWS)
        pq.write_table(changed, folder / "part-00001.parquet", row_group_size=100)
        with pytest.raises(InvalidFileError, match=rf"part-00001\.parquet: column {message}"):
            streamed(folder)
    pq.write_table(table.drop_columns(["observation"]), folder / "part-00001.parquet")
    with pytest.raises(InvalidFileError, match=r"part-00001\.parquet: column observation is missing"):
        streamed(folder)


# ---------------------------------------------------------------------- passes


@pytest.mark.parametrize("buffer_rows", [1, 50, 300, 10**6])
def test_each_pass_shows_every_training_row_once_in_an_order_of_its_own(dataset, buffer_rows):
    rows = streamed(dataset, buffer_rows=buffer_rows)
    expected = training_rows()
    assert (rows.num_rows, rows.num_examples) == (len(ROWS.match), len(expected))
    first, second = (as_rows(batches) for batches in passes(rows, 2))
    assert sorted(first) == sorted(second) == sorted(expected)
    assert first != second
    assert first == as_rows(passes(streamed(dataset, buffer_rows=buffer_rows))[0])
    assert first != as_rows(passes(streamed(dataset, buffer_rows=buffer_rows, key=8))[0])


def test_batches_are_full_but_for_the_last_of_a_pass(dataset):
    (batches,) = passes(streamed(dataset))
    sizes = [batch.size for batch in batches]
    assert sizes == [64] * (len(sizes) - 1) + [len(training_rows()) % 64]
    assert all(len(batch.share.targets) == batch.size and (batch.share.weights == 1).all() for batch in batches)


def test_a_large_buffer_mixes_rows_from_all_over_the_dataset(dataset):
    """The rows of the first batch come from everywhere in the dataset that the buffer reaches."""
    numbers = np.arange(len(ROWS.match), dtype=np.float32) / len(ROWS.match)
    with_numbers = in_parts(dataset.parent / "numbered.parquet", ROWS._replace(target=numbers))
    spread = [
        float(np.std([target for _, target in as_rows(passes(streamed(with_numbers, buffer_rows=size))[0][:1])]))
        for size in (1, 10**6)
    ]
    # Uniform numbers from 0 to 1 have a standard deviation of 0.29; those of a row group of 100 rows one of 0.01.
    assert spread[0] < 0.03 < 0.22 < spread[1] < 0.36


def test_replayed_datasets_are_one_stream_and_each_is_split_by_its_own_matches(dataset, tmp_path):
    other = in_parts(tmp_path / "dataset.parquet", random_rows(GAME, range(5000, 5000 + MATCHES)))
    rows = read_dataset(other, CODEC)
    own = rows._replace(match=rows.match - 5000)
    again = in_parts(tmp_path / "again.parquet", own)
    together = concatenate([ROWS, own._replace(match=own.match + MATCHES)])
    shown = as_rows(passes(streamed(dataset, again))[0])
    assert sorted(shown) == sorted(training_rows(together))


def test_each_pass_draws_one_image_of_a_row(dataset):
    settings = make_settings(symmetries=True)
    rows = streamed(dataset, settings=settings)
    plain, first, second = (as_rows(batches) for batches in [*passes(streamed(dataset)), *passes(rows, 2)])

    def canonical(row):
        observation = np.frombuffer(row[0], np.uint8)
        return min(observation[image].tobytes() for image in GAME.symmetries.observations), row[1]

    # The order is the same, because it is drawn for another purpose.
    assert [canonical(row) for row in first] == [canonical(row) for row in plain]
    assert first != plain
    assert sorted(first) != sorted(second)
    boards = [(a[0], b[0]) for a, b in zip(first, plain, strict=True)]
    # One stone in a corner has four images, each as often as the others.
    corner = [board for board, origin in boards if origin == bytes([1] + [0] * 17)]
    counts = [corner.count(bytes([int(i == square) for i in range(18)])) for square in (0, 2, 6, 8)]
    assert sum(counts) == len(corner)
    assert min(counts) > 0


@given(st.lists(st.integers(0, 4), max_size=12))
def test_rows_are_replaced_one_after_the_other(places):
    held, coming = torch.arange(5), torch.arange(100, 100 + len(places))
    expected_held, expected_going = held.tolist(), []
    for place, row in zip(places, coming.tolist(), strict=True):
        expected_going.append(expected_held[place])
        expected_held[place] = row
    columns = [held, held.double()]
    going = replaced_rows(columns, [coming, coming.double()], torch.tensor(places, dtype=torch.int64))
    assert columns[0].tolist() == columns[1].tolist() == expected_held
    assert going[0].tolist() == going[1].tolist() == expected_going


# ---------------------------------------------------------------------- training


def fitted(rows, settings, architecture="mlp"):
    network = make_network(architecture)
    return network, fit(network, rows, settings, SHAPE, KEY)


@pytest.mark.parametrize(("architecture", "optimizer", "rate"), [("mlp", "adam", 0.01), ("ntuple", "sgd", 0.02)])
def test_a_streamed_fit_is_as_good_as_one_in_memory(dataset, architecture, optimizer, rate):
    settings = make_settings(epochs=8, optimizer=optimizer, learning_rate=rate)
    reference = fit_to_rows(make_network(architecture), ROWS, settings, GAME, KEY)
    _, losses = fitted(streamed(dataset, settings=settings, buffer_rows=10**6), settings, architecture)
    # Both start at the same weights and pass over the same rows; only their order differs.
    best, best_of_reference = (min(loss.validation_loss for loss in run) for run in (losses, reference))
    assert best == pytest.approx(best_of_reference, rel=0.02)
    assert best_of_reference < 0.98 * ROWS.target[is_held_out(ROWS.match, 0.2, KEY)].var()


def test_the_validation_loss_is_that_of_all_held_out_rows(dataset):
    network, (loss, _) = fitted(streamed(dataset), make_settings())
    held = ROWS.select(is_held_out(ROWS.match, 0.2, KEY))
    with torch.inference_mode():
        values = network(torch.from_numpy(observations_of(held, CODEC)).float().reshape(-1, *SHAPE)).value.numpy()
    last = streamed(dataset)
    expected = pytest.approx(np.square(values - held.target).mean())
    assert validation_losses(network, last.held_out(), SHAPE).value == expected
    parts = [
        len(part.targets) for rank in range(3) for part in streamed(dataset, processes=ProcessGroup(rank, 3)).held_out()
    ]
    assert sum(parts) == len(held.target)
    assert loss.validation_loss > 0


@pytest.mark.parametrize(("architecture", "optimizer"), [("mlp", "adam"), ("ntuple", "sgd")])
def test_the_same_key_gives_the_same_weights(dataset, architecture, optimizer):
    settings = make_settings(optimizer=optimizer, symmetries=True)
    (one, losses), (other, others) = (
        fitted(streamed(dataset, settings=settings), settings, architecture) for _ in "ab"
    )
    assert losses == others
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_too_few_matches_are_refused(tmp_path):
    lone = in_parts(tmp_path / "dataset.parquet", ROWS.select(ROWS.match == 0))
    with pytest.raises(StageError, match=r"^1 matches are too few to hold out some of them; set more matches"):
        streamed(lone)


# ---------------------------------------------------------------------- levels


STREAMED = ["dataset.format=parquet", "training.merge=false", "dataset.buffer_rows=200", "dataset.replay=1"]


@pytest.fixture
def run_in_parts(tmp_path):
    """A run whose level 0 has written its matches to a folder of parts."""
    rows = random_rows(GAME, range(300))
    folder = in_parts(tmp_path / "level_00" / "dataset.parquet", rows)
    Manifest(folder.parent).record("generation", {}, {"matches": 300, "rows": len(rows.match)}, [folder.name])
    return tmp_path


def test_a_level_is_trained_on_a_folder_of_parts(run_in_parts):
    settings = tiny_settings(run_in_parts, *STREAMED)
    assert train_level(settings, 1)
    assert not train_level(settings, 1)
    section = Manifest(run_in_parts / "level_01").sections["training"]
    assert section["counts"]["rows"] == len(random_rows(GAME, range(300)).match)
    assert section["settings"]["dataset"] == {"buffer_rows": 200}
    with pytest.raises(StageError, match=r"level_01: dataset.buffer_rows was 200, is null"):
        train_level(tiny_settings(run_in_parts, *STREAMED, "dataset.buffer_rows=null"), 1)
    agent = RunFolder(run_in_parts).agent(1).read_bytes()
    RunFolder(run_in_parts).agent(1).unlink()
    assert train_level(settings, 1)
    assert RunFolder(run_in_parts).agent(1).read_bytes() == agent


@pytest.mark.parametrize("overrides", [STREAMED, [*STREAMED, "dataset.buffer_rows=null"]])
def test_a_changed_or_missing_part_is_refused(run_in_parts, overrides):
    parts = parquet_parts(run_in_parts / "level_00" / "dataset.parquet")
    parts[-1].unlink()
    with pytest.raises(StageError, match=r"dataset\.parquet differs from its manifest"):
        train_level(tiny_settings(run_in_parts, *overrides), 1)
    assert not (run_in_parts / "level_01").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["dataset.buffer_rows=0"], "dataset.buffer_rows=0: must be 1 to 2147483648, or null"),
        (["dataset.buffer_rows=9", "training.merge=false"], "buffer_rows=9: csv .*; set dataset.format=parquet"),
        (
            ["dataset.buffer_rows=9", "dataset.format=parquet"],
            "buffer_rows=9: rows can only be merged in memory; set training.merge=false",
        ),
    ],
)
def test_settings_that_cannot_be_streamed_are_refused_in_one_line(tmp_path, overrides, message):
    with pytest.raises(SettingError, match=message) as caught:
        tiny_settings(tmp_path, *overrides)
    assert "\n" not in str(caught.value)


LIMITED = """
import resource, sys
from pathlib import Path
import pyarrow, torch
from selfplay.errors import StageError
from selfplay.stages.train import train_level
from tests.support.runs import tiny_settings

pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
limit = (int(status["VmData"].split()[0]) << 10) + (110 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    train_level(tiny_settings(Path(sys.argv[1]), *sys.argv[2:]), 1)
except StageError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not limit memory in this way")
def test_a_dataset_larger_than_memory_is_trained_on_as_a_stream(tmp_path):
    """A million boards of Othello take 134 MB in memory; the limit is 110 MB."""
    folder = tmp_path / "level_00" / "dataset.parquet"
    folder.mkdir(parents=True)
    generator, codec = np.random.default_rng(0), make_game("othello").observation_codec
    for number in range(4):
        match = np.arange(number * 2**18, (number + 1) * 2**18)
        observations = np.zeros((2**18, 128), np.uint8)
        observations[:, :8] = generator.integers(0, 2, (2**18, 8))
        target = observations[:, 0].astype(np.float32)
        part = folder / f"part-{number:05d}.parquet"
        own, opp = words_of(observations, codec)
        part.write_bytes(encode_parquet([Rows(match, np.zeros(2**18, np.int32), own, opp, target)], codec)[0])
    Manifest(folder.parent).record("generation", {}, {"rows": 2**20}, [folder.name])
    overrides = ["game=othello", "architecture.hidden_sizes=[4]", "dataset.format=parquet", "training.merge=false"]
    overrides += ["training.symmetries=false", "training.epochs=1"]
    said = []
    for buffer_rows in ("null", "20000"):
        command = [sys.executable, "-c", LIMITED, tmp_path, *overrides, f"dataset.buffer_rows={buffer_rows}"]
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
        result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT, env=environment)
        said.append(result.stdout)
    assert "its rows do not fit into memory; dataset.buffer_rows=1000000 reads them in parts" in said[0]
    assert said[1] == ""
    assert RunFolder(tmp_path).trained_levels() == [1]
