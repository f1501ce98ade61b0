"""The networks that exported/agent.js computes, as a description and arrays."""

import gzip
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from selfplay.architectures.alphazero_convolutional import BoardPool, Joined
from selfplay.architectures.capabilities import ListedLayers, TableWeights
from selfplay.architectures.listed_layers import computes_the_same, keeps_size
from selfplay.architectures.mlp import Dropout
from selfplay.architectures.residual import ResidualBlock
from selfplay.errors import SettingError, shortened
from selfplay.games.patterns import TrainableTables, added_by_squares
from selfplay.players.agent import Agent

Arrays = dict[str, NDArray[Any]]

COMPUTED = (
    "nn.Linear, nn.Conv2d that keeps the size of the board, nn.ReLU, nn.Tanh, nn.Flatten, dropout, ResidualBlock, "
    "BoardPool, Joined"
)
"""The layers that exported/layers.js computes. Flattening and dropout do nothing there."""


class ExportedNetwork(NamedTuple):
    """A network as exported/agent.js computes it."""

    description: dict[str, Any]
    arrays: Arrays


def exported_network(agent: Agent) -> ExportedNetwork:
    """The network of an agent. Raises SettingError if exported/agent.js cannot compute its values."""
    network = agent.network
    if isinstance(network, TableWeights):
        return _tables(network.trainable_tables())
    name = agent.checkpoint.metadata["architecture"]["name"]
    cannot = f"{agent.name}: a network with architecture={name} cannot be exported"
    if not isinstance(network, ListedLayers):
        raise SettingError(
            f"{cannot}; give its class {type(network).__name__} a method listed_layers "
            "(selfplay.architectures.capabilities), or export an agent with another architecture, such as residual"
        )
    arrays, listed = Arrays(), network.listed_layers()
    try:
        lists = {
            part: None if layers is None else _described(layers, arrays) for part, layers in listed._asdict().items()
        }
    except _UnknownLayerError as error:
        raise SettingError(f"{cannot}; its layer {error} is not one of {COMPUTED}") from None
    if not computes_the_same(network, listed, agent.game.observation_shape):
        raise SettingError(
            f"{cannot}; its listed_layers, one after another, do not compute what it does, "
            "or a nn.Linear has no nn.Flatten before it"
        )
    return ExportedNetwork({"kind": "layers", "shape": agent.game.observation_shape, **lists}, arrays)


def _tables(tables: TrainableTables) -> ExportedNetwork:
    contributions, offsets, weight_of_entry, weights, squares, phases, parities, planes, _ = tables
    added = added_by_squares(contributions, squares).transpose(1, 0, 2)
    description = {"kind": "tables", "weights_in_row": weights.shape[1], "phases": phases, "parities": parities}
    description |= {"squares": squares, "marks": planes.marks, "upright": planes.upright, "sets": planes.in_sets}
    arrays: Arrays = {"offsets": offsets, "added": added}
    if not np.array_equal(weight_of_entry, np.arange(len(weight_of_entry))):
        arrays["weight_of_entry"] = weight_of_entry
    description["block"] = BLOCK
    arrays["blocks"], blocks = _without_zeros(weights)
    halves = blocks.astype(np.float16)
    # At the end, because the other numbers have to begin at a multiple of four bytes.
    arrays["weights"] = halves if np.array_equal(halves, blocks) else blocks
    return ExportedNetwork(description, arrays)


BLOCK = 64
"""Weights that stand together. Those of draughts, of which 1 % are not 0, take an eighth of the memory by blocks."""


def _without_zeros(weights: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The weights without blocks that are all 0: for each BLOCK weights, in the order of the rows, the number of their
    block in the second array. There block 0 stands for every block of zeros."""
    padded = np.pad(weights.ravel(), (0, -weights.size % BLOCK)).reshape(-1, BLOCK)
    is_kept = padded.any(axis=1)
    numbers = np.where(is_kept, np.cumsum(is_kept), 0).astype(np.int32)
    return numbers, np.concatenate([np.zeros((1, BLOCK), np.float32), padded[is_kept]])


class _UnknownLayerError(Exception):
    """A layer that exported/layers.js cannot compute; its text is that of the layer."""


def _described(layers: Iterable[nn.Module], arrays: Arrays) -> list[dict[str, Any]]:
    """What exported/layers.js needs to know of these layers; their weights are added to `arrays`."""
    described = list[dict[str, Any]]()
    for layer in layers:
        match layer:
            case nn.Sequential():
                described += _described(layer, arrays)
            case ResidualBlock():
                described.append({"kind": "residual", "added": _described(layer.added_layers(), arrays)})
            case BoardPool():
                described.append({"kind": "pool"})
            case Joined():
                parts = [_described([part], arrays) for part in layer.parts]
                described.append({"kind": "joined", "parts": parts})
            case nn.Linear():
                described.append({"kind": "linear", "weights": _stored(layer, arrays)})
            case nn.Conv2d() if keeps_size(layer):
                described.append(
                    {"kind": "convolution", "size": layer.kernel_size[0], "weights": _stored(layer, arrays)}
                )
            case nn.ReLU() | nn.Tanh():
                described.append({"kind": type(layer).__name__.lower()})
            case nn.Flatten() | Dropout() | nn.Dropout() | nn.Identity():
                pass
            case _:
                raise _UnknownLayerError(shortened(" ".join(repr(layer).split())))
    return described


def _stored(layer: nn.Linear | nn.Conv2d, arrays: Arrays) -> str:
    """Add the weights and biases of a layer to `arrays`; returns the name of the weights, to which "_biases" is added
    for the biases."""
    name = f"layer_{len(arrays) // 2}"
    arrays[name] = layer.weight.detach().cpu().numpy()
    arrays[f"{name}_biases"] = (
        np.zeros(len(layer.weight), dtype=np.float32) if layer.bias is None else layer.bias.detach().cpu().numpy()
    )
    return name


def packed(arrays: Arrays) -> bytes:
    """The arrays one after another, little-endian and compressed; equal arrays give equal bytes."""
    numbers = (np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")) for array in arrays.values())
    # Level 9 takes five times as long for 1 % less.
    return gzip.compress(b"".join(array.tobytes() for array in numbers), compresslevel=6, mtime=0)
