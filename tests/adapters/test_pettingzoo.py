"""Our games as environments of PettingZoo."""

import pytest

from selfplay.errors import IllegalActionError

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed (pip install -e '.[pettingzoo]')")
BoardGameEnv = pytest.importorskip("selfplay.adapters.pettingzoo").BoardGameEnv

GAMES = ["tictactoe", "sumto100", "connect_four", "othello_4x4", "tests.support.pile:Pile"]


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
