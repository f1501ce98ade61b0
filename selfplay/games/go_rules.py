"""The rules of Go.

Bit `width * row + column` of a word is the crossing (row, column), rows counted from the top, as the board is drawn:

    3  0 1 2
    2  3 4 5
    1  6 7 8
       A B C

Action i places a stone on crossing i; the last action is a pass, which is always legal. The rules are those of Tromp
and Taylor with three differences, as in OpenSpiel and GNU Go:

- A move may not leave its own chain without a liberty: there is no suicide, of one stone or of several.
- Only the immediate recapture that repeats a position is illegal (simple ko), not every repetition.
- As positions can repeat, a match ends not only after two passes in a row, but also after two plies per crossing.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.compiled_words import bit_like, lowest
from selfplay.compute.positions import flag, number, position, squares
from selfplay.games.chains import chain_rules
from selfplay.games.rules import Rules

BITS_OF_PLIES = 10
"""The bits of the number of plies in observations, on boards of all sizes, so that networks of one size fit the others.
"""


def count_bits(width: int) -> int:
    """The number of bits that count the plies."""
    return (2 * width * width + 1).bit_length()


@cache
def go_rules(width: int, komi: float) -> Rules:
    """The rules on `width` x `width` crossings. White gets `komi` points, a multiple of 0.5.

    A position holds the komi, so that the functions, and what is compiled of them, are the same for every komi.
    """
    rules = _rules_without_komi(width)
    return rules._replace(initial=rules.initial._replace(komi=int(2 * (width * width + komi))))


@cache
def _rules_without_komi(width: int) -> Rules:
    size, limit = width * width, 2 * width * width
    board, pass_bit = word_of(range(size), size), word_of([size], size + 1)
    beside, beside_two, connected = chain_rules(width)
    numbers = np.arange(size).reshape(width, width)
    not_left, not_right = (word_of(part.reshape(-1).tolist(), size) for part in (numbers[:, 1:], numbers[:, :-1]))
    edge = board & ~word_of(numbers[1:-1, 1:-1].reshape(-1).tolist(), size)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)
        passed: int = flag()
        """Whether the last ply was a pass."""
        plies: int = number(count_bits(width))
        """After two passes, the limit, or one more so that an odd number means white."""
        ko: int = number(size.bit_length())
        """The crossing that may not be retaken plus 1; 0 if there is none."""
        komi: int = number((4 * size).bit_length())
        """Twice the sum of the crossings and the komi."""

    @rule
    def is_terminal(p: Position) -> bool:
        return p.plies >= limit

    @rule
    def captured(stones: Word, stone: Word, empty: Word) -> Word:
        """Those of `stones` in chains beside `stone` without a liberty."""
        found = 0
        waiting = beside(stone) & stones & ~beside(empty)
        while waiting != 0:
            chain = connected(stones, waiting & -waiting)
            if (beside(chain) & empty) == 0:
                found = found | chain
            waiting = waiting & ~chain
        return found

    @rule
    def with_two_liberties(stones: Word, empty: Word) -> Word:
        """Those that have two liberties, alone or with one stone beside them: neighbours have no liberty in common."""
        free = stones & beside(empty)
        return stones & beside_two(empty) | free & beside(free)

    @rule
    def legal_actions(p: Position) -> Word:
        """The pass, and each empty crossing without ko, if the stone then is in a chain with a liberty."""
        if is_terminal(p):
            return 0
        empty = board & ~(p.own | p.opp)
        mine, other = with_two_liberties(p.own, empty), with_two_liberties(p.opp, empty)
        legal = empty & beside(empty | mine)
        if legal != empty:
            # Chains that contain such stones are safe. Both colours are followed at once.
            while True:
                more, others = p.own & beside(mine), p.opp & beside(other)
                if ((more & ~mine) | (others & ~other)) == 0:
                    break
                mine, other = mine | more, other | others
            legal = legal | (empty & beside(mine))
            # The other chains are looked at one by one: own ones need a second liberty, opposing ones lose their last.
            waiting = beside(empty & ~legal) & ((p.own & ~mine) | (p.opp & ~other))
            while waiting != 0:
                stone = waiting & -waiting
                is_own = (stone & p.own) != 0
                chain = connected(p.own if is_own else p.opp, stone)
                liberties = beside(chain) & empty
                if is_own == ((liberties & (liberties - 1)) != 0):
                    legal = legal | liberties
                waiting = waiting & ~chain
        if p.ko > 0:
            legal = legal & ~bit_like(board, p.ko - 1)
        return legal | pass_bit

    @rule
    def play(p: Position, action: int) -> Position:
        """Place a stone and capture the chains of the other colour without a liberty; or pass."""
        plies = p.plies + 1
        if action == size:
            return Position(p.opp, p.own, 1, limit + (plies & 1) if p.passed else plies, 0, p.komi)
        stone = bit_like(board, action)
        own = p.own | stone
        taken = captured(p.opp, stone, board & ~(own | p.opp))
        opp = p.opp ^ taken
        ko = 0
        # A stone that has captured a single one, and whose only liberty is there, cannot be captured in return.
        if taken != 0 and (taken & (taken - 1)) == 0 and (beside(stone) & board & ~opp) == taken:
            ko = lowest(taken) + 1
        return Position(opp, own, 0, plies, ko, p.komi)

    @rule
    def sensible(p: Position) -> Word:
        """All actions but those that fill an eye of one's own: an empty crossing between own stones, where the other
        player has at most one of the crossings beside it diagonally, and none at the edge."""
        beside_other = beside(board & ~p.own)
        left, right = (p.opp & not_right) << 1, (p.opp & not_left) >> 1
        upper, lower = left >> width, left << width
        upper_right, lower_right = right >> width, right << width
        some = upper | lower | upper_right | lower_right
        several = (upper & lower) | (upper_right & lower_right) | ((upper | lower) & (upper_right | lower_right))
        return legal_actions(p) & ~(board & ~(beside_other | several | (edge & some)))

    @rule
    def owned(p: Position) -> tuple[Word, Word]:
        """Each player's stones, and the empty crossings that are connected with these stones only."""
        empty = board & ~(p.own | p.opp)
        mine, other = connected(empty, p.own), connected(empty, p.opp)
        return p.own | (mine & ~other), p.opp | (other & ~mine)

    @rule
    def uncaptured(stones: Word, empty: Word) -> Word:
        """Those of `stones` in chains with two regions that their opponent cannot fill."""
        others, kept = board & ~stones, stones
        while True:
            alive, kept, waiting = kept, 0, kept
            while waiting != 0:
                chain, count, left = connected(stones, waiting & -waiting), 0, others
                while left != 0:
                    region = connected(others, left & -left)
                    left = left & ~region
                    inside = region & empty
                    # Every empty crossing is beside the chain, and all chains around the region are alive.
                    if inside != 0 and (inside & ~beside(chain)) == 0 and (beside(region) & stones & ~alive) == 0:
                        count = count + 1
                waiting = waiting & ~chain
                if count >= 2:
                    kept = kept | chain
            if kept == alive:
                break
        return alive

    @rule
    def safe(p: Position) -> tuple[Word, Word]:
        """By the rule of D. Benson, Life in the game of Go, Information Sciences 10, 1976."""
        empty = board & ~(p.own | p.opp)
        return uncaptured(p.own, empty), uncaptured(p.opp, empty)

    @rule
    def margin(p: Position) -> int:
        """Twice the lead in points; an odd number of plies means that white is to move."""
        mine, other = owned(p)
        komi_points = p.komi - 2 * size
        return 2 * (bit_count(mine) - bit_count(other)) + (komi_points if p.plies & 1 else -komi_points)

    @rule
    def return_to_move(p: Position) -> int:
        lead = margin(p)
        return (lead > 0) - (lead < 0)

    @position
    class Observation(NamedTuple):
        """What observations show. The crossing that may not be retaken is on the boards of both players."""

        own: Word = squares(size)
        opp: Word = squares(size)
        own_with_1: Word = squares(size)
        """Stones in chains with one liberty."""
        own_with_2: Word = squares(size)
        own_with_3: Word = squares(size)
        opp_with_1: Word = squares(size)
        opp_with_2: Word = squares(size)
        opp_with_3: Word = squares(size)
        passed: int = flag()
        plies: int = number(BITS_OF_PLIES)

    @rule
    def by_liberties(stones: Word, empty: Word) -> tuple[Word, Word, Word]:
        """Those of `stones` in chains with one liberty, with two and with three."""
        one, two, three, waiting = 0, 0, 0, stones
        while waiting != 0:
            chain = connected(stones, waiting & -waiting)
            # Without their lowest one, two or three.
            liberties = beside(chain) & empty
            others = liberties & (liberties - 1)
            further = others & (others - 1)
            if others == 0:
                one = one | chain
            elif further == 0:
                two = two | chain
            elif (further & (further - 1)) == 0:
                three = three | chain
            waiting = waiting & ~chain
        return one, two, three

    @rule
    def observed(p: Position) -> Observation:
        empty = board & ~(p.own | p.opp)
        own_with_1, own_with_2, own_with_3 = by_liberties(p.own, empty)
        opp_with_1, opp_with_2, opp_with_3 = by_liberties(p.opp, empty)
        ko = bit_like(board, p.ko - 1) if p.ko > 0 else 0
        own, opp = p.own | ko, p.opp | ko
        return Observation(
            own,
            opp,
            own_with_1,
            own_with_2,
            own_with_3,
            opp_with_1,
            opp_with_2,
            opp_with_3,
            p.passed,
            p.plies,
        )

    return Rules(
        Position(0, 0, 0, 0, 0, 2 * size),
        legal_actions,
        play,
        is_terminal,
        return_to_move,
        observed,
        margin=margin,
        margin_unit=0.5,
        owned=owned,
        safe=safe,
        sensible=sensible,
    )
