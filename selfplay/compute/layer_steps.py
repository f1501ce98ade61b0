"""The steps that a network consists of, as rows of numbers, and compiled code that runs them.

`selfplay.architectures.layer_program` makes them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.action_sums import rectified_sum
from selfplay.compute.compilation import compiled, part_of_compiled
from selfplay.compute.elementary import hyperbolic_tangent
from selfplay.compute.place_products import GROUPS, OUTPUTS, PLACES, sums_of

Indices = NDArray[np.int64]
Numbers = NDArray[np.float32]

PRODUCTS, RELU, TANH, POOL, ACTIONS, SPREAD = range(6)


class Step(NamedTuple):
    """One step, a row of `LayerProgram.steps`: numbers that say where the step reads and writes."""

    kind: int
    source: int
    """Where the inputs of an activation or a pool begin in the memory; of a spread, the numbers that it adds."""
    target: int
    """Where its outputs begin in the memory; a spread adds to them."""
    outputs: int
    """Their number; of products that of each place, a multiple of OUTPUTS; of a pool or a spread that of the planes;
    of actions that of their logits."""
    inputs: int = 0
    """The number of products in each sum; of actions a multiple of OUTPUTS."""
    weights: int = 0
    """Where the weights begin; the biases follow them."""
    places: int = 0
    """Where in `indices` the places of the inputs begin; those of the outputs, which a pool does not have, follow. Of a
    spread, the places of the outputs. Of actions, where those of each action begin, one action after another."""
    num_places: int = 0
    """1 in a linear layer; of actions the number of places of each."""
    taps: int = 0
    """Where in `indices` the distances of the inputs from a place begin."""
    added: int = 0
    """How much further in the memory a number lies that is added; 0: none."""
    rectifies: int = 0
    """1: negative results become 0; of a pool, negative inputs."""


_one_sum, _two_sums, _four_sums = sums_of(1, 1), sums_of(1, 2), sums_of(1, 4)
_sums_of_places, _more_sums_of_places = sums_of(PLACES, 1), sums_of(PLACES, GROUPS)


@part_of_compiled
def _write_products(step: Indices, weights: Numbers, indices: Indices, memory: Numbers, is_portable: bool) -> None:
    _, _, _, outputs, inputs, first, places, num_places, taps, added, rectifies = step
    output, is_exact = 0, int(is_portable)
    while output < outputs:
        start, biases, groups = (
            first + output * inputs,
            first + outputs * inputs + output,
            (outputs - output) // OUTPUTS,
        )
        if num_places == 1:
            where = inputs, taps, biases, places, places + 1, output, added, rectifies, is_exact
            if groups >= 4:
                _four_sums(memory, weights, indices, start, *where)
                output += 4 * OUTPUTS
            elif groups >= 2:
                _two_sums(memory, weights, indices, start, *where)
                output += 2 * OUTPUTS
            else:
                _one_sum(memory, weights, indices, start, *where)
                output += OUTPUTS
            continue
        for here in range(places, places + num_places, PLACES):
            around = inputs, taps, biases, here, here + num_places, output, added, rectifies, is_exact
            if groups >= GROUPS:
                _more_sums_of_places(memory, weights, indices, start, *around)
            else:
                _sums_of_places(memory, weights, indices, start, *around)
        output += OUTPUTS * (GROUPS if groups >= GROUPS else 1)


@part_of_compiled
def _write_pool(step: Indices, indices: Indices, memory: Numbers) -> None:
    source, target, planes, places, num_places = step[1], step[2], step[3], step[6], step[7]
    lowest = np.float32(0) if step[10] else np.float32(-np.inf)
    means, largest = memory[target : target + planes], memory[target + planes : target + 2 * planes]
    for plane in range(planes):
        means[plane], largest[plane] = np.float32(0), lowest
    # The planes of a square lie together, so that they are added at once.
    for place in indices[places : places + num_places]:
        numbers = memory[source + place : source + place + planes]
        for plane in range(planes):
            number = numbers[plane] if numbers[plane] > lowest else lowest
            means[plane] += number
            largest[plane] = number if number > largest[plane] else largest[plane]
    for plane in range(planes):
        means[plane] /= np.float32(num_places)


@part_of_compiled
def _spread(step: Indices, indices: Indices, memory: Numbers) -> None:
    source, target, planes, places, num_places = step[1], step[2], step[3], step[6], step[7]
    lowest = np.float32(0) if step[10] else np.float32(-np.inf)
    added = memory[source : source + planes]
    for place in indices[places : places + num_places]:
        numbers = memory[target + place : target + place + planes]
        for plane in range(planes):
            number = numbers[plane] + added[plane]
            numbers[plane] = number if number > lowest else lowest


@part_of_compiled
def write_action(step: Indices, weights: Numbers, indices: Indices, memory: Numbers, action: int) -> None:
    """The sum of the numbers of an action over its places, negative ones as 0, times the weights, and the bias."""
    target, inputs, first, places, num_places = step[2], step[4], step[5], step[6], step[7]
    total, start = np.float32(0), places + action * num_places
    for number in range(0, inputs, OUTPUTS):
        total = rectified_sum(memory, weights, indices, first + number, number, start, num_places, total)
    memory[target + action] = total + weights[first + inputs]


@compiled
def run_steps(steps: Indices, weights: Numbers, indices: Indices, memory: Numbers, is_portable: bool) -> None:
    """Run the steps of a `LayerProgram`, whose observation is in the memory."""
    for number in range(len(steps)):
        kind, source, target, outputs = steps[number, 0], steps[number, 1], steps[number, 2], steps[number, 3]
        read, written = memory[source : source + outputs], memory[target : target + outputs]
        if kind == PRODUCTS:
            _write_products(steps[number], weights, indices, memory, is_portable)
        elif kind == POOL:
            _write_pool(steps[number], indices, memory)
        elif kind == SPREAD:
            _spread(steps[number], indices, memory)
        elif kind == ACTIONS:
            for action in range(outputs):
                write_action(steps[number], weights, indices, memory, action)
        elif kind == RELU:
            for i in range(outputs):
                written[i] = np.float32(0) if read[i] < 0 else read[i]
        else:
            for i in range(outputs):
                written[i] = hyperbolic_tangent(read[i])
