"""Our games as environments of PettingZoo."""

import pickle

import numpy as np
import pytest

from selfplay.errors import IllegalActionError, NotNowError, SettingError
from selfplay.games import game_names, make_game
from tests.support.games import with_slow_boards

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed (pip install -e '.[pettingzoo]')")
BoardGameEnv = pytest.importorskip("selfplay.adapters.pettingzoo").BoardGameEnv

GAMES = ["tictactoe", "sumto100", "connect_four", "othello_4x4", "breakthrough", "tests.support.pile:Pile"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("game", GAMES)
def test_every_game_passes_the_test_of_pettingzoo(game: str) -> None:
    from pettingzoo.test import api_test

    api_test(BoardGameEnv(game), num_cycles=100, verbose_progress=False)


def test_agents_see_their_own_stones_first_and_the_winner_is_rewarded() -> None:
    env = BoardGameEnv("tictactoe", render_mode="ansi")
    env.reset()
    for action in (0, 3, 1, 4):
        env.step(action)
    assert env.agent_selection == "player_0"
    seen = env.observe("player_0")
    assert seen["observation"][0].ravel().tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert seen["observation"][1].ravel().tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0]
    assert seen["action_mask"].tolist() == [0, 0, 1, 0, 0, 1, 1, 1, 1]
    waiting = env.observe("player_1")
    assert waiting["observation"][0].ravel().tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0]
    assert not waiting["action_mask"].any()
    with pytest.raises(IllegalActionError):
        env.step(0)
    env.step(2)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.render().splitlines()[0] == "X X X"


@pytest.mark.parametrize(
    "game", with_slow_boards(name for name in game_names() if make_game(name).num_squares is not None)
)
def test_channel_0_has_the_stones_of_the_agent_in_every_game(game: str) -> None:
    env = BoardGameEnv(game)
    env.reset()
    for _ in range(5):
        for player, agent in enumerate(env.possible_agents):
            own, other = env.observe(agent)["observation"][:2].reshape(2, -1).astype(np.int8)
            stones = env.game.squares(env.state_of_match)[0].numpy()
            assert (own - other).tolist() == (stones if player == 0 else -stones).tolist()
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))


def test_an_agent_whose_match_goes_on_must_give_an_action_of_the_game() -> None:
    env = BoardGameEnv("connect_four", render_mode="ansi")
    env.reset()
    before = env.render()
    for action, message in (
        (None, "action None is not a whole number; give the number of an action, or its text"),
        (1.5, "action 1.5 is not a whole number; give the number of an action, or its text"),
        (-1, "action -1 does not exist; actions are 0 to 6"),
        (10**30, f"action {10**30} does not exist; actions are 0 to 6"),
    ):
        with pytest.raises(IllegalActionError) as caught:
            env.step(action)
        assert str(caught.value) == message
    assert (env.render(), env.agent_selection) == (before, "player_0")


def test_a_step_needs_a_match() -> None:
    env = BoardGameEnv("tictactoe")
    with pytest.raises(NotNowError, match="no match is being played; call reset first"):
        env.step(4)
    env.reset()
    env.step(4)


def test_an_environment_can_be_pickled_in_the_middle_of_a_match() -> None:
    env = BoardGameEnv("tictactoe", render_mode="ansi")
    env.reset()
    env.step(4)
    copied = pickle.loads(pickle.dumps(env))
    copied.step(0)
    assert copied.render().splitlines() == ["O . .", ". X .", ". . ."]
    assert env.render().splitlines() == [". . .", ". X .", ". . ."]


def test_a_render_mode_that_does_nothing_is_refused() -> None:
    with pytest.raises(SettingError, match="render_mode=human: must be 'ansi', for boards as text, or None"):
        BoardGameEnv("tictactoe", render_mode="human")
