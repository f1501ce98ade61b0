"""The agents that come with the program."""

from pathlib import Path

import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.named_players.make import files_of_player, make_player
from selfplay.players.pretrained import pretrained_agent, pretrained_agents
from selfplay.playing.open_session import open_session
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings

DRAWS = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.arange(1), 0)
GAMES = sorted(pretrained_agents())
NAMES = ["pretrained", "search:negascout?depth=3&evaluation=pretrained", "mcts:pretrained?simulations=20"]


def test_larger_games_have_one() -> None:
    assert set(GAMES) == {"connect_four", "go_7x7", "gomoku", "othello"}


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_it_plays_like_the_level_of_its_run(name: str, tmp_path: Path) -> None:
    game = "connect_four"
    state, run_dir = make_game(game).init(), pretrained_agent(game).parent.parent
    level = RunFolder(run_dir).newest_level()
    same = name.replace("pretrained", f"level:{level}")
    players = [make_player(text, make_game(game), folder) for text, folder in ((name, tmp_path), (same, run_dir))]
    actions = [player.act(state, DRAWS) for player in players]
    assert torch.equal(*actions)
    assert pretrained_agent(game) in files_of_player(name, tmp_path)


def test_it_beats_the_random_player() -> None:
    game = make_game("connect_four")
    player, other = make_player("pretrained", game, ""), make_player("random", game, "")
    wins = 0
    for match in range(10):
        state, ply = game.init(), 0
        while not bool(state.terminated[0]):
            draws = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.tensor([match]), ply)
            state, ply = game.step(state, (player, other)[ply % 2].act(state, draws)), ply + 1
        wins += int(state.returns[0] > 0)
    assert wins >= 9


def test_a_game_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"^no pretrained agent for game=tictactoe; games with one: connect_four, g"):
        make_player("pretrained", make_game("tictactoe"), tmp_path)


def test_a_person_without_a_run_meets_it(tmp_path: Path) -> None:
    settings = compose_settings_of(PlaySettings, "play", ["game=connect_four", f"run_dir={tmp_path / 'none'}"])
    _, opponent = open_session(settings).players
    assert opponent is not None
    assert opponent.name == "pretrained"


def test_an_agent_with_a_policy_plays_inside_a_tree_search(tmp_path: Path) -> None:
    game = make_game("gomoku")
    settings = compose_settings_of(PlaySettings, "play", ["game=gomoku", f"run_dir={tmp_path / 'none'}"])
    _, opponent = open_session(settings).players
    assert opponent is not None
    assert opponent.name == "mcts:pretrained"
    # Black has four in a row with one end open, and takes it; White closes it where White is to move.
    moves = ["e5", "e9", "e6", "a1", "e7", "b1", "e8", "e4"]
    assert game.action_to_string(int(opponent.act(game.state_after(moves[:7]), DRAWS))) == "e4"
    moves = ["e5", "e9", "e6", "a1", "e7", "b1", "e8", "i1"]
    assert game.action_to_string(int(opponent.act(game.state_after(moves), DRAWS))) == "e4"
