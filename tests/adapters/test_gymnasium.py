"""Our games as environments of Gymnasium, against one of our players."""

from typing import Any

import numpy as np
import pytest

from selfplay.errors import SelfPlayError, SettingError
from selfplay.settings.folders import RUNS_FOLDER

pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install -e '.[gymnasium]')")
OpponentEnv = pytest.importorskip("selfplay.adapters.gymnasium").OpponentEnv


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("game", "opponent"),
    [("tictactoe", "perfect"), ("connect_four", "random"), ("othello_6x6", "search:alpha_beta?depth=2")],
)
def test_the_environment_passes_the_check_of_gymnasium(game: str, opponent: str) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(OpponentEnv(game, opponent))


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
