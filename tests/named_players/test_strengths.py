"""The strengths that people choose by: a ladder, without repeated matches; and searches that draw among equals."""

from itertools import pairwise
from math import exp

import pytest
import torch

from selfplay import match
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import State, make_game
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import NOTICES, STRENGTHS, offered_strengths, strengths
from selfplay.players.tempered import FLOOR

KEY = stream_key(0, 0, Activity.VERSUS_PERSON)
SEARCH = "search:negascout?slack=0"


def first_actions(name: str, game: str, matches: int = 200) -> set[int]:
    played = make_player(name, game)
    state = make_game(game).init(matches)
    return set(played.act(state, Draws(KEY, torch.arange(matches), 0)).tolist())


@pytest.mark.parametrize(
    "game", ["tictactoe", *(pytest.param(name, marks=pytest.mark.slow) for name in ("connect_four", "sumto100"))]
)
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
        ("tictactoe", ["0,0"], "easy"),
        pytest.param("connect_four", ["1", "2"], "hard", marks=pytest.mark.slow),
        pytest.param("gomoku", ["e5", "f6"], "strongest", marks=pytest.mark.slow),
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


@pytest.mark.parametrize(
    ("game", "matches"), [("tictactoe", 200), pytest.param("connect_four", 20, marks=pytest.mark.slow)]
)
def test_each_strength_beats_the_next_below_but_not_always(game: str, matches: int) -> None:
    """`python benchmarks/strengths.py` measures all games, in more matches."""
    for worse, better in pairwise(STRENGTHS):
        assert 0.5 < match(better, worse, game=game, matches=matches, opening_plies=0).score < 0.9
    assert match("strongest", "perfect", game=game, matches=10, opening_plies=0).score == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["e5 a1 e6 a9 e7 i1 e4 e3", "e3 e5 a9 e6 i1 e7 i9 e4"])
def test_easy_wins_at_once_and_blocks_a_four_at_least_three_times_out_of_four(moves: str) -> None:
    """A four, of black and of white, is closed at one end, so that one action of black wins or blocks."""
    game = make_game("gomoku")
    state = State(*(torch.cat([field] * 60) for field in game.state_after(moves.split())))
    actions = make_player("easy", game).act(state, Draws(KEY, torch.arange(60), 8))
    assert float((actions == game.string_to_action("e8")).float().mean()) > 0.65


def policy_of_strength(name: str, game: str, moves: str) -> dict[str, float]:
    made = make_game(game)
    policy = make_player(name, made).policy(made.state_after(moves.split()))
    assert policy is not None
    return {made.action_to_string(action): share for action, share in enumerate(policy[0].tolist()) if share > 0}


@pytest.mark.parametrize(("strength", "notices"), NOTICES.items())
def test_a_win_at_once_is_seen_as_often_as_the_strength_says(strength: str, notices: float) -> None:
    # X . .   At this temperature all legal actions are otherwise equally likely.
    # O X .
    # O . .
    policy = policy_of_strength(f"{strength}?temperature=1000", "tictactoe", "0,0 1,0 1,1 2,0")
    assert policy["2,2"] == pytest.approx(notices + (1 - notices) / 5, abs=0.001)


@pytest.mark.parametrize(("temperature", "drawn"), [(0.5, 8), (0.05, 4)])
def test_actions_are_drawn_by_their_values_but_not_bad_ones(temperature: float, drawn: int) -> None:
    # O draws in the corners and loses elsewhere.
    game = make_game("tictactoe")
    state = game.state_after(["1,1"])
    player = make_player(f"hard?temperature={temperature}", game)
    values, policy = player.action_values(state), player.policy(state)
    assert values is not None
    assert policy is not None
    expected = ((values.double() - values.nan_to_num(nan=-1).max()) / temperature).exp()[0].nan_to_num(nan=0)
    expected[expected < exp(-FLOOR)] = 0
    assert torch.allclose(policy[0], expected / expected.sum(), atol=1e-6)
    assert int((policy > 0).sum()) == drawn


def test_temperatures_must_be_above_0() -> None:
    game = make_game("tictactoe")
    for refused in ("-1", "0"):
        with pytest.raises(SettingError, match="temperature"):
            make_player(f"hard?temperature={refused}", game)


@pytest.mark.slow
@pytest.mark.parametrize("strength", ["beginner", "strongest"])
def test_strengths_in_go_do_not_fill_their_own_eyes(strength: str) -> None:
    # The black corner has two eyes; white has played elsewhere.
    game = make_game("go_7x7")
    moves = ["A2", "E5", "B2", "E4", "C2", "D5", "C1", "D4", "B1", "C5", "A3", "C4"]
    state = State(*(torch.cat([field] * 100) for field in game.state_after(moves)))
    legal = game.legal_action_mask(state)[0]
    eye = game.string_to_action("A1")
    assert legal[eye]
    actions = make_player(f"{strength}?temperature=100", game).act(state, Draws(KEY, torch.arange(100), len(moves)))
    assert eye not in actions.tolist()
    assert len(set(actions.tolist())) > 3


def test_hard_is_offered_where_something_was_learned_or_measured_or_is_known() -> None:
    for name in ("tictactoe", "connect_four", "dots_and_boxes", "hex_11x11", "gomoku_15x15"):
        assert tuple(offered_strengths(make_game(name))) == STRENGTHS
    assert tuple(offered_strengths(make_game("tictactoe_4x4"))) == ("beginner", "easy", "medium", "strongest")


def test_strengths_play_near_stones_in_gomoku() -> None:
    game = make_game("gomoku")
    near = game.sensible_action_mask(game.state_after(["a1"]))[0].nonzero()[:, 0].tolist()
    assert set(near) == set(map(game.string_to_action, ["a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"]))
    assert bool(game.sensible_action_mask(game.init()).all()), "no crossing is near a stone"


def test_strengths_of_a_game_of_any_size() -> None:
    assert "rollouts" in strengths(make_game("hex_5x5"))["hard"].player
    for game in (make_game("dots_and_boxes", 3), make_game("dots_and_boxes", 5)):
        found = strengths(game)
        assert all("evaluation=boxes" in found[strength].player for strength in STRENGTHS)


def test_values_have_a_unit_only_if_they_are_predicted_points() -> None:
    units = {"pretrained": 64, "search:negascout?depth=2&evaluation=pretrained": 64, "greedy_discs": None}
    units["search:negascout?depth=1&evaluation=article"] = None
    game = make_game("othello")
    assert {name: make_player(name, game).points_per_value for name in units} == units
