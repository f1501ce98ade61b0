"""Training on streamed rows: the fits, the levels of a run, and a dataset larger than memory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from selfplay import compose_settings
from selfplay.dataset.formats import PARQUET
from selfplay.dataset.parquet import parquet_parts
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.train import train_level
from selfplay.training.fitting import fit
from selfplay.training.held_out import is_held_out
from tests.support.dataset_tools import positions_of, random_rows
from tests.support.runs import PROJECT, tiny_settings
from tests.support.streaming import GAME, KEY, ROWS, SEED, in_parts, make_network, make_settings, streamed
from tests.support.training import fit_to_rows


def fitted(rows, settings, architecture="mlp"):
    network = make_network(architecture)
    return network, fit(network, rows, settings, seed=SEED)


@pytest.mark.parametrize("architecture", ["mlp", "ntuple"])
def test_a_streamed_fit_is_as_good_as_one_in_memory(dataset, architecture):
    settings = make_settings(epochs=8, learning_rate=0.01)
    reference = fit_to_rows(make_network(architecture), ROWS, settings, GAME, SEED)
    _, losses = fitted(streamed(dataset, buffer_rows=10**6), settings, architecture)
    # Both start at the same weights and pass over the same rows; only their order differs.
    best, best_of_reference = (min(loss.validation_loss for loss in run) for run in (losses, reference))
    assert best == pytest.approx(best_of_reference, rel=0.02)
    assert best_of_reference < 0.98 * ROWS.target[is_held_out(ROWS.match, 0.2, KEY)].var()


def test_the_same_seed_gives_the_same_weights(dataset):
    settings = make_settings(symmetries=True)
    (one, losses), (other, others) = (fitted(streamed(dataset), settings, "ntuple") for _ in "ab")
    assert losses == others
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


# ---------------------------------------------------------------------- levels


STREAMED = ["dataset.format=parquet", "learner.merge=false", "dataset.buffer_rows=200", "learner.replay=1"]


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
    assert section["settings"]["dataset.buffer_rows"] == 200
    with pytest.raises(StageError, match=r"level_01: dataset.buffer_rows was 200, is null"):
        train_level(tiny_settings(run_in_parts, *STREAMED, "dataset.buffer_rows=null"), 1)
    agent = RunFolder(run_in_parts).agent(1).read_bytes()
    RunFolder(run_in_parts).agent(1).unlink()
    assert train_level(settings, 1)
    assert RunFolder(run_in_parts).agent(1).read_bytes() == agent


def test_a_changed_or_missing_part_is_refused(run_in_parts):
    parts = parquet_parts(run_in_parts / "level_00" / "dataset.parquet")
    parts[-1].unlink()
    with pytest.raises(StageError, match=r"dataset\.parquet differs from its manifest"):
        train_level(tiny_settings(run_in_parts, *STREAMED), 1)
    assert not (run_in_parts / "level_01").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["dataset.buffer_rows=0"], "dataset.buffer_rows=0: must be from 1 to 2,147,483,648"),
        (
            ["dataset.buffer_rows=9", "learner.merge=false"],
            "dataset.format=csv: cannot be combined with dataset.buffer_rows=9, which reads rows in parts; "
            "set dataset.format=parquet",
        ),
        (
            ["dataset.buffer_rows=9", "dataset.format=parquet"],
            "learner.merge=true: cannot be combined with dataset.buffer_rows=9, which reads rows in parts; "
            "set learner.merge=false",
        ),
    ],
)
def test_settings_that_cannot_be_streamed_are_refused(tmp_path, overrides, message):
    with pytest.raises(SettingError, match=message):
        tiny_settings(tmp_path, *overrides)


LIMITED = """
import resource, sys
from pathlib import Path
import pyarrow, torch
from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.stages.train import train_level
from tests.support.runs import tiny_settings

# The rules are compiled before.
make_game("othello").observation_codec
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
limit = (int(status["VmData"].split()[0]) << 10) + (120 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    train_level(tiny_settings(Path(sys.argv[1]), *sys.argv[2:]), 1)
except StageError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not limit memory in this way")
def test_a_dataset_larger_than_memory_is_trained_on_as_a_stream(tmp_path):
    """A million boards of Othello take 134 MB in memory; the limit is 120 MB."""
    folder = tmp_path / "level_00" / "dataset.parquet"
    folder.mkdir(parents=True)
    generator, codec = np.random.default_rng(0), make_game("othello").observation_codec
    for number in range(4):
        match = np.arange(number * 2**18, (number + 1) * 2**18)
        observations = np.zeros((2**18, 128), np.uint8)
        observations[:, :8] = generator.integers(0, 2, (2**18, 8))
        target = observations[:, 0].astype(np.float32)
        part = folder / f"part-{number:05d}.parquet"
        rows = Rows(match, np.zeros(2**18, np.int32), positions_of(observations, codec), target)
        part.write_bytes(PARQUET.encode([rows], codec)[0])
    Manifest(folder.parent).record("generation", {}, {"rows": 2**20}, [folder.name])
    overrides = [
        "game=othello",
        "architecture.hidden_sizes=[4]",
        "numerics=native",
        "dataset.format=parquet",
        "learner.merge=false",
    ]
    overrides += ["learner.symmetries=false", "learner.epochs=1"]
    said = []
    for buffer_rows in ("null", "20000"):
        command = [sys.executable, "-c", LIMITED, tmp_path, *overrides, f"dataset.buffer_rows={buffer_rows}"]
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
        result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT, env=environment)
        said.append(result.stdout)
    assert "its rows do not fit into memory; dataset.buffer_rows=1000000 reads them in parts" in said[0]
    assert said[1] == ""
    assert RunFolder(tmp_path).trained_levels() == [1]


@pytest.mark.parametrize(
    ("overrides", "advice"),
    [
        ([], "with another run_dir, dataset.buffer_rows=1000000, learner.merge=false and dataset.format=parquet"),
        (["dataset.format=parquet"], "dataset.buffer_rows=1000000 and learner.merge=false read them in parts"),
        (["recipe=alphazero"], "set fewer matches"),
    ],
)
def test_the_advice_for_rows_that_do_not_fit_into_memory_can_be_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, overrides: list[str], advice: str
) -> None:
    def out_of_memory(*_):
        raise MemoryError

    monkeypatch.setattr("selfplay.stages.training_plan.RowsInMemory", out_of_memory)
    monkeypatch.setattr("selfplay.stages.training_plan.TrainingPlan.record", lambda *_: {})
    with pytest.raises(StageError, match=f"its rows do not fit into memory; {advice}"):
        train_level(compose_settings([*overrides, f"run_dir={tmp_path}", f"dataset_file={tmp_path}"]), 1)
    # The settings that it names go together.
    compose_settings([*overrides, *re.findall(r"[\w.]+=\w+", advice)])
