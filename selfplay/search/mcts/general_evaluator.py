"""Compiled evaluators of one game, called by their address in searches that are compiled for all games."""

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import kind_of, part_of_compiled
from selfplay.compute.compiled_calls import Compiled, calling, compiled_at, reading
from selfplay.compute.positions import pack
from selfplay.games.general_rules import GeneralSize, packed_type
from selfplay.games.rules import Position, Rules
from selfplay.search.general_values import GeneralParameters, pointing_to
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.tree import EDGE, Edges


@cache
def _kinds(size: GeneralSize) -> tuple[Any, ...]:
    """The types of (packed position, edges, bits, address of the parameters, logits)."""
    edges, logits = kind_of(np.zeros(1, dtype=EDGE)), kind_of(np.zeros(1))
    return packed_type(size), edges, types.int64, types.int64, logits


@cache
def general_position_value(size: GeneralSize) -> CompiledPositionValue:
    """The evaluator of general positions: that of the game which the `GeneralParameters` name."""
    call = calling(types.float64, *_kinds(size))

    @part_of_compiled
    def value(
        position: Position, edges: Edges, bits: int, parameters: GeneralParameters, logits: NDArray[np.float64]
    ) -> float:
        return float(call(parameters.function, pack(position), edges, bits, parameters.parameters, logits))

    return value


@cache
def _compiled_for(rules: Rules, position_value: CompiledPositionValue, size: GeneralSize, parameters: Any) -> Compiled:
    """Compile the evaluator of a game, whose parameters have this type, for packed positions."""
    unpack, parameters_at = rules.position.unpack, reading(parameters)

    def value_packed(packed: Word, edges: Edges, bits: int, address: int, logits: NDArray[np.float64]) -> float:
        return float(position_value(unpack(packed), edges, bits, parameters_at(address), logits))

    return compiled_at(value_packed, types.float64, *_kinds(size))


def general_parameters(
    rules: Rules, position_value: CompiledPositionValue, size: GeneralSize, parameters: Any
) -> GeneralParameters:
    """Those of an evaluator, which has `parameters` of its own, for a game with these rules or general ones."""
    return pointing_to(_compiled_for(rules, position_value, size, kind_of(parameters)), parameters)
