"""What check_game says of attributes, rules and points that are wrong: which, where, and what is right."""

import inspect
import re

import pytest

from selfplay.compute.bit_algebra import bit_count, rule
from selfplay.errors import ConformanceError, SettingError, line_of
from selfplay.games.conformance import check_game, check_quickly
from selfplay.games.outcomes import disc_difference
from tests.support import pile
from tests.support.pile import Pile

TABLE, RESULTS = {0: 0}, [-1, 1]


@rule
def difference(own, opp):
    return own - opp


@rule
def reversed_difference(own, opp):
    return opp - own


@rule
def sign_of_difference(own, opp):
    return (difference(own, opp) > 0) * 2 - 1


@rule
def legal_below(own, opp):
    return pile.legal_actions(own, own) * (own - opp <= 0)


@rule
def looks_up(own, opp):
    return RESULTS[own]


@rule
def calls_one_that_looks_up(own, opp):
    return looks_up(own, opp)


@rule
def asks_a_dictionary(own, opp):
    return difference(own, opp) + TABLE.get(0, 0)


@rule
def gives_nothing(own, opp):
    bit_count(own & opp)


@rule
def halves(own, opp):
    return (own > opp) * 0.5


@rule
def counts(own, opp, index):
    return own * (index < 4) + opp * (index >= 4)


@rule
def shows_no_bit(own, opp, index):
    return pile.observation_entry(own, opp, index) * (index != 5)


@rule
def shows_both(own, opp, index):
    return ((own | opp) >> index) & 1


@rule
def hides_the_lowest(own, opp, index):
    return pile.observation_entry(own, opp, index | 1)


def with_rules(**changes):
    """A game like the pile of coins but for these rules."""
    return with_attributes(rules=Pile.rules._replace(**changes))


def with_attributes(**changes):
    return type("Changed", (Pile,), {"__module__": __name__, **changes})


ON_BOARD = {"rules": Pile.rules._replace(margin=difference), "observation_shape": (2, 1, 4)}

WRONG_POINTS = [
    (
        with_rules(margin=reversed_difference),
        "the player to move has (won|lost) a match with a lead of -?[1-7] points; the sign",
    ),
    (
        with_rules(return_to_move=sign_of_difference),
        "it compares -[1-7] as a word, .*; compare the two words with each",
    ),
    (
        with_attributes(**ON_BOARD, most_points=0),
        "a match is won by 1 points, but .* give 0 at most; set most_points",
    ),
]
WRONG_RULES = [
    (with_rules(legal_actions=legal_below), "it compares -[12] as a word, and words have no sign"),
    (with_rules(legal_actions=gives_nothing), "legal_actions gives None where it must give a word"),
    (with_rules(return_to_move=halves), "return_to_move gives a fraction where it must give a whole number"),
    (with_rules(margin=halves), "margin gives a fraction where it must give a whole number"),
    (with_rules(is_terminal=difference), "is_terminal gives a word where it must give a comparison"),
    (with_rules(legal_actions=None), "rules.legal_actions is None, where it must be a function"),
    (with_rules(initial=(0.5, 0)), r"rules.initial is \(0.5, 0\), where it must be two whole numbers"),
    (with_attributes(rules=None), r"rules is None, where it must be Rules\(...\)"),
    (with_attributes(num_distinct_actions=3.0), "num_distinct_actions is 3.0, where it must be a whole number from 1"),
    (with_attributes(observation_shape=8), "observation_shape is 8, where it must be a tuple of whole numbers"),
    (with_attributes(pass_action=3), "pass_action is 3, but actions are from 0 to 2"),
]
WRONG_OBSERVATIONS = [
    (with_rules(observation_entry=counts), "observation_entry gives [2-7] for entry [04], where it must give 0 or 1"),
    (with_rules(observation_entry=hides_the_lowest), "the observation does not show bit 0 of (own|opp)"),
]
WRONG_TEXTS = [(with_attributes(action_to_string=lambda self, action: action), "action_to_string gives 0 for action 0")]

WRONG = [
    (subject, game, message)
    for subject, games in {
        "points": WRONG_POINTS, "rules": WRONG_RULES, "observation": WRONG_OBSERVATIONS, "texts": WRONG_TEXTS
    }.items()
    for game, message in games
]  # fmt: skip


@pytest.mark.parametrize(("subject", "game", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_the_quick_check_names_what_is_wrong_and_what_is_right(subject, game, message):
    with pytest.raises(ConformanceError, match=f"^pile: {subject}: {message}") as caught:
        check_quickly(game())
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("entry", "shown"),
    [(shows_no_bit, "entry 5 .* shows no bit"), (shows_both, "entry 0 .* shows bit 0 of both words")],
)
def test_an_entry_that_shows_not_one_bit_is_named(entry, shown):
    with pytest.raises(SettingError, match=shown):
        _ = with_rules(observation_entry=entry)().observation_codec


def test_points_that_agree_with_the_results_are_accepted():
    for game in (with_rules(margin=difference), with_attributes(**ON_BOARD, most_points=7)):
        check_quickly(game())


def line_in(function):
    return inspect.getsourcelines(function)[1] + 2


def test_an_error_in_a_rule_names_its_file_the_rule_and_the_line():
    place = re.escape(f"({__file__}, line {line_in(looks_up)}, in looks_up)")
    with pytest.raises(ConformanceError, match=f"^pile: ends: IndexError: list index .*{place}$"):
        check_quickly(with_rules(return_to_move=calls_one_that_looks_up)())


def test_what_cannot_be_compiled_is_named_in_one_line_with_its_place():
    place = f"({__file__}, line {line_in(asks_a_dictionary)}, in asks_a_dictionary)"
    reason = "it cannot be compiled: Untyped global name 'TABLE': Cannot determine Numba type of <class 'dict'>"
    game = with_rules(margin=asks_a_dictionary)()
    with pytest.raises(ConformanceError, match=re.escape(f"pile: points: {reason} {place}")):
        check_game(game)
    # As a program reports what a search compiles.
    with pytest.raises(Exception, match="nopython") as caught:
        game.lead_to_move(game.init())
    assert line_of(caught.value) == f"{reason} {place}"


def test_points_without_a_board_need_their_number_to_be_a_target():
    with pytest.raises(SettingError, match="pile has no board to count points on; set most_points in its class"):
        disc_difference(with_rules(margin=difference)())
    assert disc_difference(with_attributes(**ON_BOARD | {"observation_shape": (8,)}, most_points=7)()).point == 1 / 7
