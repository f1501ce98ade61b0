"""The games of examples/ again, slowly, by sets and dictionaries of squares (row, column).

A function gives the positions after all moves of a position; none where the match is over. It shares no code with the
rules under test. A pass, which is not one of the legal actions, is a move like any other.
"""

from collections.abc import Iterator
from typing import Any

AROUND = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]


def squares_of(size: int) -> set[tuple[int, int]]:
    return {(row, column) for row in range(size) for column in range(size)}


EMPTY = frozenset(squares_of(8)), False


def domineering(position: Any = EMPTY) -> Iterator[Any]:
    free, across = position
    for row, column in free:
        other = (row, column + 1) if across else (row + 1, column)
        if other in free:
            yield free - {(row, column), other}, not across


def konane(position: Any = None) -> Iterator[Any]:
    if position is None:
        men = {(row, column): (row + column) % 2 for row, column in squares_of(8)}
        del men[3, 3], men[3, 4]
        position = men, 0
    men, mover = position
    for (row, column), owner in men.items():
        if owner != mover:
            continue
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            after, at = dict(men), (row, column)
            while True:
                over, to = (at[0] + down, at[1] + right), (at[0] + 2 * down, at[1] + 2 * right)
                if to not in squares_of(8) or to in after or after.get(over, mover) == mover:
                    break
                del after[at], after[over]
                after[to], at = mover, to
                yield dict(after), 1 - mover


def ataxx(position: Any = ({(0, 0): 0, (6, 6): 0, (0, 6): 1, (6, 0): 1}, 0)) -> Iterator[Any]:
    men, mover = position
    if len(set(men.values())) == 2 and len(men) < 49:
        free, is_stuck = squares_of(7) - set(men), True
        for target in free:
            distances = {
                source: max(abs(source[0] - target[0]), abs(source[1] - target[1]))
                for source, owner in men.items()
                if owner == mover
            }
            starts: list[Any] = [source for source, distance in distances.items() if distance == 2]
            for start in starts + [None] * (1 in distances.values()):
                is_stuck = False
                after = {square: owner for square, owner in men.items() if square != start} | {target: mover}
                for down, right in AROUND:
                    if (beside := (target[0] + down, target[1] + right)) in after:
                        after[beside] = mover
                yield after, 1 - mover
        if is_stuck:
            yield men, 1 - mover


def oware(position: Any = ([4] * 12, [0, 0], 0)) -> Iterator[Any]:
    """Pits 0 to 5 are those of player 0."""
    pits, taken, mover = position
    mine, theirs = [range(6), range(6, 12)][:: 1 if mover == 0 else -1]
    if max(taken) > 24:
        return
    for start in mine:
        after, place = list(pits), start
        after[start] = 0
        for _ in range(pits[start]):
            place = (place + 1) % 12
            place = (place + 1) % 12 if place == start else place
            after[place] += 1
        if not pits[start] or (not any(pits[i] for i in theirs) and not any(after[i] for i in theirs)):
            continue
        caught = []
        while place in theirs and after[place] in (2, 3):
            caught.append(place)
            place -= 1
        if sum(after[i] for i in theirs) == sum(after[i] for i in caught):
            caught = []
        count = sum(after[i] for i in caught)
        after = [0 if i in caught else seeds for i, seeds in enumerate(after)]
        yield after, [taken[i] + count * (i == mover) for i in range(2)], 1 - mover


WALLS_START = {(row, column): int(row < 2) for row, column in squares_of(6) if row not in (2, 3)}


def walls(position: Any = (WALLS_START, (3, 3), 0)) -> Iterator[Any]:
    """A wall has owner 2."""
    men, left, mover = position
    if any(men.get((0 if owner == 0 else 5, column)) == owner for owner in (0, 1) for column in range(6)):
        return
    down = -1 if mover == 0 else 1
    for row, column in [square for square, owner in men.items() if owner == mover]:
        for right in (-1, 0, 1):
            target = row + down, column + right
            allowed = (None,) if right == 0 else (None, 1 - mover)
            if target in squares_of(6) and men.get(target) in allowed:
                after = {square: owner for square, owner in men.items() if square != (row, column)}
                yield after | {target: mover}, left, 1 - mover
    if left[mover]:
        for square in squares_of(6) - set(men):
            if square[0] in range(1, 5):
                yield men | {square: 2}, tuple(left[i] - (i == mover) for i in range(2)), 1 - mover


def y(position: Any = ({}, 0)) -> Iterator[Any]:
    men, mover = position
    for row in range(9):
        for column in range(row + 1):
            if (row, column) not in men:
                yield men | {(row, column): mover}, 1 - mover


LOA_START = {(row, column): 0 for row in (0, 5) for column in range(1, 5)}
LOA_START |= {(row, column): 1 for row in range(1, 5) for column in (0, 5)}


def is_together(men: set[tuple[int, int]]) -> bool:
    waiting, found = [next(iter(men))], set[tuple[int, int]]()
    while waiting:
        row, column = waiting.pop()
        found.add((row, column))
        beside = {(row + down, column + right) for down, right in AROUND}
        waiting.extend((beside & men) - found)
    return found == men


def loa(position: Any = (LOA_START, 0)) -> Iterator[Any]:
    men, mover = position
    if any(is_together({square for square, owner in men.items() if owner == player}) for player in (0, 1)):
        return
    for (row, column), owner in men.items():
        for down, right in AROUND if owner == mover else ():
            line = [(row + k * down, column + k * right) for k in range(-6, 7)]
            count = sum(square in men for square in line)
            target = row + count * down, column + count * right
            between = [(row + k * down, column + k * right) for k in range(1, count)]
            is_open = all(men.get(square, mover) == mover for square in between)
            if target in squares_of(6) and is_open and men.get(target) != mover:
                yield (
                    {square: who for square, who in men.items() if square != (row, column)} | {target: mover},
                    1 - mover,
                )


CARDS = {
    "tiger": [(2, 0), (-1, 0)],
    "crab": [(1, 0), (0, 2), (0, -2)],
    "monkey": [(1, 1), (1, -1), (-1, 1), (-1, -1)],
    "crane": [(1, 0), (-1, 1), (-1, -1)],
    "dragon": [(1, 2), (1, -2), (-1, 1), (-1, -1)],
}
"""Squares ahead and to the side."""
ONITAMA_START = {(4 * (1 - owner), column): (owner, column == 2) for owner in (0, 1) for column in range(5)}


def onitama(position: Any = (ONITAMA_START, ({"tiger", "crab"}, {"monkey", "crane"}), "dragon", 0)) -> Iterator[Any]:
    men, hands, side, mover = position
    masters = {owner: square for square, (owner, is_master) in men.items() if is_master}
    if len(masters) < 2 or masters[0] == (0, 2) or masters[1] == (4, 2):
        return
    found = []
    for card in hands[mover]:
        for ahead, right in CARDS[card]:
            for (row, column), man in men.items():
                target = row - ahead if mover == 0 else row + ahead, column + right
                if man[0] == mover and target in squares_of(5) and men.get(target, (None,))[0] != mover:
                    after = {square: other for square, other in men.items() if square != (row, column)}
                    found.append((after | {target: man}, card))
    for after, card in found or [(men, card) for card in hands[mover]]:
        after_hands = tuple((hand - {card}) | {side} if i == mover else hand for i, hand in enumerate(hands))
        yield after, after_hands, card, 1 - mover


STEPS = {
    "L": AROUND,
    "G": [(1, 0), (-1, 0), (0, 1), (0, -1)],
    "E": [(1, 1), (1, -1), (-1, 1), (-1, -1)],
    "C": [(1, 0)],
    "H": [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1)],
}
"""Squares ahead and to the side."""
ANIMALS_START = {(3, 0): (0, "E"), (3, 1): (0, "L"), (3, 2): (0, "G"), (2, 1): (0, "C")}
ANIMALS_START |= {(3 - row, 2 - column): (1, kind) for (row, column), (_, kind) in ANIMALS_START.items()}


def reached(men: Any, player: int) -> Iterator[tuple[Any, Any]]:
    for (row, column), (owner, kind) in men.items():
        for ahead, right in STEPS[kind] if owner == player else ():
            target = row - ahead if player == 0 else row + ahead, column + right
            if 0 <= target[0] < 4 and 0 <= target[1] < 3:
                yield (row, column), target


def animals(position: Any = (ANIMALS_START, ("", ""), 0)) -> Iterator[Any]:
    men, hands, mover = position
    lions = {owner: square for square, (owner, kind) in men.items() if kind == "L"}
    attacked = {target for _, target in reached(men, mover)}
    arrived = lions.get(1 - mover, (-1,))[0] == (0 if mover == 1 else 3)
    if mover not in lions or (arrived and lions[1 - mover] not in attacked):
        return
    for start, target in reached(men, mover):
        if men.get(target, (None,))[0] != mover:
            taken = men[target][1].replace("H", "C").replace("L", "") if target in men else ""
            kind = men[start][1]
            kind = "H" if kind == "C" and target[0] == (0 if mover == 0 else 3) else kind
            after = {square: man for square, man in men.items() if square != start} | {target: (mover, kind)}
            yield after, tuple(hand + taken * (i == mover) for i, hand in enumerate(hands)), 1 - mover
    for kind in set(hands[mover]):
        left = tuple(hand.replace(kind, "", 1) if i == mover else hand for i, hand in enumerate(hands))
        for square in {(row, column) for row in range(4) for column in range(3)} - set(men):
            yield men | {square: (mover, kind)}, left, 1 - mover


HEXAGON = {(a, b) for a in range(-4, 5) for b in range(-4, 5) if abs(a + b) <= 4}
TURNS = [(0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0)]
"""The six directions, each next to the one before it."""


def chains(stones: set[tuple[int, int]]) -> Iterator[set[tuple[int, int]]]:
    left = set(stones)
    while left:
        waiting, found = [left.pop()], set[tuple[int, int]]()
        while waiting:
            a, b = waiting.pop()
            found.add((a, b))
            waiting.extend({(a + x, b + y) for x, y in TURNS} & stones - found)
        left -= found
        yield found


def edges(a: int, b: int) -> list[tuple[int, bool]]:
    """Those at which a cell is: one of three coordinates, and whether it is large there."""
    return [(number, place > 0) for number, place in enumerate((a, b, -a - b)) if abs(place) == 4]


def how_won(stones: set[tuple[int, int]]) -> set[str]:
    """A ring is a walk that comes back to itself and turns by at most 60 degrees at each stone."""
    steps = {(a, b, turn) for a, b in stones for turn, (x, y) in enumerate(TURNS) if (a + x, b + y) in stones}
    while True:
        goes_on = {
            (a, b, turn)
            for a, b, turn in steps
            if any((a + TURNS[turn][0], b + TURNS[turn][1], (turn + bend) % 6) in steps for bend in (-1, 0, 1))
        }
        if goes_on == steps:
            break
        steps = goes_on
    found = {"ring"} if steps else set[str]()
    for chain in chains(stones):
        at = [edges(a, b) for a, b in chain]
        if sum(len(both) == 2 for both in at) >= 2:
            found.add("bridge")
        if len({one[0] for one in at if len(one) == 1}) >= 3:
            found.add("fork")
    return found


def havannah(position: Any = ({}, 0)) -> Iterator[Any]:
    men, mover = position
    if not how_won({cell for cell, owner in men.items() if owner != mover}):
        for cell in HEXAGON - set(men):
            yield men | {cell: mover}, 1 - mover
