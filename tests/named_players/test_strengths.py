"""The strengths that people choose by: a ladder, without repeated matches; and searches that draw among equals."""

from itertools import pairwise
from math import exp

import pytest
import torch

from selfplay import match
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game, State, make_game
from selfplay.grading.versus_rollouts import MOST_OF_MEMORY, allowed_in_reply, rollouts_in_reply
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import NOTICES, STRENGTHS, judge_name, offered_strengths, strengths
from selfplay.players.player import Player
from selfplay.players.tempered import FLOOR
from selfplay.search.mcts import tree_search

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


@pytest.mark.parametrize(("game", "has_proofs"), [("hex", True), ("go_7x7", False)])
def test_the_best_strengths_prove_results_where_players_cannot_pass(game: str, has_proofs: bool) -> None:
    found = strengths(make_game(game))
    with_proofs = [name for name, strength in found.items() if "&proof_positions=" in strength.player]
    assert with_proofs == (["hard", "strongest"] if has_proofs else [])


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


@pytest.mark.slow
@pytest.mark.parametrize(("game", "matches"), [("tictactoe", 200), ("connect_four", 20)])
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


def visits(player: Player, game: Game) -> list[float]:
    """Of each action at the start."""
    valued = player.value_actions(game.init())
    assert valued is not None
    assert valued.visits is not None
    return [float(one) for one in valued.visits[0]]


def test_searches_by_rollouts_use_uct_unless_another_rule_is_given_and_those_by_networks_puct() -> None:
    for name, usual, other in (("rollouts", "uct", "puct"), ("pretrained", "puct", "uct")):
        game = make_game("tictactoe" if name == "rollouts" else "hex")
        players = [
            make_player(f"mcts:{name}?simulations=60{rule}", game) for rule in ("", f"&rule={usual}", f"&rule={other}")
        ]
        without, with_usual, with_other = (visits(player, game) for player in players)
        assert without == with_usual != with_other


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


@pytest.mark.parametrize(
    "name",
    [
        *("tictactoe", "connect_four", "dots_and_boxes"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("hex_11x11", "gomoku_15x15")),
    ],
)
def test_hard_is_offered_where_something_was_learned_or_measured_or_is_known(name: str) -> None:
    assert tuple(offered_strengths(make_game(name))) == STRENGTHS


def test_hard_is_not_offered_where_nothing_is_known() -> None:
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


@pytest.mark.parametrize(
    ("game", "hard", "strongest", "judge"),
    [
        ("sumto100", "none&depth=8", "perfect", "mcts:rollouts?simulations="),
        ("connect_four", "pretrained&depth=3", "perfect", "depth=5&table_bits=14&evaluation=pretrained"),
        ("othello", "depth=9&probcut=1.0&endgame=14", "depth=10&probcut=1.0&endgame=14&slack=0.01", "pretrained"),
        ("dots_and_boxes", "boxes&depth=5", "boxes&depth=6&slack=0.01", "mcts:rollouts?simulations="),
        (
            "breakthrough_8x8",
            "pretrained&depth=4",
            "pretrained&depth=5&slack=0.01",
            "depth=5&table_bits=14&evaluation=",
        ),
        ("hex_5x5", *["mcts:rollouts?simulations="] * 3),
        ("hex", "mcts:pretrained?simulations=100", "simulations=400", "mcts:pretrained?simulations=100"),
        ("hex_11x11", "mcts:pretrained?simulations=400", "simulations=2000", "mcts:pretrained?simulations=100"),
    ],
)
def test_the_players_of_the_strengths_in_games_of_each_kind(game: str, hard: str, strongest: str, judge: str) -> None:
    made = make_game(game)
    found = strengths(made)
    assert hard in found["hard"].player
    assert strongest in found["strongest"].player
    assert judge in judge_name(made)[0]


def test_values_have_a_unit_only_if_they_are_predicted_points() -> None:
    units = {"pretrained": 64, "search:negascout?depth=2&evaluation=pretrained": 64, "greedy_discs": None}
    units["search:negascout?depth=1&evaluation=article"] = None
    game = make_game("othello")
    assert {name: make_player(name, game).points_per_value for name in units} == units


def test_in_a_game_of_ones_own_the_strengths_are_the_level_that_is_better_than_random_matches(tmp_path):
    game, level = make_game("tests.support.kalah:Kalah"), tmp_path / "level_02"
    without = strengths(game, tmp_path)
    assert without == strengths(game)
    assert without["strongest"].player.startswith("mcts:rollouts?")
    level.mkdir()
    table = level / "versus_rollouts.csv"
    table.write_text("level,simulations,rollouts,score\n2,150,1400,0.45\n")
    assert strengths(game, tmp_path) == without
    table.write_text("level,simulations,rollouts,score\n2,150,1400,0.55\n")
    reply = allowed_in_reply(game, 150 * rollouts_in_reply(game) // 1400)
    assert strengths(game, tmp_path)["strongest"].player == f"mcts:level:2?simulations={reply}"
    assert strengths(game, tmp_path)["hard"].player == "mcts:level:2?simulations=150"
    assert strengths(make_game("connect_four"), tmp_path) == strengths(make_game("connect_four"))


def test_in_a_game_with_many_actions_the_strongest_searches_a_tree_that_fits_into_memory(tmp_path, monkeypatch):
    game, level = make_game("tests.support.kalah:Kalah"), tmp_path / "level_01"
    monkeypatch.setattr(tree_search, "LARGEST_TREE", 1 << 18)
    most = tree_search.most_simulations(game)
    assert 100 < most < 2000
    most //= MOST_OF_MEMORY
    assert strengths(game)["strongest"].player == f"mcts:rollouts?simulations={most}"
    level.mkdir()
    (level / "versus_rollouts.csv").write_text(f"level,simulations,rollouts,score\n1,{most},{most},1.0\n")
    assert strengths(game, tmp_path)["strongest"].player == f"mcts:level:1?simulations={most}"
