"""Runs in which a search teaches levels: what they learn, the same bytes in all circumstances, files, and refusals."""

import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import numba
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from selfplay.agents.checkpoints import load_checkpoint
from selfplay.api.stages import learn_levels, train_level
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import Grader
from selfplay.learners.expert import read_lessons
from selfplay.named_players.make import make_player
from selfplay.runs.levels import level_player
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import LEARNER_FILE, RunFolder
from selfplay.training.epochs import Callback, read_epochs
from selfplay.training.lessons import Apprentice, Lessons
from tests.support.kills import interrupted_in
from tests.support.runs import files_of, tiny_settings

GAME = make_game("tictactoe")
Arrays = dict[str, NDArray[Any]]

BEGUN = [
    "game=tictactoe",
    "architecture=ntuple",
    "learner=td",
    "learner.epsilons=[1,1,0.4]",
    "matches=1024",
    "levels=4",
]


def taught(first: int = 2, **changes: object) -> list[str]:
    """A run whose levels from `first` on learn from a search, with these parameters."""
    given = {"expert": "'search:negascout?depth=9'", "tolerance": 0, "epsilons": [1], "slack": 2} | changes
    phase = ",".join(f"learner.{name}:{value}" for name, value in given.items())
    return [*BEGUN, f"from_level={{{first}:{{learner:expert,matches:256,{phase}}}}}"]


TAUGHT = taught()


def lessons_of(folder: Path, level: int) -> Lessons:
    return read_lessons((RunFolder(folder).level(level) / LEARNER_FILE).read_bytes(), GAME)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run, whose levels 2 to 4 learned from a search that sees every end of the match."""
    folder = tmp_path_factory.mktemp("taught")
    learn_levels(tiny_settings(folder, *TAUGHT))
    return folder


def test_a_callback_ends_the_walks_and_the_training(finished, tmp_path):
    copytree(finished, tmp_path / "run")
    rmtree(tmp_path / "run" / "level_02")
    rounds = []

    class Stops(Callback):
        def on_round(self, level, steps, measured):
            rounds.append(steps)
            return True

    assert train_level(
        tiny_settings(
            tmp_path / "run",
            *TAUGHT,
        ),
        2,
        callbacks=[Stops()],
    )
    assert rounds == [1]
    assert Manifest(tmp_path / "run" / "level_02").sections["training"]["counts"]["stopped"] == 1
    assert read_epochs(RunFolder(tmp_path / "run").epoch_loss(2))[0].judged < 1


def test_levels_learn_from_the_search_not_to_lose(finished):
    game, grader = make_game("tictactoe"), Grader(positions_of("tictactoe"))
    lost = [sum(lines.lost for lines in grader.grade(level_player(finished, level, game)).lines) for level in (1, 4)]
    assert lost[0] > 0
    assert lost[1] == 0
    mistakes = [read_epochs(RunFolder(finished).epoch_loss(level))[0].judged for level in (2, 3, 4)]
    assert mistakes[0] > mistakes[1] >= mistakes[2]


def test_taught_tables_have_a_phase_for_each_number_of_stones_and_continue_the_lessons(finished):
    run, game = RunFolder(finished), make_game("tictactoe")
    agents = [load_checkpoint(run.agent(level), game) for level in (1, 2, 3)]
    assert [agent.metadata["architecture"].get("phases", 1) for agent in agents] == [1, 9, 9]
    lessons = [lessons_of(finished, level) for level in (2, 3)]
    known = [set(map(tuple, one.position.tolist())) for one in lessons]
    assert known[0] < known[1]


@pytest.mark.slow
def test_tables_as_large_as_before_learn_the_lessons_of_all_plies_together(finished, tmp_path):
    learn_levels(tiny_settings(tmp_path, *taught(weights_by_ply="false")))
    game, run = make_game("tictactoe"), RunFolder(tmp_path)
    weights = [load_checkpoint(run.agent(level), game).network.state_dict()["weight"] for level in (1, 2, 3, 4)]
    assert {tensor.shape for tensor in weights} == {weights[0].shape}
    mistakes = [read_epochs(run.epoch_loss(level))[0].judged for level in (2, 3, 4)]
    assert mistakes[0] > mistakes[1] > mistakes[2]
    lines = Grader(positions_of("tictactoe")).grade(level_player(tmp_path, 4, game)).lines
    assert sum(line.lost for line in lines) == 0
    # The walk of the first level that is taught does not depend on what its tables learn afterwards.
    first = [lessons_of(folder, 2) for folder in (finished, tmp_path)]
    assert np.array_equal(first[0].position, first[1].position)


def test_lessons_are_right_where_the_search_sees_every_end(finished):
    game, lessons = GAME, lessons_of(finished, 4)
    state = game.state_at(torch.from_numpy(lessons.position))
    values = make_player("perfect", game).action_values(state)
    results = values.sign().masked_fill(values.isnan(), -2)
    is_best = (results == results.amax(dim=1, keepdim=True)).numpy()
    for actions, expected in ((lessons.good, True), (lessons.poor, False)):
        named = actions[:, None] >> np.arange(9) & 1 == 1
        assert named.any()
        assert (is_best[named] == expected).all()
    assert (lessons.good[lessons.poor != 0] != 0).all()


@pytest.mark.slow
def test_an_interruption_and_another_number_of_threads_change_no_byte(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    folder = tmp_path / "run"
    copytree(finished, folder)
    for level in (3, 4):
        rmtree(RunFolder(folder).level(level))
    with pytest.raises(KeyboardInterrupt):
        learn_levels(tiny_settings(folder, *TAUGHT), interrupted_in(3))
    assert RunFolder(folder).trained_levels() == [1, 2]
    learn_levels(tiny_settings(folder, *TAUGHT))
    assert files_of(folder) == files_of(finished)


def test_the_evaluation_of_the_search_is_recorded_and_is_the_last_level_without_it(finished):
    run = RunFolder(finished)
    records = [Manifest(run.level(level)).sections["training"]["settings"] for level in (1, 2, 4)]
    digest = Manifest(run.level(1)).sections["training"]["files"]["agent.safetensors"]
    assert [record.get("players_sha256") for record in records] == [None, [digest], [digest]]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (taught(expert="random"), "learner.expert=random: must be a search of fixed depth"),
        (
            taught(expert="'search:negascout?depth=9&time_limit=1'"),
            "time_limit=1: cannot have a time_limit, which no run",
        ),
        (taught(expert="'search:negascout?depth=1'"), "depth=1: must be a search of fixed depth, 2 or more plies deep"),
        (taught(expert="'search:negascout?dept=3'"), "'dept=3' is not an option of search"),
        (taught(first=0), "from_level=0: must be numbers of levels"),
        (
            [*BEGUN, "learner=expert"],
            "learner=expert: teaches levels that another learner has made; set it from a level",
        ),
    ],
)
def test_what_cannot_teach_is_refused_in_one_line(tmp_path, given, sentence):
    with pytest.raises(SettingError, match=re.escape(sentence)) as refused:
        learn_levels(tiny_settings(tmp_path, *given, "levels=2", "matches=20"))
    assert "\n" not in str(refused.value)


def test_broken_lessons_are_refused():
    with pytest.raises(ValueError, match="cannot be read"):
        read_lessons(b"no lessons", GAME)


HARMFUL: dict[str, Callable[[Arrays], Arrays]] = {
    "an array less": lambda arrays: {name: array for name, array in arrays.items() if name != "poor"},
    "another type": lambda arrays: arrays | {"worth": arrays["worth"].astype(np.int64)},
    "numbers": lambda arrays: {name: np.array(array[0]) for name, array in arrays.items()},
    "matrices": lambda arrays: {name: np.stack([array, array], axis=1) for name, array in arrays.items()},
    "another length": lambda arrays: arrays | {"worth": np.zeros(1)},
    "a worth that is not a number": lambda arrays: arrays | {"worth": np.full_like(arrays["worth"], np.nan)},
    "an infinite worth": lambda arrays: arrays | {"worth": np.full_like(arrays["worth"], np.inf)},
    "stones beyond the board": lambda arrays: arrays | {"position": arrays["position"] | 1 << 9},
    "two stones on a square": lambda arrays: arrays | {"position": arrays["position"] | arrays["position"][:, ::-1]},
    "a word less": lambda arrays: arrays | {"position": arrays["position"][:, :1]},
    "a position twice": lambda arrays: {name: np.append(array, array[:1], axis=0) for name, array in arrays.items()},
    "all actions good": lambda arrays: arrays | {"good": np.full_like(arrays["good"], -1)},
    "actions good and poor": lambda arrays: arrays | {"poor": arrays["good"]},
}


@pytest.mark.parametrize("harm", HARMFUL)
def test_lessons_that_cannot_be_of_this_game_are_refused_in_one_line(finished, harm):
    harmful = save(HARMFUL[harm](load_file(RunFolder(finished).level(2) / LEARNER_FILE)))
    with pytest.raises(ValueError, match=r"^has no lessons of tictactoe \(.*\)$"):
        read_lessons(harmful, GAME)


class HarshJudge:
    def worth(self, state):
        return np.zeros(state.batch_size)

    def is_kept(self, after, worth):
        return np.zeros(after.batch_size, dtype=np.bool_)


def test_positions_without_a_good_action_change_no_weight(finished):
    """A search can judge all actions to be poor, because it judges positions one by one."""
    lessons = lessons_of(finished, 2)
    network = load_checkpoint(RunFolder(finished).agent(1), GAME).network
    before = network.weight.detach().clone()
    apprentice = Apprentice(GAME, network, HarshJudge(), 0, passes=2, margin=0.05)
    rows = np.flatnonzero(lessons.poor)
    assert apprentice.learn(lessons._replace(good=np.zeros_like(lessons.good)), rows, 0) == 0
    assert torch.equal(network.weight, before)


def test_a_level_can_be_trained_alone(finished, tmp_path):
    start = RunFolder(finished).agent(1)
    given = ["level=2", f"start_file={start}", f"output_dir={tmp_path / 'made'}", f"run_dir={finished}"]
    settings = tiny_settings(finished, *TAUGHT, *given)
    train_level(settings, 2)
    assert (tmp_path / "made" / "agent.safetensors").read_bytes() == RunFolder(finished).agent(2).read_bytes()
