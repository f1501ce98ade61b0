"""Several processes that train one level: equal weights, locks, and error messages."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
import torch

from selfplay.agents.checkpoints import load_checkpoint
from selfplay.api.stages import generate_level, train_level
from selfplay.compute import process
from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.progress import NoProgress
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.training.epochs import read_epochs
from tests.support.rejections import assert_refused
from tests.support.runs import GENERATE, PROJECT, TRAIN, files_of, run_forked, tiny_settings

GAME = make_game("tictactoe")
# One hidden layer, because deep networks amplify the rounding of sums. The decay keeps gradients away from 0, where
# Adam amplifies it; it also reveals the size of the gradient, which Adam alone hides.
OVERRIDES = [
    *("learner.steps_per_epoch=null", "dataset.format=parquet", "learner.merge=false"),
    *("architecture=mlp_512", "learner.learning_rate=0.003"),
    "learner.weight_decay=0.1",
]
UNEQUAL = ["learner.batch_size=63", "learner.steps_per_epoch=10"]
"""Batches with unequal shares."""

EPOCH = "learner.epochs=1"


@pytest.fixture(scope="module")
def matches(tmp_path_factory):
    """A run with the matches of level 0."""
    run_dir = tmp_path_factory.mktemp("matches")
    generate_level(tiny_settings(run_dir, *OVERRIDES), 0)
    return run_dir


@pytest.fixture
def run_dir(matches, tmp_path):
    shutil.copytree(matches, tmp_path / "run")
    return tmp_path / "run"


def environment_of(rank, size, port):
    """The environment that torchrun gives a process, with a host name that cannot be resolved."""
    world = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "MASTER_PORT": port}
    return {**{name: str(value) for name, value in world.items()}, "MASTER_ADDR": "nowhere.invalid"}


def start_team(size, work):
    """Forks of this process that call `work` with their ranks: their process ids. They exit with 0 if it returns."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.environ.update(environment_of(rank, size, port))
                torch.set_num_threads(1)
                work(rank)
                code = 0
            except StageError as error:
                code = 4 if "another process of this training has ended" in str(error) else 5
            finally:
                os._exit(code)
        children.append(child)
    return children


def exit_codes(children):
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def weights(run_dir, level=1):
    return load_checkpoint(RunFolder(run_dir).agent(level), GAME).network.state_dict()


def assert_trained_alike(run_dir, other):
    """Up to the rounding of sums.

    float32 rounds at 6e-8. Adam divides by the size of the gradient, so that a weight whose gradient is nearly 0 may
    move by another part of the learning rate (0.003). Weights are of size 0.1.
    """
    for name, tensor in weights(run_dir).items():
        torch.testing.assert_close(weights(other)[name], tensor, rtol=0, atol=2e-5)
    for one, another in zip(
        *(read_epochs(RunFolder(folder).epoch_loss(1)) for folder in (run_dir, other)), strict=True
    ):
        assert another.measured == pytest.approx(one.measured, rel=1e-5)


@pytest.mark.slow
def test_torchrun_trains_the_weights_of_one_process(run_dir, matches, tmp_path):
    """With 300 matches the last batch of a pass is shorter than the others."""
    shutil.copytree(matches, tmp_path / "one")
    train_level(tiny_settings(tmp_path / "one", *OVERRIDES), 1)
    told = ["--level", "1", "matches=300", "learner.epochs=3", "learner.batch_size=64", *OVERRIDES]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
    command = [*torchrun, "--nproc-per-node", "2", TRAIN, *told, f"run_dir={run_dir}"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=PROJECT, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(re.findall("level 1: trained on", result.stdout)) == 1
    assert len(re.findall("level 1: trained on", (run_dir / "run.log").read_text())) == 1
    assert_trained_alike(tmp_path / "one", run_dir)
    assert files_of(run_dir).keys() == files_of(tmp_path / "one").keys()
    assert Manifest(run_dir / "level_01").sections["training"]["settings"]["processes"] == 2


# A batch of 2 rows leaves one of three processes without any.
@pytest.mark.parametrize(
    ("size", "overrides"),
    [
        (2, [*UNEQUAL, EPOCH]),
        (3, ["learner.batch_size=2", EPOCH, "learner.steps_per_epoch=10", "learner.merge=true"]),
        pytest.param(
            *(2, ["architecture=custom", "architecture.name=tests.support.outside_training:PolicyNetwork", EPOCH]),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["unequal shares", "empty shares", "policy head"],
)
def test_several_processes_train_the_weights_of_one(run_dir, matches, tmp_path, size, overrides):
    settings = [*OVERRIDES, *overrides]
    shutil.copytree(matches, tmp_path / "one")
    train_level(tiny_settings(tmp_path / "one", *settings), 1)
    assert exit_codes(start_team(size, lambda _: train_level(tiny_settings(run_dir, *settings), 1))) == [0] * size
    assert_trained_alike(tmp_path / "one", run_dir)


def test_when_a_process_is_killed_the_other_ends_and_no_partial_file_is_left(run_dir, monkeypatch):
    killed = 0
    monkeypatch.setattr(process, "SECONDS_TO_BE_ENDED", 0.01)
    before = files_of(run_dir)
    begun = run_dir.with_name("begun")

    def work(rank):
        def bar(**_):
            begun.touch()
            return NoProgress(total=0, desc="")

        train_level(tiny_settings(run_dir, *OVERRIDES, "learner.epochs=100000"), 1, bar)

    children = start_team(2, work)
    while not begun.exists():
        time.sleep(0.01)
    os.kill(children[killed], signal.SIGKILL)
    codes = exit_codes(children)
    assert (codes[killed], codes[1 - killed]) == (-signal.SIGKILL, 4)
    assert files_of(run_dir) == before


# ---------------------------------------------------------------------- what is refused


def test_torchrun_is_for_training_only_and_not_for_a_sweep(tmp_path, monkeypatch):
    for name, value in environment_of(0, 2, 1).items():
        monkeypatch.setenv(name, value)
    result = run_forked(GENERATE, f"run_dir={tmp_path / 'run'}")
    assert_refused(result, 2, "torchrun can start only selfplay train")
    result = run_forked(TRAIN, "-m", "seed=0,1", f"run_dir={tmp_path / 'run'}")
    assert_refused(result, 2, "and one run of it")
    assert not (tmp_path / "run").exists()
