"""Compiled evaluations of one game, called by their address in searches that are compiled for all games."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import kind_of, part_of_compiled
from selfplay.compute.compiled_calls import Compiled, calling, compiled_at, held, reading
from selfplay.compute.positions import pack
from selfplay.games.general_rules import GeneralSize, packed_type
from selfplay.games.rules import Position, Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters


class GeneralParameters(NamedTuple):
    """A compiled function of a game and its parameters, for a search that is compiled for all games."""

    function: int
    """The address of the function."""
    parameters: int
    """That of its parameters."""
    memory: NDArray[np.int64]
    """It keeps them."""


def pointing_to(function: Compiled, parameters: Any) -> GeneralParameters:
    """The parameters of a search that calls this function with `parameters`."""
    memory = held(parameters)
    return GeneralParameters(function.address, memory.ctypes.data, memory)


@cache
def general_value(size: GeneralSize) -> CompiledValue:
    """The value of an unfinished general position: that of the game which the `GeneralParameters` name."""
    call = calling(types.float64, packed_type(size), types.int64)

    @part_of_compiled
    def value(position: Position, parameters: GeneralParameters) -> float:
        return float(call(parameters.function, pack(position), parameters.parameters))

    return value


@cache
def _compiled_for(rules: Rules, unfinished_value: CompiledValue, size: GeneralSize, parameters: Any) -> Compiled:
    """Compile the evaluation of a game, whose parameters have this type, for packed positions."""
    unpack, parameters_at = rules.position.unpack, reading(parameters)

    def value_packed(packed: Word, address: int) -> float:
        return float(unfinished_value(unpack(packed), parameters_at(address)))

    return compiled_at(value_packed, types.float64, packed_type(size), types.int64)


def general_evaluation(
    rules: Rules, unfinished_value: CompiledValue, size: GeneralSize, parameters: EvaluationParameters
) -> EvaluationParameters:
    """The parameters of a general search, for an evaluation of a game with these rules."""
    function = _compiled_for(rules, unfinished_value, size, kind_of(parameters.unfinished))
    return parameters._replace(unfinished=pointing_to(function, parameters.unfinished))
