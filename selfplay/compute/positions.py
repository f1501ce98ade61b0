"""Positions: named tuples whose fields have sizes, and how they are packed into words of 64 bits.

    @position
    class Position(NamedTuple):
        own: Word = squares(64)
        opp: Word = squares(64)
        passes: int = number(2)

The fields are seen by the player to move. A rule reads them by name and makes the next position by calling the class.
A board (`squares`) is a word, which has K parts of 64 bits; a `number` is an int without a sign. Arrays, tables and
files hold positions packed into W int64s: each board begins a new one, and a number takes the free bits of one. So a
position of two boards of 64 squares is packed as it is.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import models, register_model, typeof_impl
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compiled_word_type import NUMBERS, WordType, define, in_compiled_code, word_type
from selfplay.compute.words import PART_BITS, WordInt, parts_of, parts_of_bits, word_of_parts
from selfplay.errors import ConformanceError

PositionT = TypeVar("PositionT", bound=type)
struct_proxy: Any = cgutils.create_struct_proxy
lower_attributes: Any = lower_getattr_generic
Packed = NDArray[np.int64]
"""int64[N, W]: packed positions, the lowest part of the packed word first."""


class Field(NamedTuple):
    """What a field of a position holds."""

    is_board: bool
    bits: int

    @property
    def is_possible(self) -> bool:
        return isinstance(self.bits, int) and self.bits >= 1 and (self.is_board or self.bits < PART_BITS)


def squares(count: int) -> Any:
    """A field that is a board of `count` squares: a word, of which bit i is square i."""
    return Field(True, count)


def number(bits: int) -> Any:
    """A field that is a number from 0 to 2**bits - 1; `bits`: 1 to 63."""
    return Field(False, bits)


def flag() -> Any:
    """A field that is 0 or 1."""
    return number(1)


class Place(NamedTuple):
    """Where a field is in the packed word."""

    name: str
    is_board: bool
    bits: int
    offset: int
    """The number of bits below it."""
    is_alone: bool
    """Whether no other field has bits in the same parts."""

    @property
    def num_parts(self) -> int:
        """K, of a board."""
        return parts_of_bits(self.bits)

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1


def _layout(fields: Mapping[str, Field]) -> tuple[Place, ...]:
    """The places of fields: boards in their order, then numbers, each in the first int64 with enough free bits."""
    free, offsets = list[int](), dict[str, int]()
    for name, field in fields.items():
        if field.is_board:
            offsets[name] = PART_BITS * len(free)
            parts = parts_of_bits(field.bits)
            free += [0] * (parts - 1) + [PART_BITS * parts - field.bits]
    boards = len(free)
    shared = set[int]()
    for name, field in fields.items():
        if not field.is_board:
            part = next((k for k, bits in enumerate(free) if bits >= field.bits), len(free))
            if part == len(free):
                free.append(PART_BITS)
            offsets[name] = PART_BITS * part + PART_BITS - free[part]
            free[part] -= field.bits
            shared |= {part} if part < boards else set()
    return tuple(
        Place(name, *field, offsets[name], (offsets[name] + field.bits - 1) // PART_BITS not in shared)
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
    """Make a named tuple, whose fields have `squares`, `number` or `flag` as defaults, a class of positions.

    Calling the class needs all fields. Outside compiled code, it makes boards of ints and raises ConformanceError for a
    value that does not fit in its field.
    """
    fields: Mapping[str, Any] = declared._field_defaults  # type: ignore[attr-defined]
    names: tuple[str, ...] = declared._fields  # type: ignore[attr-defined]
    for name in names:
        field = fields.get(name)
        if not isinstance(field, Field) or not field.is_possible:
            raise ConformanceError(
                f"{declared.__name__}.{name}: its size is missing or out of range; write = squares(n), = number(bits) "
                "with 1 to 63 bits, or = flag()"
            )
    places = _layout(fields)
    num_words = parts_of_bits(max(place.offset + place.bits for place in places))
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
        return made(*(int(packed) >> place.offset & place.mask for place in places))

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
    made: Any = PositionClass(declared.__name__, (declared,), members)
    _make_compiled(made, signature)
    return cast(PositionT, made)


def _fitting(place: Place, value: Any) -> Any:
    """The value of a field as its kind. Raises ConformanceError if it does not fit."""
    try:
        number = index(value)
    except TypeError:
        raise ConformanceError(f"the field {place.name} gets {value!r}, which is not a word or a number") from None
    word = WordInt(number, place.num_parts) if place.is_board else number
    if 0 <= int(word) <= place.mask and number >> PART_BITS * place.num_parts <= 0:
        return word
    if place.is_board:
        raise ConformanceError(
            f"the field {place.name} has {place.bits} squares, bits 0 to {place.bits - 1}, but bit "
            f"{max(int(word), number).bit_length() - 1} is set"
        )
    raise ConformanceError(
        f"the field {place.name} is a number from 0 to {place.mask} ({place.bits} bits), but gets {number}"
    )


def pack(position: Any) -> Word:
    """The packed word of a position."""
    places = type(position).places
    word = sum(int(value) << place.offset for place, value in zip(places, position, strict=True))
    return WordInt(word, type(position).num_words)


# ---------------------------------------------------------------------- arrays


def packed_array(positions: Sequence[Any]) -> Packed:
    """int64[N, W]: these positions of one class, at least one."""
    rows = [parts_of(pack(position), type(position).num_words) for position in positions]
    return np.array(rows, dtype=np.int64)


def position_at(of: Any, packed: Packed | Any, row: int) -> Any:
    """The position of class `of` in a row of int64[N, W]."""
    return of.unpack(word_of_parts(packed[row].tolist()))


def field_values(of: Any, packed: Packed, name: str) -> Packed:
    """int64[N], or int64[N, K] for a board of more than 64 squares: a field of positions of class `of`."""
    place = of.place(name)
    first, shift = divmod(place.offset, PART_BITS)
    if place.bits > PART_BITS:
        words = packed[:, first : first + place.num_parts].copy()
        words[:, -1] &= parts_of(place.mask, place.num_parts)[-1]
        return words
    # The shift fills with the sign, which the mask takes away.
    values: Packed = packed[:, first] >> shift & parts_of(place.mask, 1)[0]
    return values


def packed_fields(of: Any, values: Mapping[str, Packed]) -> Packed:
    """int64[N, W]: positions of class `of` with these fields, as `field_values` gives them; all others are 0."""
    packed = np.zeros((len(next(iter(values.values()))), of.num_words), dtype=np.int64)
    for name, given in values.items():
        place = of.place(name)
        first, shift = divmod(place.offset, PART_BITS)
        words = given[:, None] if given.ndim == 1 else given
        packed[:, first : first + place.num_parts] |= words << shift
    return packed


# ---------------------------------------------------------------------- compiled


class PositionType(types.Type):
    """Positions of one class in compiled code."""

    def __init__(self, of: Any) -> None:
        self.of = of
        kinds = "_".join(f"{place.name}{place.bits}{'b' if place.is_board else ''}" for place in of.places)
        super().__init__(name=f"{of.__qualname__}_{kinds}")
        self.fields = {place.name: word_type(place.num_parts) if place.is_board else types.int64 for place in of.places}


class _PositionModel(models.StructModel):
    def __init__(self, manager: Any, kind: PositionType) -> None:
        super().__init__(manager, kind, list(kind.fields.items()))  # type: ignore[no-untyped-call]


def _field_type(self: Any, kind: PositionType, name: str) -> Any:
    if name not in kind.fields:
        made = f"{kind.of.__name__}({', '.join(kind.fields)})"
        raise TypingError(f"a position has no {name}, only the fields of {made}; to change one, make another position")
    return kind.fields[name]


def _field(context: Any, builder: Any, kind: PositionType, value: Any, name: str) -> Any:
    return getattr(struct_proxy(kind)(context, builder, value=value), name)


define(register_model(PositionType), _PositionModel)
define(
    infer_getattr,
    type("PositionAttributes", (AttributeTemplate,), {"key": PositionType, "generic_resolve": _field_type}),
)
define(lower_attributes(PositionType), _field)


def _make_compiled(of: Any, signature: inspect.Signature) -> None:
    """Let compiled code call the class and its `unpack`."""
    kind = PositionType(of)

    def result(*values: Any, **named: Any) -> Any:
        kinds = (*values, *named.values())
        return kind if all(isinstance(value, (WordType, *NUMBERS)) for value in kinds) else None

    result.__signature__ = signature  # type: ignore[attr-defined]

    def construct(context: Any, builder: Any, called: Any, values: Any) -> Any:
        made = struct_proxy(kind)(context, builder)
        for (name, wanted), given, value in zip(kind.fields.items(), called.args, values, strict=True):
            setattr(made, name, _converted(context, builder, given, wanted, value))
        return made._getvalue()

    def take_apart(context: Any, builder: Any, called: Any, values: Any) -> Any:
        made = struct_proxy(kind)(context, builder)
        for place in of.places:
            wanted = context.get_value_type(kind.fields[place.name])
            part = _resized(builder, builder.lshr(values[0], ir.Constant(values[0].type, place.offset)), wanted)
            if not (place.is_board and place.is_alone):
                part = builder.and_(part, ir.Constant(wanted, place.mask))
            setattr(made, place.name, part)
        return made._getvalue()

    in_compiled_code(of, result, construct)
    in_compiled_code(of.unpack, lambda packed: kind, take_apart)


def _resized(builder: Any, value: Any, wanted: Any) -> Any:
    """An integer with more or fewer bits, without a sign."""
    if value.type.width == wanted.width:
        return value
    return (builder.zext if value.type.width < wanted.width else builder.trunc)(value, wanted)


def _converted(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    if isinstance(given, WordType):
        return _resized(builder, value, context.get_value_type(wanted))
    return context.cast(builder, value, given, wanted)


def _pack(context: Any, builder: Any, called: Any, values: Any) -> Any:
    packed = ir.Constant(context.get_value_type(called.return_type), 0)
    for place in called.args[0].of.places:
        value = _field(context, builder, called.args[0], values[0], place.name)
        if not (place.is_board and place.is_alone):
            value = builder.and_(value, ir.Constant(value.type, place.mask))
        shifted = builder.shl(_resized(builder, value, packed.type), ir.Constant(packed.type, place.offset))
        packed = builder.or_(packed, shifted)
    return packed


in_compiled_code(pack, lambda given: word_type(given.of.num_words) if isinstance(given, PositionType) else None, _pack)
# Calling a class of positions is what `type_callable` defines, not what numba knows of named tuples.
define(typeof_impl.register(PositionClass), lambda of, context: None)
