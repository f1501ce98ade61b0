"""OpenSpiel: its games against ours, our players as its bots, its bots as our players."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import NotNowError, SettingError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.named_players.make import make_player
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.play_matches import play_match_series

MATCHES = 100


@pytest.mark.skipif(find_spec("pyspiel") is not None, reason="open_spiel is installed")
def test_without_the_package_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"player 'openspiel:mcts' needs the package pyspiel, .*\[openspiel\]"):
        make_player("openspiel:mcts", make_game("tictactoe"), tmp_path)


@pytest.fixture
def pyspiel():
    return pytest.importorskip("pyspiel", reason="open_spiel is not installed (pip install -e '.[openspiel]')")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("tictactoe", "tictactoe_4x4", "connect_four", "othello", "hex_5x5", "gomoku"),
        *("breakthrough_6x6", "breakthrough_8x8", "nine_mens_morris"),
        *("dots_and_boxes", "dots_and_boxes_4x4", "dots_and_boxes_5x5"),
    ],
)
def test_its_games_and_ours_agree_move_for_move(pyspiel, name: str) -> None:
    from selfplay.adapters.open_spiel import our_action, spiel_action, spiel_game

    game, theirs = make_game(name), spiel_game(make_game(name))
    key, match, state = stream_key(0, 0, Activity.MEASUREMENT), torch.arange(MATCHES), game.init(MATCHES)
    positions = [theirs.new_initial_state() for _ in range(MATCHES)]
    for ply in range(game.max_game_length + 1):
        masks = game.legal_action_mask(state)
        actions = game.kernels.random_actions(state, Draws(key, match, ply))
        for row, position in enumerate(positions):
            assert position.is_terminal() == bool(state.terminated[row])
            if position.is_terminal():
                assert position.returns() == [float(state.returns[row]), -float(state.returns[row])]
                continue
            assert position.current_player() == int(state.current_player[row])
            legal = sorted(our_action(game, action) for action in position.legal_actions())
            assert legal == masks[row].nonzero()[:, 0].tolist(), position
            position.apply_action(spiel_action(game, position, int(actions[row])))
        state = game.step(state, actions)
    assert all(position.is_terminal() for position in positions)


@pytest.mark.slow
def test_a_perfect_player_as_a_bot_never_loses_to_its_search(pyspiel) -> None:
    import numpy as np
    from open_spiel.python.algorithms import evaluate_bots

    from selfplay.adapters.open_spiel import PlayerBot

    game = pyspiel.load_game("tic_tac_toe")
    for seat in range(2):
        bots = [pyspiel.make_uniform_random_bot(player, 1) for player in range(2)]
        bots[seat] = PlayerBot("tictactoe", "perfect")
        for match in range(10):
            returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(match))
            assert returns[seat] >= 0


def test_its_bots_play_series_of_matches(pyspiel, tmp_path: Path) -> None:
    overrides = ["first='openspiel:mcts?simulations=200'", "second=openspiel:random", "matches=10"]
    results = play_match_series(compose_settings_of(MatchSettings, "matches", [*overrides, f"run_dir={tmp_path}"]))
    assert results.by_player.wins >= 8


def test_a_bot_plays_where_the_actions_have_other_numbers(pyspiel) -> None:
    from selfplay.adapters.open_spiel import PlayerBot, SpielPlayer, our_action

    game = make_game("breakthrough_6x6")
    bot, position = PlayerBot(game, "random"), pyspiel.load_game("breakthrough(rows=6,columns=6)").new_initial_state()
    actions = []
    while not position.is_terminal():
        action = bot.step(position)
        actions.append(our_action(game, action))
        position.apply_action(action)
    ours = game.follow(actions)
    assert ours.terminated.all()
    assert position.returns()[0] == float(ours.returns)
    # One ply before its end, a search finds the winning move.
    player = SpielPlayer(game, "mcts", simulations=200)
    player.follow(Match(game).play_all(actions[:-1]))
    before = game.follow(actions[:-1])
    won = game.step(before, player.act(before, Draws(0, torch.tensor([0]), 0)))
    assert won.terminated.all()


def test_games_and_bots_that_it_does_not_have_are_refused(pyspiel, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="game=sumto100: OpenSpiel does not have it; it has tictactoe"):
        make_player("openspiel:mcts", make_game("sumto100"), tmp_path)
    with pytest.raises(SettingError, match="game=gomoku_exact=1: OpenSpiel has gomoku, but not with exact=1"):
        make_player("openspiel:mcts", make_game("gomoku", exact=True), tmp_path)
    with pytest.raises(SettingError, match=r"game=breakthrough: OpenSpiel does not have it; .* breakthrough_6x6"):
        make_player("openspiel:mcts", make_game("breakthrough"), tmp_path)
    with pytest.raises(SettingError, match="write openspiel:mcts or openspiel:random"):
        make_player("openspiel:alphazero", make_game("tictactoe"), tmp_path)


@pytest.mark.parametrize(
    "player", ["tests.support.stub_players:FirstLegal", pytest.param("pretrained", marks=pytest.mark.slow)]
)
def test_a_bot_refuses_positions_of_other_games_other_boards_and_finished_matches(pyspiel, player: str) -> None:
    from selfplay.adapters.open_spiel import PlayerBot

    bot = PlayerBot("connect_four", player)
    own = "this bot plays connect_four(columns=7, rows=6, x_in_row=4)"
    for name, theirs in (
        ("connect_four(rows=5,columns=5)", "connect_four(columns=5, rows=5, x_in_row=4)"),
        ("connect_four(x_in_row=3)", "connect_four(columns=7, rows=6, x_in_row=3)"),
        ("tic_tac_toe", "tic_tac_toe()"),
    ):
        with pytest.raises(SettingError) as caught:
            bot.step(pyspiel.load_game(name).new_initial_state())
        assert str(caught.value) == f"the position is of {theirs}; {own}"
    same = pyspiel.load_game("connect_four(rows=6,columns=7,egocentric_obs_tensor=true)").new_initial_state()
    assert bot.step(same) in same.legal_actions()
    for action in (0, 1, 0, 1, 0, 1):
        same.apply_action(action)
    assert bot.step(same) == 0
    set_up = pyspiel.load_game("connect_four").new_initial_state(same.to_json())
    with pytest.raises(SettingError, match="the position did not begin at the start of the game"):
        bot.step(set_up)
    same.apply_action(0)
    with pytest.raises(NotNowError, match="the match is over; give the bot another position"):
        bot.step(same)
