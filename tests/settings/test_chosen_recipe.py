"""What `selfplay learn` chooses if its command names no recipe."""

import re

import pytest

from selfplay import compose_settings, make_game
from selfplay.runs.manifest import Manifest
from selfplay.settings import chosen_recipe
from selfplay.settings.chosen_recipe import way_of_learning, with_chosen_recipe
from tests.support.runs import COMMAND, run_forked


@pytest.mark.parametrize(
    ("game", "recipe"),
    [
        ("connect_four", "connect_four"),
        ("othello", "othello"),
        ("othello_6x6", "othello_6x6"),
        ("breakthrough_6x6", "breakthrough"),
        ("hex_5x5", "alphazero_hex"),
        ("go", "alphazero_go"),
        ("tictactoe", "default"),
        ("hex_3x3_swap=1", "alphazero_hex"),
    ],
)
def test_games_of_the_program_have_their_recipe(game, recipe):
    assert way_of_learning(make_game(game))[0] == [f"recipe={recipe}"]


def test_other_games_are_learned_by_value_if_they_are_small_and_else_by_tree_search():
    small, why = way_of_learning(make_game("tests.support.kalah:SmallKalah"))
    assert small == ["recipe=default"]
    assert "positions, so the value of each is learned" in why
    on_a_board, why = way_of_learning(make_game("examples.y:Y"))
    assert on_a_board[0] == "recipe=general"
    assert "more than 50,000 positions, a board, 81 actions" in why
    # Where matches are long, few are played for each position, and level 1 learns from fewer simulations.
    long, _ = way_of_learning(make_game("examples.oware:Oware"))
    assert long[:2] == ["recipe=general", "architecture=alphazero_mlp"]
    assert 1 <= int(long[2].removeprefix("learner.rollouts=")) < 8
    simulations = re.fullmatch(r"learner.self_play='mcts:rollouts\?simulations=(\d+)&temperature=1&.*'", long[3])
    assert 32 <= int(simulations[1]) < 100


def test_where_matches_are_long_fewer_are_played_so_that_they_fit_into_memory():
    small, _ = way_of_learning(make_game("tests.support.long_matches:Single"))
    assert small == ["recipe=default", "matches=2500", "dataset.shard_matches=1250"]
    large, _ = way_of_learning(make_game("tests.support.long_matches:Forced"))
    assert large[0] == "recipe=general"
    assert large[-2:] == ["matches=39", "from_level.2.matches=150"]


def test_level_1_of_a_game_with_long_matches_learns_from_fewer_of_them():
    game = "tests.support.long_matches:Forced"
    settings = compose_settings([*way_of_learning(make_game(game))[0], f"game.name={game}"])
    first, later = settings.at_level(1), settings.at_level(2)
    assert (first.matches, later.matches) == (39, 150)
    assert (first.learner.self_play is None, later.learner.self_play is None) == (False, True)


def test_batches_are_smaller_the_larger_the_board_is(monkeypatch):
    monkeypatch.setattr(chosen_recipe, "MOST_POSITIONS", 10)
    monkeypatch.setattr(chosen_recipe, "_plies_of_random_matches", lambda game: 30)
    game = make_game("tests.support.long_matches:Forced")

    def chosen(most_in_batch):
        monkeypatch.setattr(chosen_recipe, "MOST_IN_BATCH", most_in_batch)
        return [one for one in way_of_learning(game)[0] if one.startswith("learner.batch_size=")]

    assert (chosen(512 * 25), chosen(512 * 25 - 1)) == ([], ["learner.batch_size=256"])
    assert chosen(100 * 25) == ["learner.batch_size=64"]


@pytest.mark.slow
def test_batches_of_a_large_board_are_smaller():
    assert "learner.batch_size=256" in way_of_learning(make_game("tests.support.large_gomoku:LargeGomoku"))[0]


@pytest.mark.parametrize(
    "given",
    [
        ["levels=3"],
        ["game=hex", "recipe=default"],
        ["game=hex", "learner=td"],
        ["game=hex", "architecture=conv"],
    ],
)
def test_commands_that_choose_themselves_or_name_no_game_stay_as_they_are(given, tmp_path):
    given = [*given, f"run_dir={tmp_path}"]
    assert with_chosen_recipe(given) == (given, "")


def test_other_settings_count_for_what_is_chosen(tmp_path):
    given = ["game=hex", "learner.simulations=64", f"run_dir={tmp_path}"]
    assert with_chosen_recipe(given)[0] == ["recipe=alphazero_hex", *given]


def test_a_run_that_was_begun_goes_on_as_it_was_begun(tmp_path):
    command = ["game=connect_four", f"run_dir={tmp_path}"]
    assert with_chosen_recipe(command)[0] == ["recipe=connect_four", *command]
    Manifest(tmp_path).record("run", {"recipe": "default"}, {}, [])
    assert with_chosen_recipe(command) == (command, "")
    assert with_chosen_recipe([*command, "fresh=true"])[0][0] == "recipe=connect_four"


@pytest.mark.slow
def test_the_same_command_resumes_a_run_by_tree_search(tmp_path):
    game = "game=examples.oware:Oware"
    command = [COMMAND, "learn", game, "levels=1", "matches=64", "comparison.matches=2", f"run_dir={tmp_path}"]
    printed = run_forked(*command).stdout
    assert "chose recipe=general architecture=alphazero_mlp learner.rollouts=" in printed
    assert "against tree search with random matches at equal work" in printed
    # Networks compute natively here, so which of the two is better can depend on the processor.
    said = re.search(r"The player strongest of this run is (.*?)\.", " ".join(printed.split()))
    assert said[1] in ("level 1 in tree search", "tree search with random matches")
    agent = (tmp_path / "level_01" / "agent.safetensors").read_bytes()
    assert "level 1: already trained, skipped" in run_forked(*command).stdout
    assert (tmp_path / "level_01" / "agent.safetensors").read_bytes() == agent
