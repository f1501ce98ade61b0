"""Positions in compiled code: a type for each class of positions, whose values are structs of words and numbers.

`selfplay.compute.positions` declares the classes.
"""

from inspect import Signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import models, register_model

from selfplay.compute.compiled_word_type import NUMBERS, WordType, define, in_compiled_code, word_type

building: Any = cgutils
struct_proxy: Any = cgutils.create_struct_proxy
uniform_tuple: Any = types.UniTuple
lower_attributes: Any = lower_getattr_generic

OPAQUE_FROM = 512
"""The smallest width of packed positions to which LLVM 22 cannot widen a number that is loaded and shifted."""


class PositionType(types.Type):
    """Positions of one class in compiled code."""

    def __init__(self, of: Any) -> None:
        self.of = of
        super().__init__(name=f"{of.__qualname__}_{'_'.join(map(_described, of.places))}")
        self.fields = {place.name: _kind_of(place) for place in of.places}
        self.packed_type = word_type(of.num_words, is_general=of.is_general)


def _described(place: Any) -> str:
    """A field as part of the name of a type."""
    if place.is_board:
        return f"{place.name}{place.bits}b{place.word_parts}"
    return f"{place.name}{place.bits}" + (f"x{len(place.offsets)}to{place.up_to}" if place.is_several else "")


def _kind_of(place: Any) -> Any:
    one = _kind_of_one(place)
    return uniform_tuple(one, len(place.offsets)) if place.is_several else one


def _kind_of_one(place: Any) -> Any:
    """The type of a board or number, or of each of several numbers."""
    return word_type(place.word_parts) if place.is_board else types.int64


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


def make_compiled(of: Any, signature: Signature) -> None:
    """Let compiled code call the class and its `unpack`."""
    kind = PositionType(of)

    def result(*values: Any, **named: Any) -> Any:
        given = signature.bind(*values, **named).arguments
        return kind if all(_fits(given[name], wanted) for name, wanted in kind.fields.items()) else None

    result.__signature__ = signature  # type: ignore[attr-defined]

    def construct(context: Any, builder: Any, called: Any, values: Any) -> Any:
        made = struct_proxy(kind)(context, builder)
        for (name, wanted), given, value in zip(kind.fields.items(), called.args, values, strict=True):
            setattr(made, name, _converted(context, builder, given, wanted, value))
        return made._getvalue()

    def take_apart(context: Any, builder: Any, called: Any, values: Any) -> Any:
        made = struct_proxy(kind)(context, builder)
        for place in of.places:
            wanted = context.get_value_type(_kind_of_one(place))
            parts = [_resized(builder, _shifted_down(builder, values[0], offset), wanted) for offset in place.offsets]
            if not _fills(place):
                parts = [builder.and_(part, ir.Constant(wanted, place.mask)) for part in parts]
            setattr(made, place.name, building.pack_array(builder, parts) if place.is_several else parts[0])
        return made._getvalue()

    in_compiled_code(of, result, construct)
    in_compiled_code(of.unpack, lambda packed: kind, take_apart)


def _fits(given: Any, wanted: Any) -> bool:
    """Whether a field of the type `wanted` can be made from a value of the type `given`."""
    if isinstance(wanted, types.UniTuple):
        members: Any = given if isinstance(given, types.BaseTuple) else ()
        return len(members) == wanted.count and all(_fits(member, wanted.dtype) for member in members)
    return isinstance(given, (WordType, *NUMBERS))


def _shifted_down(builder: Any, value: Any, bits: int) -> Any:
    return builder.lshr(value, ir.Constant(value.type, bits))


def _opaque(builder: Any, number: Any) -> Any:
    """The number, of which LLVM does not know that it is loaded or shifted."""
    same = ir.FunctionType(number.type, [number.type])
    return builder.asm(same, "", "=r,0", [number], False)


def _fills(place: Any) -> bool:
    """Whether a board may have bits beside its squares while it is stored: nothing else is there, or in its word."""
    return bool(place.is_board and place.is_alone and place.word_parts == place.num_parts)


def _resized(builder: Any, value: Any, wanted: Any) -> Any:
    """An integer with more or fewer bits, without a sign."""
    if value.type.width == wanted.width:
        return value
    return (builder.zext if value.type.width < wanted.width else builder.trunc)(value, wanted)


def _converted(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    if isinstance(wanted, types.UniTuple):
        members = zip(given, building.unpack_tuple(builder, value), strict=True)
        numbers = [_converted(context, builder, kind, wanted.dtype, member) for kind, member in members]
        return building.pack_array(builder, numbers)
    if isinstance(given, WordType):
        return _resized(builder, value, context.get_value_type(wanted))
    return context.cast(builder, value, given, wanted)


def emit_fits(context: Any, builder: Any, called: Any, values: Any) -> Any:
    """Generate the code of `selfplay.compute.positions.fits`."""
    found = ir.Constant(ir.IntType(1), 1)
    for place in called.args[0].of.places:
        value = _field(context, builder, called.args[0], values[0], place.name)
        if place.is_several:
            for number in building.unpack_tuple(builder, value):
                is_possible = builder.icmp_unsigned("<=", number, ir.Constant(number.type, place.up_to))
                found = builder.and_(found, is_possible)
        elif place.bits < value.type.width:
            outside = builder.and_(value, ir.Constant(value.type, ~place.mask))
            found = builder.and_(found, builder.icmp_unsigned("==", outside, ir.Constant(value.type, 0)))
    return found


def emit_pack(context: Any, builder: Any, called: Any, values: Any) -> Any:
    """Generate the code of `selfplay.compute.positions.pack`."""
    packed = ir.Constant(context.get_value_type(called.return_type), 0)
    for place in called.args[0].of.places:
        value = _field(context, builder, called.args[0], values[0], place.name)
        numbers = building.unpack_tuple(builder, value) if place.is_several else [value]
        for offset, number in zip(place.offsets, numbers, strict=True):
            if not _fills(place):
                number = builder.and_(number, ir.Constant(number.type, place.mask))
            if packed.type.width >= OPAQUE_FROM and not place.is_board:
                number = _opaque(builder, number)
            shifted = builder.shl(_resized(builder, number, packed.type), ir.Constant(packed.type, offset))
            packed = builder.or_(packed, shifted)
    return packed
