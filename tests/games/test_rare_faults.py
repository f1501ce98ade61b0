"""Faults of rules that few matches meet are found in compiled matches, and reported with the line of the rule."""

import inspect

import pytest
import torch

from selfplay.compute.compilation import FEW_POSITIONS
from selfplay.compute.positions import packed_array
from selfplay.errors import ConformanceError, RuleError
from selfplay.games.conformance import check_game, check_quickly
from tests.support.rare_faults import RARE, Position, RareFaults, play

LAST = RARE.bit_length() - 1
FAULTS = [
    ("the field extra is a number from 0 to 7 (3 bits), but gets 9", "return Position("),
    ("the field opp has 16 squares, bits 0 to 15, but bit 17 is set", "return Position("),
    ("IndexError: tuple index out of range", "extra = TABLE"),
    ("ZeroDivisionError: integer division or modulo by zero", "extra = 7 //"),
]


def place_in_play(text):
    lines, first = inspect.getsourcelines(play)
    line = next(number for number, line in enumerate(lines, start=first) if text in line)
    return f"({inspect.getfile(play)}, line {line}, in play)"


def before_the_fault(number):
    return Position(own=RARE ^ 1 << LAST, opp=0b0001_1000_0011_1010, extra=1, fault=number)


@pytest.mark.parametrize("number", range(4))
def test_a_fault_in_one_of_many_compiled_matches_names_the_field_the_value_and_the_line(number):
    game, fault = RareFaults(), FAULTS[number]
    rows = [Position(0, 0, 1, number)] * (FEW_POSITIONS + 1) + [before_the_fault(number)]
    state = game.state_at(torch.from_numpy(packed_array(rows)))
    with pytest.raises(RuleError) as caught:
        game.step(state, torch.full((len(rows),), LAST))
    assert str(caught.value) == f"{fault[0]} {place_in_play(fault[1])}"


@pytest.mark.parametrize("number", range(4))
def test_so_does_a_fault_that_is_met_while_sequences_are_counted(number):
    with pytest.raises(RuleError) as caught:
        RareFaults().kernels.perft(before_the_fault(number), 2, False)
    assert str(caught.value) == f"{FAULTS[number][0]} {place_in_play(FAULTS[number][1])}"


def test_check_game_finds_a_field_that_overflows_in_few_of_its_matches():
    check_quickly(RareFaults())
    with pytest.raises(ConformanceError) as caught:
        check_game(RareFaults())
    assert str(caught.value) == f"rare_faults: rules: {FAULTS[0][0]} {place_in_play(FAULTS[0][1])}"
