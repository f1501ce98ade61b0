"""The fields of positions: what they hold, where they are packed, and which values fit."""

from collections.abc import Mapping
from operator import index
from typing import Any, NamedTuple

from selfplay.compute.lost_bits import TracedWord
from selfplay.compute.words import NUMBERS, PART_BITS, WordInt, parts_of_bits
from selfplay.errors import ConformanceError, shortened

MOST_SQUARES = 10_000
"""Of a board, and the largest number of actions: larger words take seconds, and cannot be written as numbers."""


class Field(NamedTuple):
    """What a field of a position holds."""

    is_board: bool
    bits: int
    """Of several numbers, those of each."""
    how_many: int | None = None
    """How many numbers it holds; None: a board or a single number."""
    up_to: int | None = None
    """The largest that each of several numbers can be."""

    @property
    def is_possible(self) -> bool:
        sizes = [self.bits] if self.how_many is None else [self.bits, self.how_many]
        are_sizes = all(isinstance(size, int) and size >= 1 for size in sizes)
        return are_sizes and (self.bits <= MOST_SQUARES if self.is_board else self.bits < PART_BITS)


class Place(NamedTuple):
    """Where a field is in the packed word."""

    name: str
    is_board: bool
    bits: int
    """Of several numbers, those of each."""
    offsets: tuple[int, ...]
    """The number of bits below each of several numbers; otherwise of the one board or number."""
    is_alone: bool
    """Whether no other field has bits in the same parts."""
    up_to: int
    """The largest board or number."""
    word_parts: int
    """K, of the word that is a board in rules; at least `num_parts`."""
    is_several: bool = False
    """Whether the field holds several numbers."""

    @property
    def offset(self) -> int:
        """The number of bits below the field, of which the first number is the lowest."""
        return self.offsets[0]

    @property
    def num_parts(self) -> int:
        """The number of parts in which a board is stored."""
        return parts_of_bits(self.bits)

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1


def layout_of(fields: Mapping[str, Field]) -> tuple[Place, ...]:
    """The places of fields: boards in their order, then numbers, each in the first int64 with enough free bits."""
    free, offsets = list[int](), dict[str, list[int]]()
    for name, field in fields.items():
        if field.is_board:
            offsets[name] = [PART_BITS * len(free)]
            parts = parts_of_bits(field.bits)
            free += [0] * (parts - 1) + [PART_BITS * parts - field.bits]
    boards = len(free)
    shared = set[int]()
    for name, field in fields.items():
        if not field.is_board:
            offsets[name] = []
            for _ in range(field.how_many or 1):
                part = next((k for k, bits in enumerate(free) if bits >= field.bits), len(free))
                if part == len(free):
                    free.append(PART_BITS)
                offsets[name].append(PART_BITS * part + PART_BITS - free[part])
                free[part] -= field.bits
                shared |= {part} if part < boards else set()
    return tuple(
        Place(
            name,
            field.is_board,
            field.bits,
            tuple(offsets[name]),
            (offsets[name][-1] + field.bits - 1) // PART_BITS not in shared,
            (1 << field.bits) - 1 if field.up_to is None else field.up_to,
            parts_of_bits(field.bits),
            field.how_many is not None,
        )
        for name, field in fields.items()
    )


def unpacked_value(place: Place, packed: int) -> int | tuple[int, ...]:
    """The value of a field of a packed position."""
    values = tuple(packed >> offset & place.mask for offset in place.offsets)
    return values if place.is_several else values[0]


def fitting_value(place: Place, value: Any) -> Any:
    """The value of a field as its kind. Raises ConformanceError if it does not fit."""
    if place.is_several:
        return _fitting_numbers(place, value)
    try:
        number = index(value)
    except TypeError:
        raise ConformanceError(f"the field {place.name} gets {value!r}, which is not a word or a number") from None
    word = WordInt(number, place.word_parts) if place.is_board else number
    # Boards that fill their words may be cut at their edge.
    lost = value.lost if isinstance(value, TracedWord) and place.bits % PART_BITS else 0
    if 0 <= int(word) <= place.up_to and number >> PART_BITS * place.word_parts <= 0 and not lost:
        return word
    if place.is_board:
        raise ConformanceError(
            f"the field {place.name} has {place.bits} squares, bits 0 to {place.bits - 1}, but bit "
            f"{max(int(word), number, lost).bit_length() - 1} is set"
        )
    raise ConformanceError(
        f"the field {place.name} is a number from 0 to {place.up_to} ({place.bits} bits), but gets {number}"
    )


def _fitting_numbers(place: Place, values: Any) -> tuple[int, ...]:
    """The value of a field of several numbers. Raises ConformanceError if it does not fit."""
    name, count = place.name, len(place.offsets)
    if not isinstance(values, tuple) or len(values) != count:
        given = f"one of {len(values)}" if isinstance(values, tuple) else shortened(repr(values))
        remedy = f"; to change one number, write replaced({name}, i, number)" if isinstance(values, list) else ""
        raise ConformanceError(f"the field {name} is a tuple of {count} numbers, but gets {given}{remedy}")
    for i, value in enumerate(values):
        if not isinstance(value, NUMBERS):
            raise ConformanceError(f"the field {name} gets {value!r} as {name}[{i}], which is not a number")
        if not 0 <= value <= place.up_to:
            raise ConformanceError(
                f"the field {name} has numbers from 0 to {place.up_to}, but gets {int(value)} as {name}[{i}]"
            )
    return tuple(map(int, values))
