"""Networks that are lists of layers, as programs that compiled code runs for one observation at a time.

The sums are added in the order of `selfplay.compute.portable`, so that the outputs of a network with numerics=portable
are the same bits. Boards lie in memory square by square, the channels of a square together, with a border of zeros.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.architectures.capabilities import ListedLayers
from selfplay.architectures.listed_layers import computes_the_same, keeps_size
from selfplay.architectures.mlp import Dropout
from selfplay.architectures.residual import ResidualBlock
from selfplay.compute.compilation import compiled
from selfplay.compute.elementary import hyperbolic_tangent
from selfplay.compute.place_products import OUTPUTS, PLACES, sum_fused_products, sum_products
from selfplay.compute.portable import is_portable
from selfplay.compute.portable_kernels import multiply

Indices = NDArray[np.int64]
Numbers = NDArray[np.float32]

CONVOLUTION, LINEAR, RELU, TANH, ADDITION, COPY = range(6)


class Step(NamedTuple):
    """One step, a row of `LayerProgram.steps`: numbers that say where the step reads and writes."""

    kind: int
    source: int
    """Where its inputs begin in the memory."""
    target: int
    """Where its outputs begin in the memory."""
    outputs: int
    """For each place, in a convolution; a multiple of OUTPUTS there."""
    inputs: int = 0
    """The number of products in each sum."""
    weights: int = 0
    """Where the weights begin; the biases follow them."""
    places: int = 0
    """Where the places of a convolution begin in `indices`, or the numbers of what a copy reads."""
    num_places: int = 0
    taps: int = 0
    """Where the taps of a convolution begin in `indices`, or the numbers of where a copy writes."""


class LayerProgram(NamedTuple):
    """A network in a form that compiled code accepts."""

    steps: Indices
    """int64[S, 9]: one `Step` a row."""
    weights: Numbers
    indices: Indices
    memory: Numbers
    """Begins with the flattened observation. A search needs its own, because steps write into it."""
    value: int
    """The number of the value in the memory."""
    logits: int
    """The number of the first of the logits in the memory; -1: the network has none."""
    products: int
    """The number of multiplications for one observation."""
    convolved: int
    """How many of these are in convolutions."""
    is_portable: bool
    """Whether to compute as `selfplay.compute.portable`."""


class _Region(NamedTuple):
    """Where in memory something lies: a vector of `size` numbers, or a board of `channels`."""

    start: int
    size: int
    channels: int
    """0: a vector."""


class _UnknownLayerError(Exception):
    """A layer that programs do not have."""


def layer_program(network: nn.Module, shape: tuple[int, ...]) -> LayerProgram | None:
    """The program of a network for observations of this shape; None if it is not a list of known layers."""
    if not isinstance(network, ListedLayers):
        return None
    listed = network.listed_layers()
    if not computes_the_same(network, listed, shape):
        return None
    builder = _Builder(shape, [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)])
    try:
        features = builder.follow(listed.trunk, builder.observation())
        value = builder.follow(listed.value, features)
        logits = None if listed.policy is None else builder.follow(listed.policy, features)
    except _UnknownLayerError:
        return None
    return builder.program(value.start, -1 if logits is None else logits.start, is_portable(network))


class _Builder:
    """Collects the steps of a program.

    Args:
        shape: of the observation.
        convolutions: all those of the network.
    """

    def __init__(self, shape: tuple[int, ...], convolutions: list[nn.Conv2d]) -> None:
        self._shape = shape if len(shape) == 3 else (int(np.prod(shape)), 1, 1)
        self._border = max((int(one.kernel_size[0]) // 2 for one in convolutions), default=0)
        _, self._rows, self._columns = self._shape
        # The border on the right of a row is that on the left of the next one.
        self._width = self._columns + self._border
        self._squares = (self._rows + 2 * self._border) * self._width + self._border
        self._steps, self._weights, self._indices = list[Step](), list[Numbers](), list[Indices]()
        self._size = self._num_weights = self._num_indices = self._products = self._convolved = 0

    def program(self, value: int, logits: int, is_portable: bool) -> LayerProgram:
        weights = np.concatenate([*self._weights, np.zeros(1, dtype=np.float32)])
        indices = np.concatenate([*self._indices, np.zeros(1, dtype=np.int64)])
        steps, memory = np.array(self._steps, dtype=np.int64), np.zeros(self._size, dtype=np.float32)
        counts = self._products, self._convolved
        return LayerProgram(steps, weights, indices, memory, value, logits, *counts, is_portable)

    def observation(self) -> _Region:
        return self._vector(int(np.prod(self._shape)))

    def follow(self, layers: Iterable[nn.Module], region: _Region) -> _Region:
        """Add the steps of layers, whose inputs lie in this region; returns that of their outputs."""
        for layer in layers:
            match layer:
                case nn.Sequential():
                    region = self.follow(layer, region)
                case ResidualBlock():
                    added = self.follow(layer.added_layers(), self._on_board(region))
                    self._steps.append(Step(ADDITION, region.start, added.start, added.size))
                    region = added
                case nn.Linear():
                    region = self._linear(layer, self._flat(region))
                case nn.Conv2d() if keeps_size(layer):
                    region = self._convolution(layer, self._on_board(region))
                case nn.ReLU() | nn.Tanh():
                    target = self._like(region)
                    kind = RELU if isinstance(layer, nn.ReLU) else TANH
                    self._steps.append(Step(kind, region.start, target.start, region.size))
                    region = target
                case nn.Flatten():
                    region = self._flat(region)
                case Dropout() | nn.Dropout() | nn.Identity():
                    pass
                case _:
                    raise _UnknownLayerError
        return region

    def _vector(self, size: int, channels: int = 0) -> _Region:
        region = _Region(self._size, size, channels)
        self._size += size
        return region

    def _board(self, channels: int) -> _Region:
        padded = -(-channels // OUTPUTS) * OUTPUTS
        return self._vector(self._squares * padded, channels)

    def _like(self, region: _Region) -> _Region:
        return self._board(region.channels) if region.channels else self._vector(region.size)

    def _stride(self, region: _Region) -> int:
        """The distance of two squares in the memory."""
        return region.size // self._squares

    def _square_numbers(self) -> Indices:
        """The numbers of the squares of the board among those with the border."""
        rows, columns = np.arange(self._rows)[:, None], np.arange(self._columns)
        return ((rows + self._border) * self._width + self._border + columns).ravel()

    def _entries(self, region: _Region) -> Indices:
        """Where in a board the entries of its planes lie, one plane after another."""
        return (np.arange(region.channels)[:, None] + self._square_numbers() * self._stride(region)).ravel()

    def _on_board(self, region: _Region) -> _Region:
        """The same as a board; a vector has the planes of the observation."""
        if region.channels:
            return region
        board = self._board(self._shape[0])
        self._copy(region, np.arange(region.size), board, self._entries(board))
        return board

    def _flat(self, region: _Region) -> _Region:
        if not region.channels:
            return region
        entries = self._entries(region)
        vector = self._vector(len(entries))
        self._copy(region, entries, vector, np.arange(len(entries)))
        return vector

    def _copy(self, source: _Region, read: Indices, target: _Region, written: Indices) -> None:
        places, taps = self._add_indices(read), self._add_indices(written)
        self._steps.append(Step(COPY, source.start, target.start, len(read), places=places, taps=taps))

    def _linear(self, layer: nn.Linear, region: _Region) -> _Region:
        outputs, inputs = layer.weight.shape
        target = self._vector(outputs)
        weights = self._add_weights(_numbers(layer.weight).T, layer.bias, outputs)
        self._steps.append(Step(LINEAR, region.start, target.start, outputs, inputs, weights))
        self._products += inputs * outputs
        return target

    def _convolution(self, layer: nn.Conv2d, region: _Region) -> _Region:
        target, stride, size = self._board(layer.out_channels), self._stride(region), int(layer.kernel_size[0])
        padded = self._stride(target)
        # [taps, outputs], the taps in the order of the weights: by channel, row and column.
        weights = np.zeros((layer.in_channels * size * size, padded), dtype=np.float32)
        weights[:, : layer.out_channels] = _numbers(layer.weight).reshape(layer.out_channels, -1).T
        in_groups = weights.reshape(len(weights), -1, OUTPUTS).transpose(1, 0, 2)
        shift = np.arange(size) - size // 2
        on_board = (shift[:, None] * self._width + shift) * stride
        taps = self._add_indices((np.arange(layer.in_channels)[:, None, None] + on_board).ravel())
        numbers = self._square_numbers()
        numbers = np.append(numbers, np.repeat(numbers[-1:], -len(numbers) % PLACES))
        # Where each place lies in the inputs, then where it lies in the outputs.
        places = self._add_indices(np.concatenate([region.start + numbers * stride, target.start + numbers * padded]))
        first = self._add_weights(in_groups, layer.bias, padded)
        step = Step(CONVOLUTION, region.start, target.start, padded, len(weights), first, places, len(numbers), taps)
        self._steps.append(step)
        self._products += len(numbers) * weights.size
        self._convolved += len(numbers) * weights.size
        return target

    def _add_indices(self, indices: Indices) -> int:
        self._indices.append(indices.astype(np.int64))
        self._num_indices += len(indices)
        return self._num_indices - len(indices)

    def _add_weights(self, weights: Numbers, bias: Tensor | None, outputs: int) -> int:
        biases = np.zeros(outputs, dtype=np.float32)
        if bias is not None:
            biases[: len(bias)] = _numbers(bias)
        both = np.concatenate([np.ascontiguousarray(weights).ravel(), biases])
        self._weights.append(both)
        self._num_weights += len(both)
        return self._num_weights - len(both)


def _numbers(tensor: Tensor) -> Numbers:
    numbers: Numbers = tensor.detach().cpu().numpy()
    return numbers


@compiled
def run_program(steps: Indices, weights: Numbers, indices: Indices, memory: Numbers, is_portable: bool) -> None:
    """Run the steps of a `LayerProgram`, whose observation is in the memory."""
    sums = np.empty(PLACES * OUTPUTS, dtype=np.float32)
    for number in range(len(steps)):
        kind, source, target, outputs, inputs, first, places, num_places, taps = steps[number]
        read, written = memory[source : source + outputs], memory[target : target + outputs]
        if kind == CONVOLUTION:
            here, there = indices[places : places + num_places], indices[places + num_places : places + 2 * num_places]
            around, biases = indices[taps : taps + inputs], weights[first + inputs * outputs :]
            for group in range(0, outputs, OUTPUTS):
                start = first + group * inputs
                for place in range(0, num_places, PLACES):
                    if is_portable:
                        sum_products(memory, here, place, around, weights, start, sums)
                    else:
                        sum_fused_products(memory, here, place, around, weights, start, sums)
                    for i in range(PLACES):
                        at = there[place + i] + group
                        for j in range(OUTPUTS):
                            memory[at + j] = sums[i * OUTPUTS + j] + biases[group + j]
        elif kind == LINEAR:
            matrix = weights[first : first + inputs * outputs].reshape(inputs, outputs)
            multiply(memory[source : source + inputs].reshape(1, inputs), matrix, written.reshape(1, outputs))
            biases = weights[first + inputs * outputs :]
            for i in range(outputs):
                written[i] += biases[i]
        elif kind == COPY:
            for i in range(outputs):
                memory[target + indices[taps + i]] = memory[source + indices[places + i]]
        elif kind == RELU:
            for i in range(outputs):
                written[i] = np.float32(0) if read[i] < 0 else read[i]
        elif kind == ADDITION:
            for i in range(outputs):
                written[i] += read[i]
        else:
            for i in range(outputs):
                written[i] = hyperbolic_tangent(read[i])
