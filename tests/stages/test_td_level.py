"""Runs with learner=td: the same bytes with any number of threads and after an interruption, files, and refusals."""

import numba
import numpy as np
import pytest
from safetensors.numpy import load_file, save

from selfplay.agents.checkpoints import load_checkpoint
from selfplay.api.stages import generate_level, learn_levels, train_level
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.learners.temporal_differences import read_weights_and_changes
from selfplay.runs.run_folder import LEARNER_FILE, RunFolder
from tests.support.kills import interrupted_in, is_killed_at_change
from tests.support.runs import files_of, tiny_settings

TD = [
    "game=tictactoe",
    "architecture=ntuple",
    "learner=td",
    "matches=300",
    "levels=2",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run."""
    folder = tmp_path_factory.mktemp("td")
    learn_levels(tiny_settings(folder, *TD))
    return folder


def test_a_level_has_an_agent_and_a_loss_but_no_dataset(finished):
    made = [name for name in files_of(finished) if name.startswith("level_")]
    files = ["agent.safetensors", "epoch_loss.csv", "learner.safetensors", "manifest.json", "strength.csv"]
    assert made == [f"level_{level:02d}/{name}" for level in (1, 2) for name in files]
    assert not generate_level(tiny_settings(finished, *TD), 1)
    assert not train_level(tiny_settings(finished, *TD), 2)


def test_the_agent_has_float16_weights_and_the_next_level_begins_with_the_unrounded_ones(finished):
    run, game = RunFolder(finished), make_game("tictactoe")
    assert load_file(run.agent(1))["weight"].dtype == np.float16
    tables = load_checkpoint(run.agent(1), game).network.trainable_tables()
    rounded = tables.weights.copy()
    read_weights_and_changes((run.level(1) / LEARNER_FILE).read_bytes(), tables)
    assert not (tables.weights == rounded).all()
    assert (tables.weights.astype(np.float16) == rounded).all()


def test_the_number_of_threads_changes_no_byte(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    learn_levels(tiny_settings(tmp_path, *TD))
    assert files_of(tmp_path) == files_of(finished)


@pytest.mark.slow
def test_exact_values_are_learned_with_any_number_of_threads(tmp_path, monkeypatch):
    options = [*TD, "game=othello_4x4", "learner.outcome=disc_difference", "levels=1", "comparison.matches=10"]
    agents = set()
    for threads, exact_from in [(1, "null"), (1, "6"), (3, "6")]:
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        run_dir = tmp_path / f"{threads} {exact_from}"
        train_level(tiny_settings(run_dir, *options, f"learner.exact_from={exact_from}"), 1)
        agents.add((exact_from, RunFolder(run_dir).agent(1).read_bytes()))
    assert len(agents) == 2
    assert len({agent for _, agent in agents}) == 2


def test_an_interrupted_run_ends_in_the_same_bytes(finished, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        learn_levels(tiny_settings(tmp_path, *TD), interrupted_in(2))
    assert RunFolder(tmp_path).trained_levels() == [1]
    learn_levels(tiny_settings(tmp_path, *TD))
    assert files_of(tmp_path) == files_of(finished)


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_bytes(finished, tmp_path):
    settings = tiny_settings(tmp_path, *TD)
    kills = 0
    while is_killed_at_change(kills + 1, learn_levels, settings, below=tmp_path):
        kills += 1
    assert kills > 10
    assert files_of(tmp_path) == files_of(finished)


def test_broken_and_exchanged_sums_of_changes_are_refused(finished, tmp_path):
    learn_levels(tiny_settings(tmp_path, *TD, "levels=1"))
    path = RunFolder(tmp_path).level(1) / LEARNER_FILE
    for content in (path.read_bytes()[:-1], (RunFolder(finished).level(2) / LEARNER_FILE).read_bytes()):
        path.write_bytes(content)
        with pytest.raises(InvalidFileError, match=r"learner\.safetensors: differs from its manifest"):
            train_level(tiny_settings(tmp_path, *TD), 2)


@pytest.mark.parametrize(
    ("array", "number"),
    [("weights", np.nan), ("weights", 1e30), ("changes", np.inf), ("changes", -1), ("changes", 0)],
)
def test_numbers_that_training_does_not_give_are_refused(finished, array, number):
    """Compiled code takes the step size of a weight from a table, at a place that the changes give."""
    tables = load_checkpoint(RunFolder(finished).agent(1), make_game("tictactoe")).network.trainable_tables()
    before = tables.weights.copy()
    arrays = load_file(RunFolder(finished).level(1) / LEARNER_FILE)
    arrays[array].reshape(-1)[-1] = number
    with pytest.raises(ValueError, match="has numbers that training does not give"):
        read_weights_and_changes(save(arrays), tables)
    assert np.array_equal(tables.weights, before)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["architecture=mlp"], "learner=td trains tables of patterns, not architecture=mlp; set architecture=ntuple"),
        (["learner.exact_from=3"], "learner.exact_from: tictactoe has no exact solver; set learner.exact_from=null"),
        (["game=othello", "learner.exact_from=31"], "learner.exact_from=31: must be from 1 to 30"),
        (["learner.gate=0.5"], "unknown setting 'learner.gate'; learner=values and learner=policy have learner.gate"),
        (
            ["learner.opponents=pool"],
            "unknown setting 'learner.opponents'; learner=values has learner.opponents",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_does_not_go_with_it_is_refused_in_one_line(tmp_path, overrides, message):
    with pytest.raises(SettingError) as caught:
        learn_levels(tiny_settings(tmp_path, *TD, *overrides))
    assert str(caught.value) == message
    assert not files_of(tmp_path)
