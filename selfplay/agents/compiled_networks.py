"""Networks inside compiled tree searches: the functions that value a position by a `LayerProgram`."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.architectures.layer_program import LayerProgram
from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import num_parts, part
from selfplay.compute.layer_steps import ACTIONS, run_steps, write_action
from selfplay.compute.positions import pack
from selfplay.compute.words import PART_BITS
from selfplay.games.game import Game
from selfplay.games.observation_codec import shown_entries
from selfplay.games.rules import Position, Rules
from selfplay.search.evaluation import CompiledValue
from selfplay.search.mcts.evaluator import CompiledPositionValue, compile_afterstates
from selfplay.search.mcts.tree import Edges


class ShownBits(NamedTuple):
    """What an observation shows of a position, packed (`Rules.shown`)."""

    bits: NDArray[np.int64]
    """int64[D]: the bit that each entry shows, of a number the lowest."""
    masks: NDArray[np.int64]
    """int64[D]: the bits of each entry, from 0 on."""
    limits: NDArray[np.int64]
    """int64[D]: the largest value of each entry before it is scaled."""
    words: NDArray[np.int64]
    """int64[W]: memory for what is shown."""


class ObservedProgram(NamedTuple):
    """A network, and how positions of a game are observed."""

    shown: ShownBits
    program: LayerProgram


def shown_in(game: Game) -> ShownBits:
    """New memory for one search."""
    of = game.rules.shown
    shown, words = shown_entries(of, game.observation_shape), np.zeros(of.num_words, dtype=np.int64)
    entries = shown.entries
    return ShownBits(shown.lowest, (1 << entries.widths) - 1, entries.limits, words)


def _packing(rules: Rules) -> Any:
    """`packed(position)`, what the observation of a position shows."""
    observed = rules.observed

    @part_of_compiled
    def packed(position: Position) -> Bits:
        return pack(position) if observed is None else pack(observed(position))

    return packed


def _observing(rules: Rules, has_numbers: bool) -> Any:
    """`observe(position, shown, places, memory)`, which writes the observation of a position."""
    packed_of = _packing(rules)

    @part_of_compiled
    def observe(position: Position, shown: ShownBits, places: NDArray[np.int64], memory: NDArray[np.float32]) -> None:
        packed, bits, words = packed_of(position), shown.bits, shown.words
        for k in range(num_parts(packed)):
            words[k] = part(packed, k)
        for entry in range(len(bits)):
            bit = bits[entry]
            shifted = words[bit // PART_BITS] >> (bit % PART_BITS)
            if has_numbers:
                memory[places[entry]] = (shifted & shown.masks[entry]) / shown.limits[entry]
            else:
                memory[places[entry]] = shifted & 1

    return observe


def _has_numbers(game: Game) -> bool:
    """Whether entries of its observation are scaled numbers."""
    return not game.observation_codec.entries.are_bits


@part_of_compiled
def has_action_step(program: LayerProgram) -> int:
    """1 if the last step computes the logits of actions, of which few are legal."""
    return int(program.steps[len(program.steps) - 1, 0] == ACTIONS)


@cache
def _compile_network(rules: Rules, has_numbers: bool) -> Any:
    """`run(position, observed)`, which runs the program for a position, but for a last step of ACTIONS."""
    observe = _observing(rules, has_numbers)

    @part_of_compiled
    def run(position: Position, observed: ObservedProgram) -> None:
        program = observed.program
        observe(position, observed.shown, program.observation, program.memory)
        steps = program.steps[: len(program.steps) - has_action_step(program)]
        run_steps(steps, program.weights, program.indices, program.memory, program.is_portable)

    return run


def compile_policy_network(game: Game) -> CompiledPositionValue:
    """For networks with a policy head; the parameters are an `ObservedProgram`."""
    return _compile_policy_network(game.compiled_rules, _has_numbers(game))


@cache
def _compile_policy_network(rules: Rules, has_numbers: bool) -> CompiledPositionValue:
    run = _compile_network(rules, has_numbers)

    @part_of_compiled
    def value(
        position: Position, edges: Edges, bits: int, observed: ObservedProgram, logits: NDArray[np.float64]
    ) -> float:
        run(position, observed)
        program = observed.program
        is_by_action, last = has_action_step(program) == 1, program.steps[len(program.steps) - 1]
        for i in range(len(edges)):
            if is_by_action:
                write_action(last, program.weights, program.indices, program.memory, edges[i].action)
            logits[i] = program.memory[program.logits[edges[i].action]]
        # The output is the outcome for the player who is not to move.
        return -float(program.memory[program.value])

    return value


def compile_value_network(game: Game) -> CompiledPositionValue:
    """For networks without a policy head; the parameters are those of `compile_afterstates`."""
    return _compile_value_network(game.compiled_rules, _has_numbers(game))


@cache
def _compile_value_network(rules: Rules, has_numbers: bool) -> CompiledPositionValue:
    best_afterstate = compile_afterstates(rules, _compile_unfinished_value(rules, has_numbers))

    @part_of_compiled
    def value(position: Position, edges: Edges, bits: int, parameters: Any, logits: NDArray[np.float64]) -> float:
        best = best_afterstate(position, edges, bits, parameters, logits)
        # Values of linear outputs may exceed those of a won match.
        return min(max(best, -1.0), 1.0)

    return value


@cache
def _compile_unfinished_value(rules: Rules, has_numbers: bool) -> CompiledValue:
    run = _compile_network(rules, has_numbers)

    @part_of_compiled
    def value(position: Position, observed: ObservedProgram) -> float:
        run(position, observed)
        return -float(observed.program.memory[observed.program.value])

    return value
