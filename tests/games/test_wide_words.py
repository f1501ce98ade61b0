"""Games of more than 64 squares or actions, written as for a small board, lose no bits."""

import inspect
import re
from typing import NamedTuple

import pytest

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.compute.positions import position, squares
from selfplay.compute.wide_rules import source_tree, widened
from selfplay.compute.words import WordInt
from selfplay.errors import ConformanceError
from selfplay.games import make_game
from selfplay.games.conformance import check_quickly
from selfplay.games.game import Game
from selfplay.games.rules import Rules
from selfplay.games.single_positions import legal_numbers, played_singly
from selfplay.web.javascript_conformance import compare_in_javascript
from tests.support.rare_faults import RareFaults
from tests.support.slides import Slides, counted, moves

FULL = (1 << 81) - 1
TABLE = tuple((0b11 << square, square) for square in range(80))
ROW = 0b111


@position
class Board(NamedTuple):
    own: Word = squares(81)
    opp: Word = squares(81)


@rule
def bit(square):
    return 1 << square


@rule
def legal_actions(p):
    legal = 0
    for square in range(81):
        if (p.own | p.opp) & bit(square) == 0:
            legal |= 1 << square
    return legal


@rule
def play(p, action):
    return Board(p.opp, p.own | bit(action))


@rule
def has_pair(p):
    for number in range(80):
        if p.opp & TABLE[number][0] == TABLE[number][0]:
            return TABLE[number][1] % 9 != 8
    return False


@rule
def is_terminal(p):
    return p.own | p.opp == 0x1FFFFFFFFFFFFFFFFFFFF or p.opp == FULL


@rule
def return_to_move(p):
    return -1 if has_pair(p) else 0


class Fill(Game):
    name = "fill"
    num_distinct_actions = 81
    observation_shape = (2, 9, 9)
    max_game_length = 81
    rules = Rules(Board(0, 0), legal_actions, play, is_terminal, return_to_move)


def squares_of(word):
    return frozenset(square for square in range(36) if word >> square & 1)


def test_a_mask_of_actions_has_as_many_bits_as_the_game_has_actions():
    game = Slides()
    own, opp = map(squares_of, game.rules.initial[:2])
    expected = sorted(action for action, _ in moves(own, opp))
    assert [action for action in range(144) if game.rules.legal_actions(game.rules.initial) >> action & 1] == expected
    assert expected[-1] > 128
    perft = [game.kernels.perft(game.rules.initial, depth, False) for depth in (1, 2, 3)]
    assert perft == [counted(own, opp, depth) for depth in (1, 2, 3)]
    assert compare_in_javascript(game) in (None, "node is not installed")


def test_literals_and_constants_of_larger_boards_are_words():
    game = Fill()
    start = game.rules.initial
    assert [game.kernels.perft(start, depth, False) for depth in (1, 2)] == [81, 81 * 80]
    last_but_one = type(start)(FULL ^ 1 << 80 ^ 0b11 << 70, 0b11 << 70)
    assert game.kernels.perft(last_but_one, 2, True) == 1
    after = game.rules.play(last_but_one, 80)
    assert game.rules.is_terminal(after)
    assert game.rules.return_to_move(after) == -1


@pytest.mark.parametrize("name", ["tictactoe", "tictactoe_8x8", "othello", "breakthrough", "nine_mens_morris"])
def test_rules_that_need_no_wider_words_stay_as_they_are(name):
    rules = make_game(name).rules
    assert all(place.word_parts == place.num_parts for place in rules.position.places)
    assert "_of_" not in rules.play.__qualname__


def test_constants_of_one_table_are_of_one_kind():
    assert widened((1, 2), 2) == (1, 2)
    assert [type(entry) for entry in widened((1, 1 << 70), 2)] == [WordInt, WordInt]
    assert [tuple(map(type, row)) for row in widened(((1, 2), (1 << 70, 3)), 2)] == [(WordInt, int)] * 2
    assert widened(word_of([3]), 3).num_parts == 3


def test_numbers_of_64_bits_stay_numbers():
    fitting, too_large = (-(1 << 63), (1 << 63) - 1), (-(1 << 63) - 1, 1 << 63)
    assert [type(widened(number, 2)) for number in (*fitting, *too_large)] == [int, int, WordInt, WordInt]


def test_other_rules_of_such_a_game_are_widened_too():
    assert Fill().rules.widening(bit)(80) << 47 == WordInt(1 << 127, 2)
    assert make_game("othello").rules.widening(bit) is bit


def made_by_a_factory(width):
    row = ROW

    @rule
    def shifted(p, count):
        if count == 0:
            return row << width
        return shifted(p, count - 1) | ROW << width * count | (p.own & 0) << 200

    return shifted


def test_rules_of_a_factory_that_call_themselves_are_copied_with_their_lines():
    narrow = made_by_a_factory(30)
    wide = widened(narrow, 4)
    p = Board(0, 0)
    assert wide(p, 3) == sum(ROW << 30 * count for count in (1, 2, 3))
    assert wide.__code__.co_firstlineno == narrow.__code__.co_firstlineno + 1  # without the decorator
    assert source_tree(wide)[1] == inspect.getsourcelines(narrow)[1]
    assert widened(narrow, 4) is wide


@rule
def legal_with_lost_bits(p):
    free = ~(p.own | p.opp) & 0xFFFF
    return free & 0xFF | (free & 0xFF00) << 52


@rule
def legal_with_a_mask(p):
    free = ~(p.own | p.opp) & 0xFFFF
    return free | free << 52 & 0xFF0000 << 40


@rule
def legal_in_places(p):
    return ~(p.own | p.opp) & 0xFFFF


def test_a_shift_that_loses_actions_is_named_with_its_line_unless_a_mask_takes_them_away():
    fault = "a shift loses bit 67 of legal_actions, whose words have 64 bits here; take away by & what is not an action"
    line = inspect.getsourcelines(legal_with_lost_bits)[1] + 3
    place = re.escape(f"({__file__}, line {line}, in legal_with_lost_bits)")
    for rules, refused in ((legal_with_lost_bits, True), (legal_in_places, False), (legal_with_a_mask, False)):
        game = with_legal_actions(rules)
        if refused:
            with pytest.raises(ConformanceError, match=f"{fault} {place}"):
                check_quickly(game)
        else:
            assert legal_numbers(game, game.rules.initial)


def test_so_is_a_stone_that_a_shift_takes_off_the_board():
    game = Slides()

    @rule
    def pushes(p, action):
        return type(game.rules.initial)(p.opp, p.own << 160 | 1, p.plies + 1)

    with pytest.raises(ConformanceError, match="the field opp has 36 squares, bits 0 to 35, but bit 195 is set"):
        played_singly(game_with(game, play=pushes), game.rules.initial, 0)


def game_with(game, **rules):
    game.rules = game.rules._replace(**rules)
    return game


def with_legal_actions(legal):
    rules = RareFaults.rules._replace(legal_actions=legal)
    attributes = {"__module__": __name__, "num_distinct_actions": 64, "rules": rules}
    return type("ManyActions", (RareFaults,), attributes)()
