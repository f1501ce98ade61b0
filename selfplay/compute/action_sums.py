"""Sums of numbers that lie in several places, rectified and weighted, in vector instructions: the logits of actions."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from selfplay.compute.place_products import FLOAT_BYTES, OUTPUTS


def _rectified_sum(
    typing_context: Any,
    memory: Any,
    weights: Any,
    indices: Any,
    weight: Any,
    number: Any,
    places: Any,
    num_places: Any,
    total: Any,
) -> tuple[Any, Callable[..., Any]]:
    """total + the sum over j < OUTPUTS, in this order, of weights[weight + j] * max(0, x[j]).

    x[j] is the sum, in this order, of memory[indices[places + k] + number + j] over k < `num_places`, which is at least
    2. The arrays are float32, and int64 for `indices`, in C order; nothing is checked.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        # Made here, because the identity of code does not describe types of LLVM that are values of a module.
        index, lane, vector = ir.IntType(64), ir.IntType(32), ir.VectorType(ir.FloatType(), OUTPUTS)
        zeros = ir.Constant(vector, [0.0] * OUTPUTS)
        sources, factors, addresses = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:3], values[:3], strict=True)
        )
        weight, number, places, num_places, total = values[3:]

        def loaded(pointer: Any, number: Any) -> Any:
            place = builder.bitcast(builder.gep(pointer, [number]), vector.as_pointer())
            return builder.load(place, align=FLOAT_BYTES)

        def numbers(k: Any) -> Any:
            address = builder.load(builder.gep(addresses, [builder.add(places, k)]))
            return loaded(sources, builder.add(address, number))

        first = numbers(ir.Constant(index, 0))
        before, loop, after = builder.block, *(builder.append_basic_block(name) for name in ("places", "all_places"))
        builder.branch(loop)
        builder.position_at_end(loop)
        k, x = builder.phi(index), builder.phi(vector)
        added, following = builder.fadd(x, numbers(k)), builder.add(k, ir.Constant(index, 1))
        for phi, start, then in ((k, ir.Constant(index, 1), following), (x, first, added)):
            phi.add_incoming(start, before)
            phi.add_incoming(then, loop)
        builder.cbranch(builder.icmp_signed("<", following, num_places), loop, after)
        builder.position_at_end(after)
        rectified = builder.select(builder.fcmp_ordered("<", added, zeros), zeros, added)
        products = builder.fmul(rectified, loaded(factors, weight))
        for j in range(OUTPUTS):
            total = builder.fadd(total, builder.extract_element(products, ir.Constant(lane, j)))
        return total

    arrays, numbers = (memory, weights, indices), (weight, number, places, num_places)
    return types.float32(*arrays, *(types.int64 for _ in numbers), types.float32), generate


rectified_sum: Any = intrinsic(_rectified_sum)
