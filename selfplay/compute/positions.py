"""Positions: named tuples whose fields have sizes, and how they are packed into words of 64 bits.

    @position
    class Position(NamedTuple):
        own: Word = squares(64)
        opp: Word = squares(64)
        passes: int = number(2)

The fields are seen by the player to move. A rule reads them by name and makes the next position by calling the class.
A board (`squares`) is a word, which has K parts of 64 bits; a `number` is an int without a sign, and `numbers` are a
tuple of them. Arrays, tables and files hold positions packed into W int64s: each board begins a new one, and a number
takes the free bits of one. So a position of two boards of 64 squares is packed as it is.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import index
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import types
from numba.extending import typeof_impl
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compiled_position_type import PositionType, emit_fits, emit_pack, make_compiled
from selfplay.compute.compiled_word_type import define, in_compiled_code, word_type
from selfplay.compute.words import NUMBERS, PART_BITS, WordInt, parts_of, parts_of_bits, word_of_parts
from selfplay.errors import ConformanceError, shortened

PositionT = TypeVar("PositionT", bound=type)
Packed = NDArray[np.int64]
"""int64[N, W]: packed positions, the lowest part of the packed word first."""


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
        return are_sizes and (self.is_board or self.bits < PART_BITS)


def squares(count: int) -> Any:
    """A field that is a board of `count` squares: a word, of which bit i is square i."""
    return Field(True, count)


def number(bits: int) -> Any:
    """A field that is a number from 0 to 2**bits - 1; `bits`: 1 to 63."""
    return Field(False, bits)


def numbers(count: int, up_to: int) -> Any:
    """A field that is a tuple of `count` numbers from 0 to `up_to`, which is less than 2**63.

    `selfplay.replaced` makes the next tuple from it.
    """
    bits = up_to.bit_length() if isinstance(up_to, int) and up_to > 0 else 0
    return Field(False, bits, count, up_to)


def flag() -> Any:
    """A field that is 0 or 1."""
    return number(1)


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


def _layout(fields: Mapping[str, Field]) -> tuple[Place, ...]:
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


class PositionClass(type):
    """The class of a class of positions."""

    places: tuple[Place, ...]
    num_words: int
    """W, the number of int64s of a packed position."""
    unpack: Callable[[Word], Any]
    """(packed word) to the position."""

    def place(cls, name: str) -> Place:
        """Where the field with this name is."""
        return next(place for place in cls.places if place.name == name)


def position(declared: PositionT) -> PositionT:
    """Make a named tuple, whose fields have `squares`, `number`, `numbers` or `flag` as defaults, a class of positions.

    Calling the class needs all fields. Outside compiled code, it makes boards of ints and raises ConformanceError for a
    value that does not fit in its field.
    """
    fields: Mapping[str, Any] = declared._field_defaults  # type: ignore[attr-defined]
    for name in declared._fields:  # type: ignore[attr-defined]
        field = fields.get(name)
        if not isinstance(field, Field) or not field.is_possible:
            raise ConformanceError(
                f"{declared.__name__}.{name}: its size is missing or out of range; write = squares(n), = number(bits) "
                "with 1 to 63 bits, = numbers(n, up_to=largest), or = flag()"
            )
    return cast(PositionT, _class_with(declared, _layout(fields)))


@cache
def with_wide_boards(of: PositionClass, num_parts: int) -> PositionClass:
    """A class of the same positions whose boards are words of at least this many parts in rules."""
    places = tuple(
        one._replace(word_parts=max(one.word_parts, num_parts)) if one.is_board else one for one in of.places
    )
    return of if places == of.places else _class_with(of.__base__, places)


def _class_with(declared: Any, places: tuple[Place, ...]) -> PositionClass:
    """The class of positions of a named tuple whose fields have these places."""
    names = [place.name for place in places]
    num_words = parts_of_bits(max(offset + place.bits for place in places for offset in place.offsets))
    signature = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    of_tuple = tuple.__new__

    def new(cls: Any, *values: Any, **named: Any) -> Any:
        if named or len(values) != len(places):
            try:
                values = signature.bind(*values, **named).args
            except TypeError as error:
                raise ConformanceError(f"{cls.__name__}{signature}: {error}") from None
        return of_tuple(cls, map(_fitting, places, values))

    def make(cls: Any, values: Iterable[Any]) -> Any:
        return cls(*values)

    def unpack(packed: Word) -> Any:
        return made(*(_unpacked(place, int(packed)) for place in places))

    members = {
        "__new__": new,
        "_make": classmethod(make),
        "__slots__": (),
        "__doc__": declared.__doc__,
        "__module__": declared.__module__,
        "__qualname__": declared.__qualname__,
        "__signature__": signature,
        "places": places,
        "num_words": num_words,
        "unpack": staticmethod(unpack),
    }
    made = PositionClass(declared.__name__, (declared,), members)
    make_compiled(made, signature)
    return made


def _unpacked(place: Place, packed: int) -> int | tuple[int, ...]:
    """The value of a field of a packed position."""
    values = tuple(packed >> offset & place.mask for offset in place.offsets)
    return values if place.is_several else values[0]


def _fitting(place: Place, value: Any) -> Any:
    """The value of a field as its kind. Raises ConformanceError if it does not fit."""
    if place.is_several:
        return _fitting_numbers(place, value)
    try:
        number = index(value)
    except TypeError:
        raise ConformanceError(f"the field {place.name} gets {value!r}, which is not a word or a number") from None
    word = WordInt(number, place.word_parts) if place.is_board else number
    if 0 <= int(word) <= place.up_to and number >> PART_BITS * place.word_parts <= 0:
        return word
    if place.is_board:
        raise ConformanceError(
            f"the field {place.name} has {place.bits} squares, bits 0 to {place.bits - 1}, but bit "
            f"{max(int(word), number).bit_length() - 1} is set"
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


def pack(position: Any) -> Word:
    """The packed word of a position."""
    word = 0
    for place, value in zip(type(position).places, position, strict=True):
        for offset, number in zip(place.offsets, value if place.is_several else (value,), strict=True):
            word += int(number) << offset
    return WordInt(word, type(position).num_words)


in_compiled_code(
    pack, lambda given: word_type(given.of.num_words) if isinstance(given, PositionType) else None, emit_pack
)


def fits(position: Any) -> bool:
    """Whether every field of a position has a value of its size; compiled code can make others, which `pack` cuts."""
    return True


in_compiled_code(fits, lambda given: types.boolean if isinstance(given, PositionType) else None, emit_fits)
# Calling a class of positions is what `type_callable` defines, not what numba knows of named tuples.
define(typeof_impl.register(PositionClass), lambda of, context: None)


# ---------------------------------------------------------------------- arrays


def packed_array(positions: Sequence[Any]) -> Packed:
    """int64[N, W]: these positions of one class, at least one."""
    rows = [parts_of(pack(position), type(position).num_words) for position in positions]
    return np.array(rows, dtype=np.int64)


def position_at(of: Any, packed: Packed | Any, row: int) -> Any:
    """The position of class `of` in a row of int64[N, W]."""
    return of.unpack(word_of_parts(packed[row].tolist()))


def field_values(of: Any, packed: Packed, name: str) -> Packed:
    """A field of positions of class `of`: int64[N], int64[N, K] for a board of more than 64 squares, or int64[N, M] for
    M numbers."""
    place = of.place(name)
    if place.bits > PART_BITS:
        first = place.offset // PART_BITS
        words = packed[:, first : first + place.num_parts].copy()
        words[:, -1] &= parts_of(place.mask, place.num_parts)[-1]
        return words
    # The shift fills with the sign, which the mask takes away.
    mask = parts_of(place.mask, 1)[0]
    values = [packed[:, offset // PART_BITS] >> offset % PART_BITS & mask for offset in place.offsets]
    return np.stack(values, axis=1) if place.is_several else values[0]


def packed_fields(of: Any, values: Mapping[str, Packed]) -> Packed:
    """int64[N, W]: positions of class `of` with these fields, as `field_values` gives them; all others are 0."""
    packed = np.zeros((len(next(iter(values.values()))), of.num_words), dtype=np.int64)
    for name, given in values.items():
        place = of.place(name)
        columns = given[:, None] if given.ndim == 1 else given
        for offset, words in zip(place.offsets, columns.T[:, :, None] if place.is_several else [columns], strict=True):
            first, shift = divmod(offset, PART_BITS)
            packed[:, first : first + place.num_parts] |= words << shift
    return packed
