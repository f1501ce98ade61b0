"""`replaced`, with which rules change one of several numbers: uncompiled, and in compiled code."""

from operator import index
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from selfplay.compute.compiled_word_type import NUMBERS, in_compiled_code

building: Any = cgutils
uniform_tuple: Any = types.UniTuple
BEYOND = "tuple index out of range"


def replaced(numbers: tuple[int, ...], i: int, number: int) -> tuple[int, ...]:
    """The same tuple of numbers with another one in place i: `replaced((4, 4, 4), 1, 0)` is (4, 0, 4).

    A negative place counts from the end. Raises IndexError, as `numbers[i]` does, if there is no such place.
    """
    place = index(i)
    if not -len(numbers) <= place < len(numbers):
        raise IndexError(BEYOND)
    changed = list(numbers)
    changed[place] = int(number)
    return tuple(changed)


def _type_of_replaced(numbers: Any, i: Any, number: Any) -> Any:
    members: Any = numbers if isinstance(numbers, types.BaseTuple) else ()
    are_numbers = len(members) > 0 and all(isinstance(kind, NUMBERS) for kind in (*members, number))
    return uniform_tuple(types.int64, len(members)) if are_numbers and isinstance(i, types.Integer) else None


def _emit_replaced(context: Any, builder: Any, called: Any, values: Any) -> Any:
    kinds, place_kind, number_kind = called.args
    members = zip(kinds, building.unpack_tuple(builder, values[0]), strict=True)
    numbers = [context.cast(builder, member, kind, types.int64) for kind, member in members]
    place = context.cast(builder, values[1], place_kind, types.int64)
    count = ir.Constant(place.type, len(numbers))
    from_end = builder.icmp_signed("<", place, ir.Constant(place.type, 0))
    place = builder.select(from_end, builder.add(place, count), place)
    # What is still negative is large without a sign.
    with building.if_unlikely(builder, builder.icmp_unsigned(">=", place, count)):
        context.call_conv.return_user_exc(builder, IndexError, (BEYOND,))
    memory = building.alloca_once_value(builder, building.pack_array(builder, numbers))
    number = context.cast(builder, values[2], number_kind, types.int64)
    builder.store(number, building.gep_inbounds(builder, memory, 0, place))
    return builder.load(memory)


in_compiled_code(replaced, _type_of_replaced, _emit_replaced)
