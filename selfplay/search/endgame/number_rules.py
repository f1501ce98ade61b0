"""The rules that the endgame search needs, on int64 numbers, which its table and its vectorized code are made for."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import as_word, part
from selfplay.compute.words import word_parts
from selfplay.games.rules import Rules, TurningRules


class NumberRules(NamedTuple):
    """As in `Rules` and `TurningRules`, of positions (own, opp); the functions are parts of compiled code."""

    legal_actions: Callable[[int, int], int]
    lead: Callable[[int, int], int]
    """(own, opp) to the lead in discs, without empty squares."""
    neighbours: Callable[[int], int]
    board: int
    corners: int
    quarters: tuple[int, ...]


@cache
def number_rules(rules: Rules, turning: TurningRules) -> NumberRules:
    """The rules of a game whose moves turn discs, on boards of at most 64 squares."""
    legal_words, near, position = rules.legal_actions, turning.neighbours, rules.position

    @part_of_compiled
    def legal_actions(own: int, opp: int) -> Any:
        return part(legal_words(position(own, opp)), 0)

    @part_of_compiled
    def lead(own: int, opp: int) -> Any:
        return bit_count(own) - bit_count(opp)

    @part_of_compiled
    def neighbours(squares: int) -> Any:
        return part(near(as_word(squares)), 0)

    board, corners, *quarters = (word_parts(word, 1)[0] for word in (turning.board, turning.corners, *turning.quarters))
    return NumberRules(legal_actions, lead, neighbours, board, corners, tuple(quarters))
