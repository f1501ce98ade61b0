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

struct_proxy: Any = cgutils.create_struct_proxy
lower_attributes: Any = lower_getattr_generic


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


def make_compiled(of: Any, signature: Signature) -> None:
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


def emit_fits(context: Any, builder: Any, called: Any, values: Any) -> Any:
    """Generate the code of `selfplay.compute.positions.fits`."""
    found = ir.Constant(ir.IntType(1), 1)
    for place in called.args[0].of.places:
        value = _field(context, builder, called.args[0], values[0], place.name)
        if place.bits < value.type.width:
            outside = builder.and_(value, ir.Constant(value.type, ~place.mask))
            found = builder.and_(found, builder.icmp_unsigned("==", outside, ir.Constant(value.type, 0)))
    return found


def emit_pack(context: Any, builder: Any, called: Any, values: Any) -> Any:
    """Generate the code of `selfplay.compute.positions.pack`."""
    packed = ir.Constant(context.get_value_type(called.return_type), 0)
    for place in called.args[0].of.places:
        value = _field(context, builder, called.args[0], values[0], place.name)
        if not (place.is_board and place.is_alone):
            value = builder.and_(value, ir.Constant(value.type, place.mask))
        shifted = builder.shl(_resized(builder, value, packed.type), ir.Constant(packed.type, place.offset))
        packed = builder.or_(packed, shifted)
    return packed
