"""Levels whose matches are played by a named player: the same bytes with any number of workers and after interruptions,
random openings, and refusals."""

import numba
import numpy as np
import pytest

from selfplay import generate_level
from selfplay.api.stages import learn_levels
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.runs.run_folder import RunFolder
from tests.support.dataset_tools import read_dataset
from tests.support.kills import interrupted_in
from tests.support.runs import files_of, tiny_settings

GAME = [
    "game=tictactoe",
    "architecture=ntuple",
    "learner.gamma=1",
    "learner.epsilons=[0.2]",
    "levels=2",
    "matches=120",
]
SEARCH = [*GAME, "learner.self_play='search:negascout?depth=3'", "learner.opening_plies=3"]
VALUES = [*SEARCH, "learner.targets=full", "learner.value_share=0.5", "dataset.shard_matches=50"]
TD = [*SEARCH, "learner=td", "learner.round_matches=64"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("self_play")
    learn_levels(tiny_settings(folder, *VALUES))
    return folder


@pytest.fixture(scope="module")
def online(tmp_path_factory):
    folder = tmp_path_factory.mktemp("self_play_td")
    learn_levels(tiny_settings(folder, *TD))
    return folder


def test_workers_change_no_byte(fitted, tmp_path):
    workers = ["executor=process", "executor.workers=2"]
    for name, overrides in {"one": ["batch_size=7"], "two": workers}.items():
        generate_level(tiny_settings(fitted, *VALUES, *overrides, f"output_dir={tmp_path / name}"), 1)
        made = (tmp_path / name / "dataset.csv").read_bytes()
        assert made == RunFolder(fitted).dataset(1).read_bytes()


def test_an_interrupted_run_ends_in_the_same_bytes(fitted, online, tmp_path):
    for finished, settings in ((fitted, VALUES), (online, TD)):
        run_dir = tmp_path / finished.name
        with pytest.raises(KeyboardInterrupt):
            learn_levels(tiny_settings(run_dir, *settings), interrupted_in(2 if settings is TD else 1))
        learn_levels(tiny_settings(run_dir, *settings))
        assert files_of(run_dir) == files_of(finished)


@pytest.mark.slow
def test_threads_change_no_byte_of_what_learns_online(online, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    learn_levels(tiny_settings(tmp_path, *TD))
    assert files_of(tmp_path) == files_of(online)


def test_a_search_of_one_ply_learns_what_the_tables_learn_that_play_alone(tmp_path):
    """Without exploration, because a table that can win at once does not explore."""
    alone = [*GAME, "learner=td", "learner.epsilons=[0]", "learner.opening_plies=4", "levels=1"]
    learn_levels(tiny_settings(tmp_path / "alone", *alone))
    learn_levels(tiny_settings(tmp_path / "named", *alone, "learner.self_play='itself'"))
    files = [RunFolder(tmp_path / name).agent(1).read_bytes() for name in ("alone", "named")]
    assert files[0] == files[1]


def test_levels_before_the_first_play_one_ply_ahead(tmp_path):
    alone = [*TD, "learner.self_play=null"]
    for name, first in {"never": 3, "second": 2}.items():
        search = f"from_level={{{first}:{{learner.self_play:'search:negascout?depth=3'}}}}"
        learn_levels(tiny_settings(tmp_path / name, *alone, search))
    level_1, level_2 = ({RunFolder(run).agent(level).read_bytes() for run in tmp_path.iterdir()} for level in (1, 2))
    assert (len(level_1), len(level_2)) == (1, 2)


def test_a_level_plays_better_with_a_search_and_explores_by_the_rate_in_its_name(fitted, tmp_path):
    def rows(name, *overrides):
        generate_level(tiny_settings(fitted, *GAME, *overrides, f"output_dir={tmp_path / name}"), 1)
        return read_dataset(tmp_path / name / "dataset.csv", make_game("tictactoe").observation_codec)

    perfect = rows("deep", "learner.self_play='search:negascout?depth=9&epsilon=0'")
    assert np.abs(perfect.target).max() == 0
    assert np.abs(rows("default").target).max() == 1


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["learner.self_play=nobody"], "unknown player 'nobody' in learner.self_play; choose from beginner, "),
        (
            ["learner.self_play='search:negascout?depth=0'"],
            "learner.self_play=search:negascout?depth=0: depth=0: must be from 1 to 120",
        ),
        (
            ["learner.self_play='search:negascout?evaluation=best'"],
            "learner.self_play=search:negascout?evaluation=best: unknown evaluation 'best'; choose from ",
        ),
        (
            ["learner.self_play='search:negascout?time_limit=1'"],
            "learner.self_play=search:negascout?time_limit=1: cannot have a time_limit, which no run repeats",
        ),
        (
            ["learner.self_play=random", "learner.value_share=0.5"],
            "learner.self_play=random: finds no values to learn from; set mcts:..., or search:... with ",
        ),
        (
            ["architecture=mlp", "learner.value_share=0.5", "learner.self_play='search:negascout?depth=3'"],
            "learner.self_play=search:negascout?depth=3: finds no values to learn from; set ",
        ),
        (
            ["architecture=mlp", "learner.value_share=0.5"],
            "learner.self_play=null: finds no values to learn from; set mcts:..., or search:... with ",
        ),
        (
            ["learner=td", "learner.self_play=perfect"],
            "learner.self_play=perfect: finds no values to learn from; set mcts:..., or search:... with ",
        ),
        (
            ["learner=td", "learner.value_share=0.5"],
            "unknown setting 'learner.value_share'; learner=values and learner=policy have learner.value_share",
        ),
        (
            ["learner.value_share=0.5", "learner.opponents=pool"],
            "learner.value_share=0.5: a level only plays against itself; set learner.opponents=self",
        ),
        (
            ["learner=policy", "architecture=alphazero_mlp", "learner.self_play='mcts:itself'"],
            "unknown setting 'learner.epsilons'; learner=values and learner=td and learner=expert have ",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_does_not_go_with_it_is_refused_in_one_line(tmp_path, overrides, message):
    with pytest.raises(SettingError) as caught:
        learn_levels(tiny_settings(tmp_path, *GAME, *overrides))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert not files_of(tmp_path)
