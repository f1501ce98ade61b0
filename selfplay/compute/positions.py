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
from typing import Any, TypeVar, cast

import numpy as np
from numba import types
from numba.extending import typeof_impl
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compiled_position_type import PositionType, emit_fits, emit_pack, make_compiled
from selfplay.compute.compiled_word_type import define, in_compiled_code
from selfplay.compute.position_fields import MOST_SQUARES, Field, Place, fitting_value, layout_of, unpacked_value
from selfplay.compute.words import PART_BITS, WordInt, parts_of_bits, word_of_parts, word_parts
from selfplay.errors import ConformanceError

PositionT = TypeVar("PositionT", bound=type)
Packed = NDArray[np.int64]
"""int64[N, W]: packed positions, the lowest part of the packed word first."""


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


class PositionClass(type):
    """The class of a class of positions."""

    places: tuple[Place, ...]
    num_words: int
    """W, the number of int64s of a packed position."""
    is_general: bool
    """Whether packed positions are general words, see `WordType`."""
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
    return cast(PositionT, _class_with(declared, layout_of(_fields_of(declared))))


def general_position(declared: PositionT) -> PositionT:
    """The same of positions of the general game, whose last field is the address of a table (see `WordType`)."""
    return cast(PositionT, _class_with(declared, layout_of(_fields_of(declared)), is_general=True))


def _fields_of(declared: Any) -> Mapping[str, Any]:
    """The fields that a named tuple declares. Raises ConformanceError if one has no size."""
    fields: Mapping[str, Any] = declared._field_defaults
    for name in declared._fields:
        field = fields.get(name)
        if not isinstance(field, Field) or not field.is_possible:
            raise ConformanceError(
                f"{declared.__name__}.{name}: its size is missing or out of range; write = squares(n) with at most "
                f"{MOST_SQUARES:,} squares, = number(bits) with 1 to 63 bits, = numbers(n, up_to=largest), or = flag()"
            )
    return fields


@cache
def with_wide_boards(of: PositionClass, num_parts: int) -> PositionClass:
    """A class of the same positions whose boards are words of at least this many parts in rules."""
    places = tuple(
        one._replace(word_parts=max(one.word_parts, num_parts)) if one.is_board else one for one in of.places
    )
    return of if places == of.places else _class_with(of.__base__, places)


def _class_with(declared: Any, places: tuple[Place, ...], *, is_general: bool = False) -> PositionClass:
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
        return of_tuple(cls, map(fitting_value, places, values))

    def make(cls: Any, values: Iterable[Any]) -> Any:
        return cls(*values)

    def unpack(packed: Word) -> Any:
        return made(*(unpacked_value(place, int(packed)) for place in places))

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
        "is_general": is_general,
        "unpack": staticmethod(unpack),
    }
    made = PositionClass(declared.__name__, (declared,), members)
    make_compiled(made, signature)
    return made


def pack(position: Any) -> Word:
    """The packed word of a position."""
    word = 0
    for place, value in zip(type(position).places, position, strict=True):
        for offset, number in zip(place.offsets, value if place.is_several else (value,), strict=True):
            word += int(number) << offset
    return WordInt(word, type(position).num_words)


in_compiled_code(
    pack,
    lambda given: given.packed_type if isinstance(given, PositionType) else None,
    emit_pack,
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
    rows = [word_parts(pack(position), type(position).num_words) for position in positions]
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
        words[:, -1] &= word_parts(place.mask, place.num_parts)[-1]
        return words
    # The shift fills with the sign, which the mask takes away.
    mask = word_parts(place.mask, 1)[0]
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
