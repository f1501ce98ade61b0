"""Tables that learn from matches against others: the same updates as in training, saved whole after each match."""

from pathlib import Path

import numpy as np
import pytest

from selfplay import play_matches
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import RunLockedError
from selfplay.files import sha256
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.named_players.classical import LearningTabularPlayer
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.playing.open_session import open_session
from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import Run
from selfplay.stages.train_tabular import train_tabular
from selfplay.tabular.learning import BACKWARD_VALUE, TEMPORAL_DIFFERENCE, UpdateRule, initial_values, learn_matches
from selfplay.tabular.table_file import load_tables, save_tables
from tests.support.runs import held_by_another_thread

GRAPH = positions_of("tictactoe")
GAME = make_game("tictactoe")
KEY = stream_key(5, 0, Activity.TABULAR_TRAINING)


def new_file(folder: Path, rule: UpdateRule, epsilon: float = 0.1) -> Path:
    path = folder / f"{rule.name}.npz"
    settings = {"epsilon": epsilon, rule.step_size_name: 0.5}
    save_tables(path, GRAPH, initial_values(GRAPH, rule), rule, settings)
    return path


def learner(path: Path) -> LearningTabularPlayer:
    return LearningTabularPlayer(path, GRAPH, load_tables(path, GRAPH))


def trained(run_dir: Path, agent: str) -> Path:
    settings = [f"agent={agent}", "episodes=50", f"run_dir={run_dir}"]
    return train_tabular(Run.of(compose_settings_of(TabularSettings, "tabular", settings)))


# ---------------------------------------------------------------------- the updates


@pytest.mark.parametrize(("rule", "epsilon"), [(BACKWARD_VALUE, 0.3), (TEMPORAL_DIFFERENCE, 0.0)], ids=str)
def test_matches_against_itself_give_the_tables_of_training(tmp_path: Path, rule: UpdateRule, epsilon: float) -> None:
    expected = initial_values(GRAPH, rule)
    list(learn_matches(GRAPH, expected, rule, matches=20, step_size=0.5, epsilon=epsilon, key=KEY))
    player = learner(new_file(tmp_path, rule))
    exploring = EpsilonGreedyPlayer(GAME, player, [epsilon])
    list(play_matches(GAME, (exploring, exploring), range(20), KEY, alternate=False))
    assert np.array_equal(player.values, expected)
    assert np.array_equal(load_tables(player.path, GRAPH).values, expected)
    assert player.matches_seen() == load_tables(player.path, GRAPH).played == 20


# ---------------------------------------------------------------------- the file


def test_while_another_process_saves_a_match_is_not_learned(tmp_path: Path) -> None:
    player = learner(new_file(tmp_path, BACKWARD_VALUE))
    with held_by_another_thread(tmp_path), pytest.raises(RunLockedError, match="wait for it"):
        list(play_matches(GAME, (player, make_player("random", GAME, tmp_path)), range(1), KEY))
    assert player.matches_seen() == 0


def test_tables_that_have_learned_since_count_as_made_until_force(tmp_path: Path) -> None:
    path = trained(tmp_path, "backward_value")
    original = sha256(path)
    player = make_player("tabular:backward_value?learn=true", GAME, tmp_path)
    list(play_matches(GAME, (player, make_player("random", GAME, tmp_path)), range(2), KEY))
    learned = sha256(path)
    assert learned != original
    trained(tmp_path, "backward_value")
    assert sha256(path) == learned
    settings = ["agent=backward_value", "episodes=50", f"run_dir={tmp_path}", "force=true"]
    train_tabular(Run.of(compose_settings_of(TabularSettings, "tabular", settings)))
    assert sha256(path) == original


# ---------------------------------------------------------------------- names


def opponent(run_dir: Path, name: str) -> Player:
    settings = compose_settings_of(PlaySettings, "play", [f"run_dir={run_dir}", f"opponent='{name}'"])
    player = open_session(Run.of(settings)).players[1]
    assert player is not None
    return player


def test_against_a_person_backward_value_explores_and_learns_unless_told_otherwise(tmp_path: Path) -> None:
    trained(tmp_path, "backward_value")
    trained(tmp_path, "temporal_difference")
    player = opponent(tmp_path, "tabular:backward_value")
    assert isinstance(player, EpsilonGreedyPlayer)
    assert player.epsilons == (0.1,)
    assert isinstance(player.unwrapped, LearnsFromMatches)
    calm = opponent(tmp_path, "tabular:backward_value?epsilon=0&learn=false")
    assert not isinstance(calm.unwrapped, LearnsFromMatches)
    assert isinstance(calm, EpsilonGreedyPlayer)
    assert calm.epsilons == (0.0,)
    other = opponent(tmp_path, "tabular:temporal_difference")
    assert not isinstance(other.unwrapped, LearnsFromMatches)
    assert not isinstance(other, EpsilonGreedyPlayer)
    assert isinstance(opponent(tmp_path, "tabular:temporal_difference?learn=true"), LearnsFromMatches)
