"""Rows that are trained on: passes that show each once, rows in temporary files, and datasets larger than memory."""

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from selfplay import compose_settings
from selfplay.api.stages import train_level
from selfplay.dataset.formats import PARQUET
from selfplay.dataset.parquet import parquet_parts
from selfplay.dataset.rows import Rows
from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.training import rows as training_rows
from selfplay.training.fitting import fit_network
from selfplay.training.rows import SplitRows, TrainingRows, is_held_out
from tests.support.dataset_tools import observations_of, positions_of, random_rows
from tests.support.datasets_in_parts import (
    CODEC,
    GAME,
    KEY,
    SEED,
    all_rows,
    in_parts,
    make_network,
    make_settings,
)
from tests.support.runs import PROJECT, tiny_settings


def parts_of(rows, size=300):
    return [rows.select(slice(start, start + size)) for start in range(0, len(rows.match), size)]


def test_each_pass_shows_every_training_row_once_in_an_order_of_its_own():
    settings = make_settings()
    split = SplitRows(TrainingRows(GAME, parts_of(all_rows())), settings, KEY)
    batches, steps = split.batches(torch.device("cpu")), -(-split.num_examples // settings.batch_size)
    shown = []
    for _ in range(2):
        of_pass = [batch.share for batch in islice(batches, steps)]
        observations = torch.cat([CODEC.entries.unpacked(share.packed) for share in of_pass]).numpy()
        targets = torch.cat([share.targets for share in of_pass]).tolist()
        shown.append([(row.tobytes(), target) for row, target in zip(observations, targets, strict=True)])
    kept = all_rows().select(~is_held_out(all_rows().match, 0.2, KEY))
    expected = zip([row.tobytes() for row in observations_of(kept, CODEC)], kept.target.tolist(), strict=True)
    assert shown[0] != shown[1]
    assert sorted(shown[0]) == sorted(shown[1]) == sorted(expected)


@pytest.mark.parametrize("merge", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_rows_in_temporary_files_give_the_same_weights(monkeypatch, tmp_path, merge):
    settings, trained, files = make_settings(symmetries=True, merge=merge), [], []
    for large in (1 << 20, 1):
        monkeypatch.setattr(training_rows, "LARGE", large)
        rows, network = TrainingRows(GAME, parts_of(all_rows()), tmp_path), make_network()
        files.append(isinstance(rows.packed, np.memmap))
        epochs = fit_network(network, rows, settings, seed=SEED)
        trained.append((epochs, torch.nn.utils.parameters_to_vector(network.parameters()).tolist()))
    assert files == [False, True]
    assert trained[0] == trained[1]
    assert not any(tmp_path.iterdir())


def test_rows_that_cannot_be_written_are_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(training_rows, "LARGE", 1)
    with pytest.raises(StageError, match=r"cannot write a temporary file in .*missing: No such file or directory"):
        TrainingRows(GAME, [all_rows()], tmp_path / "missing")


# ---------------------------------------------------------------------- levels


IN_PARTS = ["dataset.format=parquet", "learner.replay=1"]


@pytest.fixture
def run_in_parts(tmp_path):
    """A run whose level 0 has written its matches to a folder of parts."""
    rows = random_rows(GAME, range(300))
    folder = in_parts(tmp_path / "level_00" / "dataset.parquet", rows)
    Manifest(folder.parent).record("generation", {}, {"matches": 300, "rows": len(rows.match)}, [folder.name])
    return tmp_path


def test_a_level_is_trained_on_a_folder_of_parts(run_in_parts):
    settings = tiny_settings(run_in_parts, *IN_PARTS)
    assert train_level(settings, 1)
    assert not train_level(settings, 1)
    section = Manifest(run_in_parts / "level_01").sections["training"]
    assert section["counts"]["rows"] == len(random_rows(GAME, range(300)).match)


def test_a_changed_or_missing_part_is_refused(run_in_parts):
    parts = parquet_parts(run_in_parts / "level_00" / "dataset.parquet")
    parts[-1].unlink()
    with pytest.raises(StageError, match=r"dataset\.parquet differs from its manifest"):
        train_level(tiny_settings(run_in_parts, *IN_PARTS), 1)
    assert not (run_in_parts / "level_01").exists()


LIMITED = """
import resource, sys
from pathlib import Path
import pyarrow, torch
from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.api.stages import train_level
from selfplay.training import rows
from tests.support.runs import tiny_settings

rows.LARGE = int(sys.argv[2])
# The rules are compiled before.
make_game("othello").observation_codec
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
limit = (int(status["VmData"].split()[0]) << 10) + (176 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    train_level(tiny_settings(Path(sys.argv[1]), *sys.argv[3:]), 1)
except StageError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not limit memory in this way")
def test_a_dataset_larger_than_memory_is_trained_on_from_files(tmp_path):
    """4 million boards of Othello take 112 MB as packed rows, and twice that as examples; the limit is 176 MB."""
    folder, size = tmp_path / "level_00" / "dataset.parquet", 2**20
    folder.mkdir(parents=True)
    generator, codec = np.random.default_rng(0), make_game("othello").observation_codec
    for number in range(4):
        match = np.arange(number * size, (number + 1) * size)
        observations = np.zeros((size, 128), np.uint8)
        observations[:, :8] = generator.integers(0, 2, (size, 8))
        target = observations[:, 0].astype(np.float32)
        part = folder / f"part-{number:05d}.parquet"
        rows = Rows(match, np.zeros(size, np.int32), positions_of(observations, codec), target)
        part.write_bytes(PARQUET.encode([rows], codec)[0])
    Manifest(folder.parent).record("generation", {}, {"rows": 4 * size}, [folder.name])
    overrides = ["game=othello", "architecture.hidden_sizes=[4]", "numerics=native", "dataset.format=parquet"]
    overrides += ["learner.merge=false", "learner.symmetries=false", "learner.epochs=1"]
    said = []
    for large in (1 << 40, 1 << 20):
        command = [sys.executable, "-c", LIMITED, tmp_path, str(large), *overrides]
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
        result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT, env=environment)
        said.append(result.stdout)
    assert "its rows do not fit into memory; set fewer matches with another run_dir" in said[0]
    assert said[1] == ""
    assert RunFolder(tmp_path).trained_levels() == [1]


@pytest.mark.parametrize(
    ("overrides", "advice"),
    [
        ([], "set learner.merge=false or fewer matches with another run_dir"),
        (["learner.merge=false"], "set fewer matches with another run_dir"),
        (["recipe=alphazero"], "set learner.merge=false or fewer matches"),
    ],
)
def test_the_advice_for_rows_that_do_not_fit_into_memory_can_be_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, overrides: list[str], advice: str
) -> None:
    def out_of_memory(*_):
        raise MemoryError

    monkeypatch.setattr("selfplay.learners.values.TrainingRows", out_of_memory)
    with pytest.raises(StageError, match=f"its rows do not fit into memory; {advice}"):
        train_level(compose_settings([*overrides, f"run_dir={tmp_path}", f"dataset_file={tmp_path}"]), 1)
