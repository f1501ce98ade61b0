"""The networks that exported/agent.js computes, as a description and arrays."""

import gzip
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.agents.agent import Agent
from selfplay.architectures.capabilities import TableWeights
from selfplay.architectures.layer_program import LayerProgram, NoProgramError, layer_program
from selfplay.compute.layer_steps import Step
from selfplay.compute.place_products import OUTPUTS
from selfplay.errors import SettingError
from selfplay.games.patterns import TrainableTables, added_by_squares

Arrays = dict[str, NDArray[Any]]


class PageNetwork(NamedTuple):
    """A network as exported/agent.js computes it."""

    description: dict[str, Any]
    arrays: Arrays


def exported_network(agent: Agent) -> PageNetwork:
    """The network of an agent. Raises SettingError if exported/agent.js cannot compute its values."""
    network = agent.network
    if isinstance(network, TableWeights):
        return _tables(network.trainable_tables())
    try:
        return _program(layer_program(network, agent.game.observation_shape))
    except NoProgramError as error:
        name = agent.checkpoint.metadata["architecture"]["name"]
        raise SettingError(f"{agent.name}: a network with architecture={name} cannot be exported; {error}") from None


def _program(program: LayerProgram) -> PageNetwork:
    steps = [Step(*row)._asdict() for row in program.steps.tolist()]
    description = {"kind": "layers", "steps": steps, "group": OUTPUTS, "memory": len(program.memory)}
    places = {"indices": program.indices, "observation": program.observation, "logits": program.logits}
    arrays: Arrays = {name: array.astype(np.int32) for name, array in places.items()}
    return PageNetwork(description | {"value": program.value}, arrays | {"weights": program.weights})


def _tables(tables: TrainableTables) -> PageNetwork:
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
    return PageNetwork(description, arrays)


BLOCK = 64
"""Weights that stand together. Those of draughts, of which 1 % are not 0, take an eighth of the memory by blocks."""


def _without_zeros(weights: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The weights without blocks that are all 0: for each BLOCK weights, in the order of the rows, the number of their
    block in the second array. There block 0 stands for every block of zeros."""
    padded = np.pad(weights.ravel(), (0, -weights.size % BLOCK)).reshape(-1, BLOCK)
    is_kept = padded.any(axis=1)
    numbers = np.where(is_kept, np.cumsum(is_kept), 0).astype(np.int32)
    return numbers, np.concatenate([np.zeros((1, BLOCK), np.float32), padded[is_kept]])


def packed(arrays: Arrays) -> bytes:
    """The arrays one after another, little-endian and compressed; equal arrays give equal bytes."""
    numbers = (np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")) for array in arrays.values())
    # Level 9 takes five times as long for 1 % less.
    return gzip.compress(b"".join(array.tobytes() for array in numbers), compresslevel=6, mtime=0)
