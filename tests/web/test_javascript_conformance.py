"""check-game compares the rules in JavaScript with those in Python, where node is installed."""

import shutil

import pytest

from selfplay.compute.bit_algebra import rule
from selfplay.errors import ConformanceError, SettingError
from selfplay.games import make_game
from selfplay.web import javascript_conformance
from selfplay.web.javascript_conformance import compare_in_javascript
from selfplay.web.javascript_values import NUMBER
from selfplay.web.rules_in_javascript import javascript_of
from tests.support.pile import Pile
from tests.web.page_views import needs_node, run_in_page


@rule
def is_within(number):
    return 0 <= number < 5


@needs_node
@pytest.mark.parametrize("name", ["gomoku", "go_3x3", "sumto100", "dots_and_boxes"])
def test_games_have_the_same_rules_in_javascript(name):
    assert compare_in_javascript(make_game(name)) is None


@needs_node
def test_a_difference_names_the_call_and_both_results(monkeypatch):
    def wrong(rules, position):
        return javascript_of(rules, position).replace("BigInt.asIntN(64, -1n)", "1n")

    monkeypatch.setattr(javascript_conformance, "javascript_of", wrong)
    message = r"^pile: return_to_move\(Position\(own=., opp=.\)\) is \[1\] in JavaScript and \[-1\] in Python$"
    with pytest.raises(ConformanceError, match=message):
        compare_in_javascript(Pile())


@needs_node
@pytest.mark.parametrize(("value", "expected"), [(-1, 0), (0, 1), (4, 1), (5, 0)])
def test_comparisons_in_a_row_are_translated(tmp_path, value, expected):
    translated = javascript_of({"within": (is_within, [NUMBER])})
    assert run_in_page(tmp_path, f"{translated}\nconsole.log(String(within({value}n)));") == expected


def test_without_node_nothing_is_compared(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda command: None)
    assert compare_in_javascript(make_game("tictactoe")) == "node is not installed"


def test_a_rule_that_cannot_be_translated_is_named():
    game = Pile()
    game.rules = game.rules._replace(margin=print)
    with pytest.raises(SettingError, match="print"):
        compare_in_javascript(game)
