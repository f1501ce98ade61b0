"""Sums of products for several places at a time, as convolutions need them, in vector instructions.

LLVM does not find these instructions in loops that numba compiles, which are about half as fast.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

PLACES, OUTPUTS = 7, 16
"""Numbers of places and outputs whose sums are taken together: as many as fit into the registers of a processor."""

NUMBER, INDEX, LANE = ir.FloatType(), ir.IntType(64), ir.IntType(32)
VECTOR = ir.VectorType(NUMBER, OUTPUTS)
FLOAT_BYTES = 4


def _sums(flags: tuple[str, ...]) -> Any:
    """The function that adds up products, by additions and multiplications with these flags of LLVM."""

    def typed(
        typing_context: Any, inputs: Any, places: Any, first: Any, taps: Any, weights: Any, start: Any, sums: Any
    ) -> tuple[Any, Callable[..., Any]]:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            arrays = [
                context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, values, strict=True)
            ]
            _generate(builder, flags, *arrays)
            return context.get_dummy_value()

        return types.void(inputs, places, types.int64, taps, weights, types.int64, sums), generate

    return intrinsic(typed)


def _generate(
    builder: Any,
    flags: tuple[str, ...],
    inputs: Any,
    places: Any,
    first: Any,
    taps: Any,
    weights: Any,
    start: Any,
    sums: Any,
) -> None:
    """Generate a loop over the taps that keeps the sums in registers."""
    numbers = [builder.add(first, ir.Constant(INDEX, place)) for place in range(PLACES)]
    here = [builder.gep(inputs.data, [builder.load(builder.gep(places.data, [number]))]) for number in numbers]
    of_first_tap, count = builder.gep(weights.data, [start]), builder.extract_value(taps.shape, 0)
    before, loop, after = builder.block, *(builder.append_basic_block(name) for name in ("taps", "all_taps"))
    builder.branch(loop)
    builder.position_at_end(loop)
    k, totals = builder.phi(INDEX), [builder.phi(VECTOR) for _ in here]
    tap = builder.load(builder.gep(taps.data, [k]))
    weight = builder.load(
        _vector_at(builder, of_first_tap, builder.mul(k, ir.Constant(INDEX, OUTPUTS))), align=FLOAT_BYTES
    )
    inputs_here = [_repeated(builder, builder.load(builder.gep(pointer, [tap]))) for pointer in here]
    added = [
        builder.fadd(total, builder.fmul(one, weight, flags=flags), flags=flags)
        for total, one in zip(totals, inputs_here, strict=True)
    ]
    following = builder.add(k, ir.Constant(INDEX, 1))
    zero = ir.Constant(VECTOR, [0.0] * OUTPUTS)
    for variable, begin, end in (
        (k, ir.Constant(INDEX, 0), following),
        *((a, zero, b) for a, b in zip(totals, added, strict=True)),
    ):
        variable.add_incoming(begin, before)
        variable.add_incoming(end, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)
    for place, total in enumerate(added):
        builder.store(total, _vector_at(builder, sums.data, ir.Constant(INDEX, place * OUTPUTS)), align=FLOAT_BYTES)


def _vector_at(builder: Any, pointer: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [index]), VECTOR.as_pointer())


def _repeated(builder: Any, number: Any) -> Any:
    """A vector whose entries are all this number."""
    nothing, lanes = ir.Constant(VECTOR, ir.Undefined), ir.VectorType(LANE, OUTPUTS)
    single = builder.insert_element(nothing, number, ir.Constant(LANE, 0))
    return builder.shuffle_vector(single, nothing, ir.Constant(lanes, [0] * OUTPUTS))


sum_products: Any = _sums(())
"""(inputs, places, first, taps, weights, start, sums): write the sums of PLACES places and OUTPUTS outputs.

The sum of output j in the place p = places[first + i] is that of weights[start + OUTPUTS k + j] * inputs[p + taps[k]],
added in the order of k, and is written to sums[OUTPUTS i + j]. The arrays are float32, and int64 for places and taps,
in C order; nothing is checked. Only for compiled code.
"""

sum_fused_products: Any = _sums(("contract",))
"""The same, where the processor adds a product in one operation, with one rounding: faster, and not portable."""
