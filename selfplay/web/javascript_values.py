"""Expressions in JavaScript and their kinds, as `selfplay.web.rules_in_javascript` makes them."""

from typing import Any, NamedTuple

from selfplay.compute.position_fields import Place
from selfplay.compute.positions import PositionClass
from selfplay.compute.words import PART_BITS

Kind = int | tuple[Any, ...] | PositionClass
"""K for a word of K parts, NUMBER, a tuple of kinds, or a class of positions."""
NUMBER, WORD = 0, 1


class Value(NamedTuple):
    """An expression in JavaScript."""

    text: str
    kind: Kind
    is_natural: bool = False
    """Whether it surely is a number without a sign, which is the same as a word."""

    def as_kind(self, kind: Kind) -> str:
        """The same where this kind is wanted; a word or number that is too large loses its highest bits."""
        match self.kind, kind:
            case int(own), int(parts) if own > parts or (own == NUMBER != parts and not self.is_natural):
                return wrapped(self.text, parts)
            case tuple(kinds), tuple(wanted) if kinds != wanted:
                names = [f"part{number}" for number in range(len(kinds))]
                values = [
                    Value(name, one).as_kind(other) for name, one, other in zip(names, kinds, wanted, strict=True)
                ]
                return f"(([{', '.join(names)}]) => [{', '.join(values)}])({self.text})"
        return self.text


def kind_of_field(place: Place) -> Kind:
    """The kind of a field of positions."""
    if place.is_several:
        return (NUMBER,) * len(place.offsets)
    return place.word_parts if place.is_board else NUMBER


def kind_of_entries(kind: Kind) -> Kind | None:
    """The kind of all the entries of a tuple; None if they are not alike, or it is not a tuple."""
    kinds = set(kind) if isinstance(kind, tuple) else set()
    return kinds.pop() if len(kinds) == 1 else None


def wrapped(text: str, kind: int) -> str:
    """A BigInt as a word or number of this kind."""
    return f"BigInt.asUintN({PART_BITS * kind}, {text})" if kind else f"BigInt.asIntN({PART_BITS}, {text})"


def joined_kind(one: Kind | None, other: Kind | None) -> Kind | None:
    """The kind of a value that is of either kind; None if there is none."""
    match one, other:
        case int(), int():
            return max(one, other)
        case tuple(), tuple() if len(one) == len(other):
            parts = tuple(map(joined_kind, one, other))
            return None if None in parts else parts
    return one if one == other else None
