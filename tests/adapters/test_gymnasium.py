"""Our games as environments of Gymnasium, against one of our players."""

import pickle
from typing import Any

import numpy as np
import pytest

from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError, SettingError
from selfplay.runs.folders import RUNS_FOLDER

pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install -e '.[gymnasium]')")
OpponentEnv = pytest.importorskip("selfplay.adapters.gymnasium").OpponentEnv


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("game", "opponent"),
    [("tictactoe", "perfect"), ("connect_four", "random"), ("othello_4x4", "random")],
)
def test_the_environment_passes_the_check_of_gymnasium(game: str, opponent: str) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(OpponentEnv(game, opponent))


@pytest.mark.filterwarnings("ignore")
def test_environments_are_made_by_their_names() -> None:
    import gymnasium

    env = gymnasium.make("selfplay.adapters.gymnasium:selfplay/Tictactoe-v0", opponent="perfect", seat=0)
    env.reset(seed=0)
    _, reward, *_ = env.step(4)
    assert (reward, env.unwrapped.game.name) == (0.0, "tictactoe")
    # The module is imported now, and need not be named.
    assert gymnasium.make("selfplay/Gomoku-v0").unwrapped.game.name == "gomoku"
    larger = gymnasium.make("selfplay/ConnectFour-v0", game="othello_4x4")
    assert (larger.unwrapped.game.name, larger.unwrapped.opponent.name) == ("othello_4x4", "random")


def played(env: Any, seed: int | None = None) -> tuple[str, float]:
    """The last board of a match in which the agent takes the lowest legal action, and its reward."""
    _, info = env.reset(seed=seed)
    is_over, reward = False, 0.0
    while not is_over:
        _, reward, is_over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    return env.render(), reward


def test_a_perfect_opponent_never_loses_and_the_seats_alternate() -> None:
    env = OpponentEnv("tictactoe", "perfect", render_mode="ansi")
    seats = []
    for _ in range(4):
        assert played(env)[1] <= 0
        seats.append(env.seat)
    assert seats == [0, 1, 0, 1]


def test_the_same_seed_gives_the_same_matches() -> None:
    env = OpponentEnv("connect_four", "random", seat=1, render_mode="ansi")
    matches = [played(env, seed=5), played(env), played(env)]
    assert matches == [played(env, seed=5), played(env), played(env)]
    assert matches[0] != matches[1]


def test_an_illegal_action_loses() -> None:
    env = OpponentEnv("tictactoe", seat=0)
    env.reset(seed=1)
    env.step(4)
    _, reward, is_over, _, info = env.step(4)
    assert (reward, is_over, info["illegal"]) == (-1.0, True, True)


def test_a_level_is_looked_for_where_the_commands_write_it() -> None:
    with pytest.raises(SelfPlayError, match=str(RUNS_FOLDER / "othello_4x4")):
        OpponentEnv("othello_4x4", "level:99")


def test_unknown_opponents_and_seats_are_refused() -> None:
    with pytest.raises(SettingError, match="unknown player 'nobody'"):
        OpponentEnv("tictactoe", "nobody")
    with pytest.raises(SettingError, match="seat=2: must be 0, 1 or None"):
        OpponentEnv("tictactoe", seat=2)


def test_an_action_out_of_range_loses_and_the_match_is_then_over() -> None:
    env = OpponentEnv("tictactoe", seat=0)
    for action in (9, -1, 10**30):
        env.reset(seed=1)
        _, reward, is_over, _, info = env.step(action)
        assert (reward, is_over, info["illegal"]) == (-1.0, True, True)
        with pytest.raises(NotNowError, match="no match is being played; call reset first"):
            env.step(4)


def test_a_step_needs_a_match_and_a_whole_number() -> None:
    env = OpponentEnv("tictactoe", seat=0)
    with pytest.raises(NotNowError, match="call reset first"):
        env.step(4)
    env.reset(seed=1)
    for action in (None, 1.5):
        with pytest.raises(IllegalActionError, match=r"is not a whole number; give the number of an action, or its"):
            env.step(action)
    assert env.step(np.int64(4))[1:3] == (0.0, False)


def test_action_masks_are_those_of_the_observation() -> None:
    env = OpponentEnv("othello_4x4", "random", seat=1)
    observation, info = env.reset(seed=2)
    masks = env.action_masks()
    assert (masks.dtype, masks.shape) == (np.bool_, (17,))
    assert masks.tolist() == observation["action_mask"].tolist() == info["action_mask"].tolist()
    assert masks.sum() == 3


@pytest.mark.parametrize(
    "opponent", ["random", "perfect", pytest.param("search:negascout?depth=2", marks=pytest.mark.slow)]
)
def test_an_environment_can_be_pickled_in_the_middle_of_a_match(opponent: str) -> None:
    env = OpponentEnv("tictactoe", opponent, render_mode="ansi")
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    copied = pickle.loads(pickle.dumps(env))
    for one in (env, copied):
        one.step(int(np.flatnonzero(one.action_masks())[0]))
    assert copied.render() == env.render()
    assert played(copied) == played(env)


def test_a_render_mode_that_does_nothing_is_refused() -> None:
    with pytest.raises(SettingError, match="render_mode=human: must be 'ansi', for boards as text, or None"):
        OpponentEnv("tictactoe", render_mode="human")
