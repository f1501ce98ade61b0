"""Rules and values of exported pages are those of the library."""

import json
import random
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import pytest
import torch
from playwright.sync_api import Page, expect

from selfplay.agents.agent import Agent
from selfplay.agents.pretrained import pretrained_agent
from selfplay.compute.bit_algebra import Word, bit_count, word_of
from selfplay.compute.compiled_words import bit_like
from selfplay.compute.positions import flag, position, squares
from selfplay.compute.positions import number as number_of_bits
from selfplay.compute.words import WordInt, parts_of_bits
from selfplay.games import game_names, make_game
from selfplay.runs.levels import agent_of_level
from selfplay.web.javascript_conformance import compare_in_javascript
from selfplay.web.rules_in_javascript import javascript_of
from tests.web.browser.browsing import settled
from tests.web.browser.exported.pages import check_positions


def agent_of(game: str, tiny_run: Path) -> Agent:
    if game == "tictactoe":
        return agent_of_level(tiny_run)
    return Agent.load(pretrained_agent(game), make_game(game), "pretrained")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "count"),
    [
        *((game, 300) for game in ("tictactoe", "connect_four", "othello")),
        *((game, 40) for game in ("gomoku", "go_7x7")),
    ],
)
def test_rules_values_and_actions_are_those_of_the_library(
    game: str, count: int, exported: Page, address: Callable[[str], str], tiny_run: Path
) -> None:
    exported.goto(address(game))
    check_positions(exported, agent_of(game, tiny_run), count)


@pytest.mark.slow
def test_the_winning_chain_and_the_rules_of_hex_are_shown(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('hex_3x3')}#play/hex_3x3?opponent=random&person=both&moves=b2+c1+b1+b3+c2+c3+a3")
    settled(exported, 7)
    won = exported.locator("#board .cell.won")
    assert won.evaluate_all("(nodes) => nodes.map((node) => node.dataset.square)") == ["1", "4", "6"]
    # People end a match here, too.
    exported.goto(f"{address('hex_3x3')}#play/hex_3x3?opponent=random&person=both&moves=b2+c1&ended=resigned")
    settled(exported, 2)
    expect(exported.locator("#status")).to_contain_text("O wins.")
    exported.get_by_role("link", name="Rules").click()
    expect(exported.locator("#rules-text li")).to_have_text(list(make_game("hex_3x3").presentation.how_to_play))
    expect(exported.locator("#rules-picture .cell.won")).to_have_count(3)


SIXTY_THREE = 63


def sum_of(own: Word, opp: Word) -> Word:
    return own + opp


def every_operation(own: Word, opp: Word) -> tuple[Word, Word]:
    """Every operation that rules may have; results leave 64 bits, and numbers are negative."""
    total, few, count = sum_of(own, opp), bit_count(own) // 7 - 5, opp & SIXTY_THREE
    for step in range(1, 4):
        total = total ^ (own << step) * (opp >> (2 * step)) - step
        count += step * (few < 0) + (few >> 1)
    count += (opp != 3) + (own < opp) * 2 + (own <= opp) * 4 + (own > opp) * 8 + (own == opp) * 16
    sign = -1 * (bit_count(opp) > 9)
    return -total & (opp ^ (own & sign)), ~(count | (own << (opp & 31))) * (own >= opp) + (sign >> 3)


def every_statement(own: Word, opp: Word) -> tuple[Word, Word]:
    """Every statement that rules may have, nested, with returns in loops."""
    rest, count = own, 0
    while rest != 0:
        lowest = rest & -rest
        rest = rest ^ lowest
        count += 1
        if (lowest & opp) != 0 and count > 2:
            continue
        if count >= 9 or not rest > 3:
            break
        if count == 7 and lowest_is_low(lowest):
            return rest, own
    for step in range(1, 5):
        if step == 3:
            if count > 4:
                return opp << step, rest if count == 5 else lowest_of(own)
            break
        rest = rest ^ (own >> step)
    else_word = opp if rest < own else rest
    return else_word, lowest_of(rest)


def lowest_is_low(stone: Word) -> Word:
    return (stone >> 32) == 0


def lowest_of(word: Word) -> Word:
    if word == 0:
        return word ^ 1
    return word & -word


def every_parameter(own: Word, opp: Word) -> tuple[Word, Word]:
    """A number that a parameter gets becomes a word where it is a word elsewhere: -1 is the one with all bits."""
    return masked(-1, own, opp), own


def masked(mask: Word, own: Word, opp: Word) -> Word:
    if opp & 1 == 0:
        mask = own
    return own if mask == (own | ~own) else opp


ANSWERS = """
console.log(JSON.stringify(pairs.map(([own, opp]) => rule(BigInt(own), BigInt(opp)).map(String))));
"""
needs_node = pytest.mark.skipif(which("node") is None, reason="node is not installed")


@needs_node
def test_operations_of_rules_give_the_same_words() -> None:
    edges = [0, 1, -1, 2**63 - 1, -(2**63), 0x5555555555555555]
    words = [*edges, *torch.randint(-(2**62), 2**62, (40,), generator=torch.Generator().manual_seed(1)).tolist()]
    for rule in (every_operation, every_statement, every_parameter):
        check_operations(rule, [word % 2**64 for word in words], 64)


WIDTH = 150
MASK = word_of(range(5, 150, 3), WIDTH)
STEPS = (1, 70, 130)
PAIRS = ((1, MASK), (2, 3))


def every_operation_across_parts(own: Word, opp: Word) -> tuple[Word, Word]:
    """The same with words that enclosing functions and tuples hold."""
    total = own
    for number in range(3):
        total = total ^ ((own << STEPS[number]) * ((opp >> (2 * number)) & 7) - (~opp >> STEPS[number]))
    count = bit_count(total) + (own < opp) * 2 + (own <= opp) * 4 + (own > opp) * 8 + (own == MASK) * 16
    shift, mask = PAIRS[bit_count(own) & 1]
    total = total ^ ((own & mask) << shift)
    return -total & (MASK | own), ~(count | (own << 31)) * (own != opp)


@needs_node
def test_operations_of_rules_give_the_same_words_of_several_parts() -> None:
    draws = random.Random(1)
    words = [0, 1, int(MASK), (1 << 192) - 1, 1 << 191, 1 << 64, *(draws.getrandbits(192) for _ in range(20))]
    check_operations(every_operation_across_parts, words, WIDTH)
    check_operations(every_operation, words, WIDTH)


@position
class Mixed(NamedTuple):
    own: Word = squares(150)
    mask: Word = squares(20)
    count: int = number_of_bits(7)
    turn: int = flag()


def every_operation_of_mixed_widths(own: Word, opp: Word) -> tuple[Word, Word]:
    """Words of three parts and of one, and positions of both."""
    p = Mixed(own & MASK, opp & 0xFFFFF, count=bit_count(own) % 128, turn=opp & 1)
    low, later = p.mask, changed_by(p)
    if p.turn:
        low = later.own
    some = (p.mask << 60) | (p.own >> 3) | bit_like(own, p.count)
    mixed = (
        min(p.count, 40)
        + max(5, bit_count(p.mask))
        + int(bool(p.mask))
        + (~p.mask < own) * 1
        + (p.own == opp) * 2
        + (not p.turn) * 4
        + (p.count - 70) % 7 * 8
    )
    return some ^ (low >> 5), ~p.mask - mixed ^ low


def changed_by(p: Mixed) -> Mixed:
    if p.count > 60 and p.turn == 0:
        return p
    wide = p.own if p.count > 50 else p.mask
    return Mixed(wide >> 7, (p.own & 0xFFF) ^ p.mask, p.turn, not p.turn)


@needs_node
def test_operations_of_rules_give_the_same_words_of_mixed_widths() -> None:
    draws = random.Random(2)
    wide = [0, 1, (1 << 192) - 1, *(draws.getrandbits(192) for _ in range(20))]
    narrow = [0, 1, (1 << 64) - 1, *(draws.getrandbits(64) for _ in range(20))]
    check_operations(every_operation_of_mixed_widths, wide, WIDTH, narrow)


def check_operations(rule: Callable[..., Any], words: list[int], bits: int, narrow: list[int] | None = None) -> None:
    """`narrow`: words of 64 bits, as the second argument; None: words like the first."""
    pairs, parts = list(product(words, words if narrow is None else narrow)), parts_of_bits(bits)
    kinds = parts, parts if narrow is None else 1
    code = javascript_of({"rule": (rule, kinds)})
    given = f"const pairs = {json.dumps([list(map(str, pair)) for pair in pairs])};"
    program = subprocess.run(
        ["node", "--input-type=module"], input=code + given + ANSWERS, text=True, capture_output=True, check=True
    )
    found = json.loads(program.stdout)
    expected = [rule(*map(WordInt, pair, kinds)) for pair in pairs]
    assert [list(map(int, pair)) for pair in found] == [list(map(int, pair)) for pair in expected]


LARGE = {
    *("go", "gomoku_13x13", "hex_11x11", "hex_13x13"),
    *("othello", "othello_6x6", "tictactoe_7x7", "tictactoe_8x8", "tictactoe_6x6", "dots_and_boxes_5x5"),
    *("go_7x7", "gomoku_15x15", "hex_8x8", "hex_9x9", "breakthrough_6x6", "breakthrough_8x8"),
}
"""Boards that take longer than a smaller one of the same game."""
NAMES = [name for name in game_names() if name not in ("go_13x13", "go_19x19")]
"""Go 13x13 and 19x19 take 6 and 20 seconds, and have nothing that Go 9x9 or Gomoku 13x13 does not have."""


@needs_node
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in NAMES]
)
def test_the_rules_of_every_game_are_those_of_the_library(name: str) -> None:
    assert compare_in_javascript(make_game(name)) is None
