"""The Portable Draughts Notation (PDN 3.0, https://wiegerw.github.io/pdn/): numbers of squares, moves of several jumps,
and positions."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from selfplay.errors import IllegalActionError, shortened
from selfplay.games.rules import Rules

DARK = [square for square in range(64) if (square // 8 + square % 8) % 2]
"""The squares on which pieces stand."""
SIDES = "BW"
"""The colours by player."""
MOVE = re.compile(r"\d{1,2}(?:[-x:]\d{1,2})++", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
PIECES = re.compile(r"(K?)(\d{1,2})(?:-(\d{1,2}))?")
"""A piece of the tag FEN, or pieces on all squares from one to another."""
COUNTS = re.compile(r"(?::H\d+)?(?::F\d+)?$")
"""The moves without progress and the number of the next move, at the end of the tag FEN."""


def number_of(square: int) -> int:
    """The number of a dark square, 1 to 32."""
    return 32 - square // 2


def square_of(number: int) -> int:
    """The dark square with a number, 1 to 32."""
    return DARK[32 - number]


def actions_of_move(rules: Rules, moves: Sequence[tuple[int, int]], position: Any, text: str) -> list[int]:
    """The actions of one move, such as 11-15, 15x22 or 11x18x25.

    Args:
        moves: where each action begins and ends.
        position: before the move.

    Raises IllegalActionError if the move is not legal, or can be made in ways with different captures.
    """
    if MOVE.fullmatch(text) is None:
        raise IllegalActionError("not a move; write a step such as 11-15, or a jump such as 15x22")
    numbers = [int(number) for number in NUMBER.findall(text)]
    if not all(1 <= number <= 32 for number in numbers):
        raise IllegalActionError("squares have the numbers 1 to 32")
    first, *others = map(square_of, numbers)
    ways = {after: actions for actions, after in _ways(rules, moves, position, first, others)}
    if len(ways) > 1:
        raise IllegalActionError("it can be made in several ways; write the squares between, such as 11x18x25")
    if ways:
        return next(iter(ways.values()))
    # One of several jumps, written for itself.
    legal = int(rules.legal_actions(position))
    if (move := (first, others[-1])) not in moves or not (legal >> moves.index(move)) & 1:
        raise IllegalActionError("not a legal move")
    return [moves.index(move)]


def _ways(
    rules: Rules, moves: Sequence[tuple[int, int]], position: Any, origin: int, through: Sequence[int]
) -> Iterator[tuple[list[int], Any]]:
    """The actions by which a piece goes from `origin` over squares to the last of them and stops there, and the
    position after each."""
    legal = int(rules.legal_actions(position))
    for action, (start, target) in enumerate(moves):
        if start != origin or not (legal >> action) & 1:
            continue
        after = rules.play(position, action)
        rest = through[1:] if target == through[0] else through
        if rules.moves_again is not None and rules.moves_again(after):
            # A king may come over the last square and end there.
            for further in {tuple(rest or through), tuple(through)}:
                yield from (([action, *more], end) for more, end in _ways(rules, moves, after, target, further))
        elif not rest:
            yield [action], after


def read_pieces(text: str) -> tuple[int, tuple[int, int], int]:
    """Who is to move, the pieces of each player and the kings of both, as words, of a position such as
    B:W18,24,K27:B12,K16. The numbers of moves that may follow, :H0:F1, are skipped. Raises IllegalActionError."""
    side, *colours = COUNTS.sub("", text.strip().rstrip(".").upper()).split(":")
    if side not in tuple(SIDES) or sorted(part[:1] for part in colours) != list(SIDES):
        raise IllegalActionError(f"FEN {shortened(text)!r} is not a position such as B:W18,24,K27:B12,K16")
    pieces, kings = [0, 0], 0
    for part in colours:
        player = SIDES.index(part[0])
        for square, is_king in _squares_of(part[1:]):
            if (pieces[0] | pieces[1]) >> square & 1:
                raise IllegalActionError(f"FEN {shortened(text)!r}: two pieces are on {number_of(square)}")
            pieces[player] |= 1 << square
            kings |= int(is_king) << square
    if 0 in pieces:
        raise IllegalActionError(f"FEN {shortened(text)!r}: {('black', 'white')[pieces.index(0)]} has no pieces")
    return SIDES.index(side), (pieces[0], pieces[1]), kings


def _squares_of(text: str) -> Iterator[tuple[int, bool]]:
    """The square of each piece of a list, and whether it is a king. Raises IllegalActionError."""
    for part in filter(None, text.split(",")):
        found = PIECES.fullmatch(part.strip())
        first, last = (int(found[2]), int(found[3] or found[2])) if found else (0, 0)
        if found is None or not 1 <= first <= last <= 32:
            raise IllegalActionError(f"FEN: {shortened(part)!r} is not a square from 1 to 32, or K and a square")
        yield from ((square_of(number), bool(found[1])) for number in range(first, last + 1))


def written_pieces(to_move: int, squares: Sequence[int], kings: Sequence[int]) -> str:
    """A position as in `read_pieces`. `squares`: 1 for a piece of player 0, -1 for one of player 1."""
    white, black = (
        ",".join(
            f"{'K' if kings[square] else ''}{number_of(square)}" for square in DARK[::-1] if squares[square] == own
        )
        for own in (-1, 1)
    )
    return f"{SIDES[to_move]}:W{white}:B{black}"
