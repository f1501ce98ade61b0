"""Sums of products for several places and outputs at a time, as layers of networks need them, in vector instructions.

LLVM does not find these instructions in loops that numba compiles, which are about half as fast.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

PLACES, OUTPUTS = 7, 16
"""Numbers of places and outputs whose sums are taken together: as many as fit into 16 registers of 8 numbers."""
GROUPS = 2 if binding.get_host_cpu_features().get("avx512f") else 1
"""Groups of OUTPUTS outputs for which an input is loaded once, in several places: two fit into 32 registers of 16."""

NUMBER, INDEX, LANE = ir.FloatType(), ir.IntType(64), ir.IntType(32)
VECTOR = ir.VectorType(NUMBER, OUTPUTS)
ZEROS = ir.Constant(VECTOR, [0.0] * OUTPUTS)
FLOAT_BYTES = 4


def sums_of(places: int, groups: int) -> Any:
    """A function of compiled code that takes the sums of this number of places and of groups of OUTPUTS outputs.

    It is `write_sums(memory, weights, indices, first, inputs, taps, biases, here, there, output, added, rectifies,
    is_portable)`. The sum of output j in place i is that of weights[first + OUTPUTS k + j] * memory[indices[here + i] +
    indices[taps + k]], added in the order of k < `inputs`, and weights[biases + j]; the weights of a group follow those
    of the group before. It is written to memory[indices[there + i] + output + j]. Unless `added` is 0, the number that
    is `added` places further in the memory is added first; if `rectifies` is not 0, negative numbers become 0.

    If `is_portable` is 0, the processor may add a product in one operation, with one rounding, which is faster. The
    arrays are float32, and int64 for `indices`, in C order; nothing is checked.
    """

    def typed(typing_context: Any, memory: Any, weights: Any, indices: Any, *numbers: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            arrays = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:3], values[:3], strict=True)
            ]
            _Sums(builder, places, groups, *arrays).generate(values[3:])
            return context.get_dummy_value()

        return types.void(memory, weights, indices, *[types.int64] * len(numbers)), generate

    def write_sums(
        typing_context: Any,
        memory: Any,
        weights: Any,
        indices: Any,
        first: Any,
        inputs: Any,
        taps: Any,
        biases: Any,
        here: Any,
        there: Any,
        output: Any,
        added: Any,
        rectifies: Any,
        is_portable: Any,
    ) -> tuple[Any, Callable[..., Any]]:
        numbers = first, inputs, taps, biases, here, there, output, added, rectifies, is_portable
        found: tuple[Any, Callable[..., Any]] = typed(typing_context, memory, weights, indices, *numbers)
        return found

    return intrinsic(write_sums)


class _Sums:
    """Generates the instructions of `sums_of`: a loop that keeps the sums in registers, and their way to the memory."""

    def __init__(self, builder: Any, places: int, groups: int, memory: Any, weights: Any, indices: Any) -> None:
        self.builder = builder
        self.places, self.groups, self.tiles = range(places), range(groups), list(product(range(places), range(groups)))
        self.memory, self.weights, self.indices = memory, weights, indices

    def generate(self, numbers: Sequence[Any]) -> None:
        """`numbers`: the arguments of the function that follow the arrays, in its order."""
        first, inputs, taps, biases, here, there, output, added, rectifies, is_portable = numbers
        builder, zero = self.builder, ir.Constant(INDEX, 0)
        is_added, is_rectified, is_exact = (
            builder.icmp_signed("!=", number, zero) for number in (added, rectifies, is_portable)
        )
        arguments, ways = (first, self._at(self.indices, taps), inputs, here), []
        with builder.if_else(is_exact) as branches:
            for branch, flags in zip(branches, ((), ("contract",)), strict=True):
                with branch:
                    ways.append((self._totals(flags, *arguments), builder.block))
        totals = [builder.phi(VECTOR) for _ in self.tiles]
        for sums, block in ways:
            for total, of_way in zip(totals, sums, strict=True):
                total.add_incoming(of_way, block)
        outputs = self._at(self.memory, output)
        targets = [self._at(outputs, self._index(there, place)) for place in self.places]
        bias = [
            self._load(self._at(self.weights, biases), ir.Constant(INDEX, group * OUTPUTS)) for group in self.groups
        ]
        for (place, group), total in zip(self.tiles, totals, strict=True):
            of_group = ir.Constant(INDEX, group * OUTPUTS)
            value = builder.fadd(total, bias[group])
            behind = self._load(targets[place], builder.add(added, of_group))
            value = builder.select(is_added, builder.fadd(value, behind), value)
            positive = builder.select(builder.fcmp_ordered("<", value, ZEROS), ZEROS, value)
            value = builder.select(is_rectified, positive, value)
            builder.store(value, self._vector_at(targets[place], of_group), align=FLOAT_BYTES)

    def _totals(self, flags: tuple[str, ...], first: Any, taps: Any, inputs: Any, here: Any) -> list[Any]:
        """The sums of the products, by place and group."""
        builder = self.builder
        sources = [self._at(self.memory, self._index(here, place)) for place in self.places]
        size = builder.mul(inputs, ir.Constant(INDEX, OUTPUTS))
        columns = [
            self._at(self.weights, builder.add(first, builder.mul(size, ir.Constant(INDEX, group))))
            for group in self.groups
        ]
        before, loop, after = builder.block, *(builder.append_basic_block(name) for name in ("taps", "all_taps"))
        builder.branch(loop)
        builder.position_at_end(loop)
        k, totals = builder.phi(INDEX), [builder.phi(VECTOR) for _ in self.tiles]
        tap = builder.load(builder.gep(taps, [k]))
        here_in_columns = builder.mul(k, ir.Constant(INDEX, OUTPUTS))
        weights = [self._load(column, here_in_columns) for column in columns]
        inputs_here = [self._repeated(builder.load(builder.gep(source, [tap]))) for source in sources]
        following = builder.add(k, ir.Constant(INDEX, 1))
        k.add_incoming(ir.Constant(INDEX, 0), before)
        k.add_incoming(following, loop)
        sums = []
        for (place, group), total in zip(self.tiles, totals, strict=True):
            of_tap = builder.fmul(inputs_here[place], weights[group], flags=flags)
            sums.append(builder.fadd(total, of_tap, flags=flags))
            total.add_incoming(ZEROS, before)
            total.add_incoming(sums[-1], loop)
        builder.cbranch(builder.icmp_signed("<", following, inputs), loop, after)
        builder.position_at_end(after)
        return sums

    def _index(self, start: Any, number: int) -> Any:
        """indices[start + number]"""
        return self.builder.load(self._at(self.indices, self.builder.add(start, ir.Constant(INDEX, number))))

    def _at(self, pointer: Any, index: Any) -> Any:
        return self.builder.gep(pointer, [index])

    def _vector_at(self, pointer: Any, index: Any) -> Any:
        return self.builder.bitcast(self._at(pointer, index), VECTOR.as_pointer())

    def _load(self, pointer: Any, index: Any) -> Any:
        return self.builder.load(self._vector_at(pointer, index), align=FLOAT_BYTES)

    def _repeated(self, number: Any) -> Any:
        """A vector whose entries are all this number."""
        nothing, lanes = ir.Constant(VECTOR, ir.Undefined), ir.VectorType(LANE, OUTPUTS)
        single = self.builder.insert_element(nothing, number, ir.Constant(LANE, 0))
        return self.builder.shuffle_vector(single, nothing, ir.Constant(lanes, [0] * OUTPUTS))
