"""Networks that are lists of layers, as programs for one observation at a time.

Compiled code runs them (`selfplay.compute.layer_steps`), and so do exported pages (selfplay/web/exported/layers.js).

The sums are added in the order of `selfplay.compute.portable`, so that the outputs of a network with numerics=portable
are the same bits. Boards lie in memory square by square, the channels of a square together, with a border of zeros.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from torch import Tensor, nn

from selfplay.architectures.action_logits import ActionLogits
from selfplay.architectures.board_pool import BoardBias, BoardPool, Joined
from selfplay.architectures.capabilities import ListedLayers
from selfplay.architectures.listed_layers import computes_the_same, keeps_size
from selfplay.architectures.mlp import Dropout
from selfplay.architectures.residual import ResidualBlock
from selfplay.compute.layer_steps import ACTIONS, POOL, PRODUCTS, RELU, SPREAD, TANH, Indices, Numbers, Step
from selfplay.compute.place_products import OUTPUTS, PLACES
from selfplay.compute.portable import is_portable
from selfplay.errors import shortened

LAYERS = (
    "nn.Linear, nn.Conv2d that keeps the size of the board, nn.ReLU, nn.Tanh, nn.Flatten, dropout, ResidualBlock, "
    "BoardBias, BoardPool, Joined, ActionLogits"
)
"""The layers that programs consist of. Flattening and dropout do nothing there."""
CACHE_LINE = 16
"""Numbers in a line of the processor's cache."""


class LayerProgram(NamedTuple):
    """A network in a form that compiled code accepts."""

    steps: Indices
    """int64[S, 11]: one `Step` a row."""
    weights: Numbers
    indices: Indices
    memory: Numbers
    """A search needs its own, because steps write into it: see `with_own_memory`."""
    observation: Indices
    """Where in the memory the entries of the flattened observation are to be written."""
    value: int
    """Where in the memory the value lies."""
    logits: Indices
    """Where in the memory the logits lie; empty: the network has none."""
    products: int
    """The number of multiplications for one observation."""
    convolved: int
    """How many of these are in convolutions."""
    is_portable: bool
    """Whether to compute as `selfplay.compute.portable`."""


class _Region(NamedTuple):
    """Where in memory the numbers of a layer lie: a board, or a vector, whose numbers are in one square."""

    start: int
    size: int
    entries: Indices
    """Where the entries of the flattened tensor lie, from `start` on."""


class NoProgramError(Exception):
    """A network that is not a list of LAYERS; the message says why."""


def layer_program(network: nn.Module, shape: tuple[int, ...]) -> LayerProgram:
    """The program of a network for observations of this shape. Raises NoProgramError if it is not a list of LAYERS."""
    if not isinstance(network, ListedLayers):
        raise NoProgramError(
            f"give its class {type(network).__name__} a method listed_layers (selfplay.architectures.capabilities)"
        )
    listed = network.listed_layers()
    builder = _Builder(shape, [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)])
    observation = builder.board(builder.shape[0])
    features = builder.follow(listed.trunk, observation)
    value = builder.follow(listed.value, features)
    logits = None if listed.policy is None else builder.follow(listed.policy, features)
    if not computes_the_same(network, listed, shape):
        raise NoProgramError(
            "its listed_layers, one after another, do not compute what it does, "
            "or a nn.Linear has no nn.Flatten before it"
        )
    return builder.program(observation, value, logits, is_portable(network))


def with_own_memory(program: LayerProgram) -> LayerProgram:
    """The same program with new memory."""
    return program._replace(memory=_aligned_zeros(len(program.memory)))


def _aligned_zeros(size: int) -> Numbers:
    """float32[size] that begins with a cache line, because vectors across two lines are read more slowly."""
    numbers = np.zeros(size + CACHE_LINE, dtype=np.float32)
    start = -numbers.ctypes.data // numbers.itemsize % CACHE_LINE
    return numbers[start : start + size]


class _Builder:
    """Collects the steps of a program.

    Args:
        shape: of the observation.
        convolutions: all those of the network.
    """

    def __init__(self, shape: tuple[int, ...], convolutions: list[nn.Conv2d]) -> None:
        self.shape = shape if len(shape) == 3 else (int(np.prod(shape)), 1, 1)
        self._border = max((int(one.kernel_size[0]) // 2 for one in convolutions), default=0)
        _, self._rows, self._columns = self.shape
        # The border on the right of a row is that on the left of the next one.
        self._width = self._columns + self._border
        self._squares = (self._rows + 2 * self._border) * self._width + self._border
        self._steps, self._weights, self._indices = list[Step](), list[Numbers](), list[Indices]()
        self._size = self._num_weights = self._num_indices = self._products = self._convolved = 0

    def program(self, observation: _Region, value: _Region, logits: _Region | None, is_portable: bool) -> LayerProgram:
        steps, memory = np.array(self._steps, dtype=np.int64), _aligned_zeros(self._size)
        weights, indices = _aligned_zeros(self._num_weights), np.concatenate(self._indices)
        np.concatenate(self._weights, out=weights)
        places = np.empty(0, dtype=np.int64) if logits is None else logits.start + logits.entries
        outputs = observation.start + observation.entries, value.start + int(value.entries[0]), places
        return LayerProgram(steps, weights, indices, memory, *outputs, self._products, self._convolved, is_portable)

    def follow(self, layers: Iterable[nn.Module], region: _Region) -> _Region:
        """Add the steps of layers, whose inputs lie in this region; returns that of their outputs."""
        # Whether only the next layer reads what the last step has written.
        is_fresh = False
        for layer in _without_sequences(layers):
            match layer:
                case ResidualBlock():
                    added, region = region, self.follow(layer.added_layers(), region)
                    self._change_last_step(added=added.start - region.start)
                    is_fresh = True
                case nn.Linear():
                    region, is_fresh = self._linear(layer, region), True
                case nn.Conv2d() if keeps_size(layer):
                    region, is_fresh = self._convolution(layer, region), True
                case BoardPool():
                    region, is_fresh = self._pool(region), False
                case BoardBias() if is_fresh:
                    self._board_bias(layer, region)
                case Joined():
                    region, is_fresh = self._joined(layer, region), False
                case ActionLogits():
                    region, is_fresh = self._actions(layer, region), False
                case nn.ReLU() if is_fresh:
                    self._change_last_step(rectifies=1)
                case nn.ReLU() | nn.Tanh():
                    target = self._region(region.size, region.entries)
                    kind = RELU if isinstance(layer, nn.ReLU) else TANH
                    self._steps.append(Step(kind, region.start, target.start, region.size))
                    region, is_fresh = target, False
                case nn.Flatten() | Dropout() | nn.Dropout() | nn.Identity():
                    pass
                case _:
                    raise NoProgramError(f"its layer {shortened(' '.join(repr(layer).split()))} is not one of {LAYERS}")
        return region

    def board(self, channels: int) -> _Region:
        """New memory for a board, whose border stays 0."""
        stride = _padded(channels)
        entries = np.arange(channels)[:, None] + self._square_numbers() * stride
        return self._region(self._squares * stride, entries.ravel())

    def _region(self, size: int, entries: Indices) -> _Region:
        self._size += size
        return _Region(self._size - size, size, entries)

    def _square_numbers(self) -> Indices:
        """The numbers of the squares of the board among those with the border."""
        rows, columns = np.arange(self._rows)[:, None], np.arange(self._columns)
        return ((rows + self._border) * self._width + self._border + columns).ravel()

    def _change_last_step(self, **changes: int) -> None:
        self._steps[-1] = self._steps[-1]._replace(**changes)

    def _linear(self, layer: nn.Linear, region: _Region) -> _Region:
        target = self._region(_padded(layer.out_features), np.arange(layer.out_features))
        self._sums(layer, _numbers(layer.weight), region.entries, np.array([region.start]), np.array([target.start]))
        return target

    def _convolution(self, layer: nn.Conv2d, region: _Region) -> _Region:
        target, size = self.board(layer.out_channels), int(layer.kernel_size[0])
        stride, target_stride = region.size // self._squares, target.size // self._squares
        # In the order of the weights: by channel, row and column.
        shift = np.arange(size) - size // 2
        on_board = (shift[:, None] * self._width + shift) * stride
        taps = np.arange(layer.in_channels)[:, None, None] + on_board
        numbers = self._square_numbers()
        if len(numbers) > 1:
            numbers = np.append(numbers, np.repeat(numbers[-1:], -len(numbers) % PLACES))
        here, there = region.start + numbers * stride, target.start + numbers * target_stride
        weights = _numbers(layer.weight).reshape(layer.out_channels, -1)
        self._convolved += self._sums(layer, weights, taps.ravel(), here, there)
        return target

    def _pool(self, region: _Region, rectifies: int = 0) -> _Region:
        planes = self._planes(region)
        target = self._region(_padded(2 * planes), np.arange(2 * planes))
        step = Step(POOL, region.start, target.start, planes, **self._places(region), rectifies=rectifies)
        self._steps.append(step)
        return target

    def _board_bias(self, layer: BoardBias, region: _Region) -> None:
        """Changes the numbers of the region, which only the next layer reads."""
        added = self._linear(layer.linear, self._pool(region, rectifies=1))
        self._steps.append(Step(SPREAD, added.start, region.start, self._planes(region), **self._places(region)))

    def _planes(self, region: _Region) -> int:
        return len(region.entries) // (self._rows * self._columns)

    def _places(self, region: _Region) -> dict[str, int]:
        """Where in `indices` the places of the squares are, which this adds, and their number."""
        places = self._square_numbers() * (region.size // self._squares)
        self._indices.append(places)
        self._num_indices += len(places)
        return {"places": self._num_indices - len(places), "num_places": len(places)}

    def _joined(self, layer: Joined, region: _Region) -> _Region:
        parts = [self.follow([part], region) for part in layer.parts]
        start, last = parts[0].start, parts[-1]
        entries = np.concatenate([part.start - start + part.entries for part in parts])
        return _Region(start, last.start + last.size - start, entries)

    def _actions(self, layer: ActionLogits, region: _Region) -> _Region:
        places, width, weights = layer.places.cpu().numpy(), layer.width, layer.linear.weight
        # By role and square, then the row of zeros, then by kind.
        of_squares = region.entries[: layer.roles * width * layer.squares].reshape(layer.roles, width, -1)[:, 0].ravel()
        of_kinds = region.entries[len(of_squares) * width :: width]
        # More numbers than the width are read, of which the weights are 0.
        zeros = self._region(_padded(width), np.arange(width))
        rows = np.concatenate([region.start + of_squares, [zeros.start], region.start + of_kinds])
        padded = np.zeros(_padded(width) + 1, dtype=np.float32)
        padded[:width], padded[-1:] = _numbers(weights)[0], _numbers(layer.linear.bias)
        num_places, num_actions = places.shape
        target = self._region(_padded(num_actions), np.arange(num_actions))
        first = self._num_weights, self._num_indices, num_places
        self._steps.append(Step(ACTIONS, region.start, target.start, num_actions, _padded(width), *first))
        self._indices.append(rows[places.T].ravel())
        self._weights.append(padded)
        self._num_weights += len(padded)
        self._num_indices += places.size
        self._products += num_actions * _padded(width)
        return target

    def _sums(
        self, layer: nn.Linear | nn.Conv2d, weights: Numbers, taps: Indices, here: Indices, there: Indices
    ) -> int:
        """Add a step with these weights [outputs, inputs]; returns the number of its products."""
        outputs, inputs = weights.shape
        padded = np.zeros((_padded(outputs), inputs + 1), dtype=np.float32)
        padded[:outputs, :inputs] = weights
        if layer.bias is not None:
            padded[:outputs, inputs] = _numbers(layer.bias)
        # By group of outputs and input; then the biases.
        in_groups = padded[:, :inputs].reshape(-1, OUTPUTS, inputs).transpose(0, 2, 1)
        first = self._num_weights
        self._weights += [in_groups.ravel(), padded[:, inputs]]
        self._num_weights += padded.size
        places, first_tap = self._num_indices, self._num_indices + 2 * len(here)
        self._indices += [here, there, taps]
        self._num_indices = first_tap + len(taps)
        self._steps.append(Step(PRODUCTS, 0, 0, len(padded), inputs, first, places, len(here), first_tap))
        products: int = len(here) * len(padded) * inputs
        self._products += products
        return products


def _without_sequences(layers: Iterable[nn.Module]) -> Iterator[nn.Module]:
    for layer in layers:
        if isinstance(layer, nn.Sequential):
            yield from _without_sequences(layer)
        else:
            yield layer


def _padded(outputs: int) -> int:
    """The next multiple of OUTPUTS."""
    return -(-outputs // OUTPUTS) * OUTPUTS


def _numbers(tensor: Tensor) -> Numbers:
    numbers: Numbers = tensor.detach().cpu().numpy()
    return numbers
