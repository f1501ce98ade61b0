"""Comparing levels: which players meet, and the ratings of all of them."""

from selfplay.games import make_game
from selfplay.grading.comparison_schedule import name_of, reference_names, schedule, spaced_levels
from selfplay.settings.sections import ComparisonSettings

CONNECT_FOUR, OTHELLO = make_game("connect_four"), make_game("othello")


def test_references_depend_on_what_the_game_supports() -> None:
    searches = [f"search:negascout?depth={depth}&evaluation=article" for depth in range(1, 7)]
    assert reference_names(make_game("othello"), None) == ["greedy_discs", *searches]
    plain = [f"search:negascout?depth={depth}&evaluation=none" for depth in (2, 4, 6)]
    assert reference_names(CONNECT_FOUR, None) == plain
    assert reference_names(OTHELLO, ["random", "greedy_discs", "greedy_discs"]) == ["greedy_discs"]


def test_ten_levels_or_those_at_an_interval_play_the_references() -> None:
    assert spaced_levels(range(1, 8), None) == list(range(1, 8))
    assert spaced_levels(range(1, 25), None) == [1, 4, 6, 9, 11, 14, 16, 19, 21, 24]
    assert spaced_levels(range(1, 25), 10) == [1, 4, 14, 24]
    assert spaced_levels([3], 5) == spaced_levels([3], None) == [3]


def test_each_pair_plays_once() -> None:
    pairs = schedule([1, 2, 3], ["weak", "strong"], ComparisonSettings(matches=50, every=2, earlier_matches=20))
    assert pairs == {
        **{(1, 0): 50, (2, 1): 50, (2, 0): 50, (3, 2): 50, (3, 0): 50},
        **{(1, "weak"): 20, (1, "strong"): 20, (3, "weak"): 50, (3, "strong"): 50},
        **{(3, 1): 50, ("strong", "weak"): 20, ("weak", 0): 20},
    }
    assert [name_of(who) for who in (0, 3, "weak")] == ["random", "level:3", "weak"]
