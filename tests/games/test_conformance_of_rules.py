"""What check_game says of fields, rules and points that are wrong: which, where, and what is right."""

import importlib
import inspect
import itertools
import re

import pytest
import torch

from selfplay.compute.bit_algebra import rule, word_of
from selfplay.compute.compilation import FEW_POSITIONS
from selfplay.errors import ConformanceError, SelfPlayError, SettingError, line_of
from selfplay.games import make_game
from selfplay.games.conformance import RULES_HAVE, check_game, check_quickly, counts_of_sequences
from selfplay.games.outcomes import disc_difference
from selfplay.games.rules import Rules
from tests.support import pile
from tests.support.clobber import Clobber
from tests.support.doc_pages import block_with
from tests.support.pile import Pile

PLAY = "    return Position(own=p.opp, opp=p.own | (1 << square))\n"
LEGAL = "    return ~(p.own | p.opp) & TOP_ROW\n"
OVER = "    return has_line(p.opp) or (p.own | p.opp) == FULL_BOARD\n"
OPP = "    opp: Word = squares(SQUARES)"
RULES = "return_to_move)"

COUNTED = {
    OPP: f"    plies: int = number(3)\n{OPP}",
    "position, rule": "number, position, rule",
    "Position(0, 0)": "Position(0, 0, 0)",
}
"""A count of plies from 0 to 7 in positions of Connect Three."""


def with_rule(name, code):
    """A further rule of Connect Three."""
    return {
        "class Connect3": f"@rule\ndef {name}:\n    return {code}\n\n\nclass Connect3",
        RULES: f"return_to_move, {name.partition('(')[0]}={name.partition('(')[0]})",
    }


WRONG = [
    # fields
    ({OPP: "    opp: Word = squares(SQUARES - 1)"}, "rules: SettingError: the boards have 11 and 12 squares"),
    (COUNTED | {PLAY: "    return Position(p.opp, p.plies + 1, p.own | 1 << square)\n"},
     "rules: the field plies is a number from 0 to 7 .3 bits., but gets 8 .*, in play"),
    (COUNTED | {PLAY: "    return Position(p.opp, p.plies - 1, p.own | 1 << square)\n"},
     "rules: the field plies is a number from 0 to 7 .3 bits., but gets -1 .*, in play"),
    ({PLAY: "    return Position(p.opp, p.own | 1 << (square + 3))\n"},
     "rules: the field opp has 12 squares, bits 0 to 11, but bit 1. is set .*, in play"),
    ({PLAY: "    return Position(p.opp, (p.own | 1) / 1)\n"}, "rules: the field opp gets .*, which is not a word or a"),
    ({PLAY: "    return Position(p.opp)\n"}, "rules: Position.own, opp.: missing a required argument: .opp. .*play"),
    ({PLAY: "    return Position(p.opp, p.own, 0)\n"}, "rules: Position.own, opp.: too many positional arguments"),
    ({PLAY: "    return Position(p.opp, p.ownn)\n"}, "rules: AttributeError: 'Position' object has no attribute"),
    ({OPP: "    opp: Word = 12"}, "Position.opp: its size is missing or out of range; write = squares.n."),
    ({OPP: "    opp: Word = squares(90000)"}, "with at most 10,000 squares"),
    ({OPP: "    opp: Word = squares(0)"}, "Position.opp: its size is missing or out of range"),
    ({OPP: "    opp: Word = squares('12')"}, "Position.opp: its size is missing or out of range"),
    ({OPP: "    opp: Word"}, "TypeError: Non-default namedtuple field opp"),
    ({"@position\n": ""}, "rules: rules.initial is .*, where it must be a position, .* marked with @position"),
    ({"Rules(Position(0, 0)": "Rules((0, 0)"}, "rules: rules.initial is .0, 0., where it must be a position"),
    # what rules give
    ({PLAY: "    return p.opp, p.own\n"}, "rules: play gives .* where it must give a Position.own, opp. .*, in play"),
    ({PLAY: "    Position(p.opp, p.own)\n"}, "rules: play gives None where it must give a Position.own, opp."),
    ({LEGAL: LEGAL.replace(" & TOP_ROW", "")}, "rules: legal_actions sets bit 63, but actions are from 0 to 2"),
    ({LEGAL: "    return p.own == p.opp\n"}, "rules: legal_actions gives a comparison where it must give a word"),
    ({LEGAL: ""}, "rules: legal_actions gives None where it must give a word .*, in legal_actions"),
    ({"    if has_line(p.opp):\n        return 0\n": ""}, "rules: legal_actions are not 0 after the end"),
    ({OVER: "    return False\n"}, "rules: no action is legal in a match at ply ., and is_terminal does not say"),
    ({OVER: "    return (p.own | p.opp) & FULL_BOARD\n"}, "rules: is_terminal gives a word where .* a comparison"),
    ({"        return -1\n": "        return -0.5\n"}, "rules: return_to_move gives the fraction -0.5 where it must"),
    ({"        return -1\n": "        return -2\n"}, "rules: return_to_move gives the number -2 where it must give -1"),
    ({"= COLUMNS\n": "= COLUMNS\n    pass_action = 2\n"}, "rules: legal_actions sets bit 2, which is pass_action"),
    ({"= COLUMNS\n": "= COLUMNS\n    pass_action = 3\n", "is_terminal, ret": "return_to_move=ret"},
     "rules: rules.is_terminal is left out, but with a pass_action"),
    (with_rule("moves_again(p)", "p.own"), "rules: moves_again gives a word where it must give a comparison"),
    (with_rule("points(p)", "3"), "rules: points gives the number 3 where it must give one for each player"),
    (with_rule("margin(p)", "0.5"), "rules: margin gives the fraction 0.5 where it must give a whole number"),
    (with_rule("observed(p)", "p.own"), "observed gives WordInt where it must give a position of a class marked"),
    (with_rule("observed(p)", "p if p.own == 0 else (p.own,)"),
     "observation: observed gives .* where it must give a Position, as from the initial position"),
    # what they take and use
    ({"is_terminal(p: Position)": "is_terminal(own, opp)"}, "rules: is_terminal.own, opp. .* must take a position"),
    ({"play(p: Position, action: int)": "play(p, action, more)"}, "rules: play.p, .*must take 2 arguments: p, action"),
    ({"return_to_move)": "return_to_move, moves_again=play)"},
     "rules: rules.moves_again is play.p: .*, action: .*, which must take a position .*, in play"),
    ({"return_to_move)": "return_to_move, has_line)"}, "rules: TypeError: .*'Position'.*, in has_line"),
    ({"@rule\ndef has_line": "def has_line"}, "rules: has_line is not marked with @rule .*, in has_line"),
    ({PLAY: "    return Position(p.opp, p.own | 1 << (square + 64))\n"},
     "rules: OverflowError: 0x.* has more than the 64 bits of a number; shift a word: word_of"),
    ({PLAY: "    return Position(p.opp, p.own | 1 << sqare)\n"}, "rules: the name sqare is not defined .*, in play"),
    ({"LINES = tuple(": "LINES = list("}, "rules: LINES is of type list; rules use .* numbers, words .*, in has_line"),
    ({"LINES = tuple(": "import numpy as np\n\nLINES = np.array(", "    sum(1 <<": "    [sum(1 <<",
      "< COLUMNS\n)": "< COLUMNS]\n)"},
     "rules: LINES is of type ndarray; rules use .*, in has_line"),
    ({"square += COLUMNS\n": "square += COLUMNS / 1\n"}, "rules: TypeError: .*; what rules consist of: docs/game_refe"),
]  # fmt: skip
"""Replacements in the file of Connect Three in the documentation, and what is said of the result."""

NUMBERS = itertools.count()


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=[message for _, message in WRONG])
def test_the_quick_check_names_what_is_wrong_where_and_what_is_right(changes, message, tmp_path, monkeypatch):
    text = block_with("adding_a_game.md", "class Connect3(Game)")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    name = f"wrong_connect3_{next(NUMBERS)}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    with pytest.raises(SelfPlayError, match=message) as caught:
        make_game(f"{name}:Connect3")
    assert len(str(caught.value).splitlines()) == 1
    assert f"{tmp_path / name}.py" in str(caught.value)


@rule
def difference(p):
    return p.own - p.opp


@rule
def calls_a_rule_of_a_module(p, action):
    return pile.play(p, action)


@rule
def reversed_difference(p):
    return p.opp - p.own


RESULTS = (-1, 1)


@rule
def looks_up(p):
    return RESULTS[p.own]


@rule
def calls_one_that_looks_up(p):
    return looks_up(p)


@rule
def uses_a_generator(p):
    return sum(n for n in (p.own, -p.opp))


@rule
def makes_a_word(p):
    return p.own - p.opp + word_of([0], 7) - 1


@rule
def takes_in_place(p, action):
    return p._replace(own=p.opp, opp=p.own if action == 2 else p.own + action + 1)


def with_rules(**changes):
    """A game like the pile of coins but for these rules."""
    return with_attributes(rules=Pile.rules._replace(**changes))


def with_attributes(**changes):
    return type("Changed", (Pile,), {"__module__": __name__, "name": "pile", **changes})


ON_BOARD = {"rules": Pile.rules._replace(margin=difference), "observation_shape": (8, 1, 1)}

WRONG_PILES = [
    (
        with_rules(margin=reversed_difference),
        "points: the player to move has (won|lost) a match with a lead of -?[1-7] points; the sign",
    ),
    (
        with_attributes(**ON_BOARD, most_points=0),
        "points: a match is won by 1 points, but .* give 0 at most; set most_points",
    ),
    (with_rules(legal_actions=None), "rules: rules.legal_actions is None, where it must be a function"),
    (with_attributes(rules=None), r"rules: rules is None, where it must be Rules\(...\)"),
    (with_attributes(num_distinct_actions=3.0), "rules: num_distinct_actions is 3.0, where it must be a whole number"),
    (with_attributes(observation_shape=8), "rules: observation_shape is 8, where it must be a tuple of whole numbers"),
    (with_attributes(board=8), r"rules: board is 8, where it must be \(rows, columns\), or None"),
    (with_attributes(chosen_pass=-1), "rules: chosen_pass is -1, where it must be a whole number"),
    (with_attributes(features=8), r"rules: features is 8, where it must be Features\(...\), or None"),
    (with_attributes(exact_solver=8), "rules: exact_solver is 8, where it must be a text, or None"),
    (with_attributes(usual_evaluation=None), "rules: usual_evaluation is None, where it must be a text"),
    (with_attributes(pass_action=3), "rules: pass_action is 3, but actions are from 0 to 2"),
    (with_attributes(action_to_string=lambda self, action: action), "texts: action_to_string gives 0 for action 0"),
    *(
        (
            with_attributes(action_to_string=lambda self, action, form=form: form.format(action + 1)),
            rf"texts: action_to_string\(0\) gives '{re.escape(form.format(1))}', and two .* are not read as such",
        )
        for form in ("take {}", "{}.", "a {}.")
    ),
]


@pytest.mark.parametrize(("game", "message"), WRONG_PILES, ids=[message for _, message in WRONG_PILES])
def test_the_quick_check_names_wrong_attributes_and_points(game, message):
    with pytest.raises(ConformanceError, match=f"^pile: {message}") as caught:
        check_quickly(game())
    assert len(str(caught.value).splitlines()) == 1


def test_points_that_agree_with_the_results_are_accepted():
    for game in (with_rules(margin=difference), with_attributes(**ON_BOARD, most_points=7)):
        check_quickly(game())


class Blocked(Clobber):
    """Without the rules that need not be given."""

    def __init__(self):
        super().__init__()
        self.rules = Rules(*self.rules[:3])


def test_by_default_a_match_is_over_where_no_action_is_legal_and_the_player_to_move_has_lost():
    game = Blocked()
    check_quickly(game)
    assert counts_of_sequences(game) == counts_of_sequences(Clobber())
    # A single stone of each, which are not beside each other.
    state = game.state_at(torch.tensor([[1, 1 << 24], [1, 2]]))
    assert (state.terminated.tolist(), state.returns.tolist()) == ([True, False], [-1, 0])


def line_in(function):
    return inspect.getsourcelines(function)[1] + 2


def test_an_error_in_a_rule_names_its_file_the_rule_and_the_line():
    place = re.escape(f"({__file__}, line {line_in(looks_up)}, in looks_up)")
    with pytest.raises(ConformanceError, match=f"^pile: rules: IndexError: tuple index .*{place}$"):
        check_quickly(with_rules(return_to_move=calls_one_that_looks_up)())


def test_what_cannot_be_compiled_is_named_in_one_line_with_its_place():
    place = f"({__file__}, line {line_in(uses_a_generator)}, in uses_a_generator)"
    reason = "it cannot be compiled: The use of yield in a closure is unsupported"
    game = with_rules(margin=uses_a_generator)()
    with pytest.raises(ConformanceError, match=re.escape(f"pile: compiled rules: {reason}; {RULES_HAVE} {place}")):
        check_game(game)
    # As a program reports what a search compiles.
    with pytest.raises(Exception, match="nopython") as caught:
        game.lead_to_move(game.init(FEW_POSITIONS + 1))
    assert line_of(caught.value) == f"{reason} {place}"


def test_a_rule_may_call_those_of_a_module():
    check_game(with_rules(play=calls_a_rule_of_a_module)())


def test_a_rule_that_makes_words_is_named():
    with pytest.raises(ConformanceError, match=r"^pile: rules: rules cannot call word_of; .* in makes_a_word\)$"):
        check_quickly(with_rules(margin=makes_a_word)())


def test_a_position_that_is_changed_in_compiled_code_is_named_with_its_fields():
    place = f"({__file__}, line {line_in(takes_in_place)}, in takes_in_place)"
    reason = "it cannot be compiled: a position has no _replace, only the fields of Position(own, opp); to change one"
    with pytest.raises(ConformanceError, match=re.escape(reason) + f".*{re.escape(place)}$"):
        check_game(with_rules(play=takes_in_place)())


def test_points_without_a_board_need_their_number_to_be_a_target():
    with pytest.raises(SettingError, match="pile has no board to count points on; set most_points in its class"):
        disc_difference(with_rules(margin=difference)())
    assert disc_difference(with_attributes(**ON_BOARD | {"observation_shape": (8,)}, most_points=7)()).point == 1 / 7
