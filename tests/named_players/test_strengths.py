"""The strengths that people choose by: a ladder, without repeated matches; and searches that draw among equals."""

import pytest
import torch

from selfplay import match
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import State, make_game
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import STRENGTHS, strengths

KEY = stream_key(0, 0, Activity.VERSUS_PERSON)
SEARCH = "search:negascout?slack=0"


def first_actions(name: str, game: str, matches: int = 200) -> set[int]:
    played = make_player(name, game)
    state = make_game(game).init(matches)
    return set(played.act(state, Draws(KEY, torch.arange(matches), 0)).tolist())


@pytest.mark.parametrize("game", ["tictactoe", "connect_four", pytest.param("sumto100", marks=pytest.mark.slow)])
def test_equal_actions_are_drawn_by_the_random_numbers_of_the_match(game: str) -> None:
    count = make_game(game).num_distinct_actions
    assert first_actions(f"{SEARCH}&depth=1", game) == set(range(count))
    # Without slack, the lowest.
    assert first_actions("search:negascout?depth=1", game) == {0}
    player, state = make_player("easy", game), make_game(game).init()
    one, again = (player.act(state, Draws(KEY, torch.tensor([5]), 0)) for _ in range(2))
    assert int(one) == int(again)


@pytest.mark.parametrize(
    ("name", "opening", "strength"),
    [
        ("connect_four", ["1", "2"], "easy"),
        *(pytest.param("connect_four", ["1", "2"], one, marks=pytest.mark.slow) for one in STRENGTHS if one != "easy"),
        pytest.param("gomoku", ["e5", "d5"], "hard", marks=pytest.mark.slow),
    ],
)
def test_no_strength_repeats_its_matches(name: str, opening: list[str], strength: str) -> None:
    game = make_game(name)
    state = State(*(torch.cat([field] * 30) for field in game.state_after(opening)))
    actions = make_player(strength, game).act(state, Draws(KEY, torch.arange(30), 2))
    assert len(set(actions.tolist())) > 1


def test_the_soonest_win_and_the_latest_loss_are_taken() -> None:
    game = make_game("tictactoe")
    player = make_player(f"{SEARCH}&depth=5", game)
    # X . .   X wins at once by 2,2 only, and two plies later by other actions.
    # O X .
    # O . .
    state = game.state_after(["0,0", "1,0", "1,1", "2,0"])
    assert player.policy(state)[0].nonzero()[:, 0].tolist() == [8]
    # O loses whatever it does, but later if it takes 2,2.
    state = game.state_after(["0,0", "1,0", "1,1"])
    assert player.policy(state)[0].nonzero()[:, 0].tolist() == [8]


def test_actions_within_the_slack_are_equally_likely() -> None:
    game = make_game("connect_four")
    state = game.state_after(["4", "4"])
    values = make_player("pretrained", game).action_values(state)[0]
    best = values.nan_to_num(nan=-1).max()
    for slack in (0.0, 0.02, 2.0):
        player = make_player(f"search:negascout?depth=1&evaluation=pretrained&slack={slack}", game)
        policy = player.policy(state)[0]
        assert torch.equal(policy > 0, values >= best - slack)
        assert len(set(policy[policy > 0].tolist())) == 1
    with pytest.raises(SettingError, match="slack"):
        make_player(f"{SEARCH[:-1]}-1", game)


@pytest.mark.parametrize("game", ["tictactoe", "connect_four"])
def test_each_strength_beats_the_next_below_and_easy_loses_to_a_careful_beginner(game: str) -> None:
    """`python benchmarks/strengths.py` measures all games, in more matches."""
    beginner = f"{SEARCH}&depth=2"
    for better, worse in ((beginner, "easy"), ("medium", "easy"), ("hard", "medium")):
        assert match(better, worse, game=game, matches=60, opening_plies=0).score > 0.6
    if game == "tictactoe":
        assert match("hard", "perfect", game=game, matches=60, opening_plies=0).losses == 0


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["e5 a1 e6 a9 e7 i1 e4 e3", "e3 e5 a9 e6 i1 e7 i9 e4"])
def test_easy_wins_at_once_and_blocks_a_four_three_times_out_of_four(moves: str) -> None:
    """A four, of black and of white, is closed at one end, so that one action of black wins or blocks."""
    game = make_game("gomoku")
    state = State(*(torch.cat([field] * 200) for field in game.state_after(moves.split())))
    actions = make_player("easy", game).act(state, Draws(KEY, torch.arange(200), 8))
    assert 0.65 < float((actions == game.string_to_action("e8")).float().mean()) < 0.9


def test_strengths_of_a_game_of_any_size() -> None:
    assert "mcts" in strengths(make_game("hex"))["hard"]
    assert "evaluation=discs" in strengths(make_game("othello_6x6"))["easy"]
    for size in (3, 5):
        found = strengths(make_game("dots_and_boxes", size))
        assert all("evaluation=boxes" in found[strength] for strength in STRENGTHS)


def test_values_have_a_unit_only_if_they_are_predicted_points() -> None:
    units = {"pretrained": 64, "search:negascout?depth=2&evaluation=pretrained": 64, "greedy_discs": None}
    units["search:negascout?depth=1&evaluation=article"] = None
    game = make_game("othello")
    assert {name: make_player(name, game).points_per_value for name in units} == units
