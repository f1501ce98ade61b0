"""The rules of a game compiled into kernels that process a whole batch, directly in the memory of its tensors."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import Words, compiled, compiled_for_many, part_of_compiled
from selfplay.compute.compiled_words import load, nth_bit, num_parts, part, store, word_rows
from selfplay.compute.positions import Packed, fits, pack, position_at
from selfplay.compute.random_numbers import Draws, Purpose, below, random_bits
from selfplay.compute.words import PART_BITS
from selfplay.games.general_rules import pass_of
from selfplay.games.number_kernels import compile_margins, compile_owned, compile_points
from selfplay.games.perft import NONE, compile_perft
from selfplay.games.rule_faults import raise_fault
from selfplay.games.rules import Position, Rules, over_of
from selfplay.games.state import State
from selfplay.games.tiers import TieredKernel

RANDOM_ACTION = int(Purpose.RANDOM_ACTION)

Turns = tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.float32]]
"""The fields of a state besides the positions."""


class Kernels(NamedTuple):
    """The rules of one game compiled, as `selfplay.games.kernels` makes them.

    `positions` are int64[B, W], packed as in `State`.
    """

    step: Callable[[State, Tensor], State]
    """(state, int64[B] legal actions) to the next state; the actions are not checked. Raises RuleError if a rule fails,
    or a field of the next position does not fit."""
    legal_action_mask: Callable[[State, int], Tensor]
    """(state, A) to bool[B, A], the legal actions."""
    sensible_action_mask: Callable[[State, int], Tensor]
    """(state, A) to bool[B, A], those of the legal actions that `rules.sensible` names; all where it names none."""
    observe: Callable[[Packed], Packed] | None
    """(positions) to int64[B, V], what their observations show, packed; None if `rules.observed` is."""
    random_actions: Callable[[State, Draws], Tensor]
    """(state, draws) to int64[B], one uniformly random legal action per match; 0 in terminated matches."""
    ends: Callable[[Tensor], tuple[Tensor, Tensor]]
    """(positions) to bool[B], whether the match is over, and float32[B], the return of the player to move; 0 if it is
    not over."""
    margin: Callable[[Tensor], Tensor] | None
    """(positions) to int64[B], the margins; None if the rules have none."""
    points: Callable[[Tensor], Tensor] | None
    """(positions) to int64[B, 2], the points of the player to move and of the other; None likewise."""
    owned: Callable[[Tensor], tuple[Tensor, Tensor]] | None
    """(positions) to the words (int64[B, K]) of the squares that count for the player to move, and for the other; None
    likewise."""
    perft: Callable[[Position, int, bool], int]
    """(position, depth, count_finished): the number of sequences of `depth` plies from a position. With
    `count_finished`, a match that ends sooner counts as one sequence; otherwise it does not count. Raises as `step`."""


@part_of_compiled
def random_action(bits: Bits, key: int, match: int, ply: int) -> Bits:
    """The number of one of the set bits, each equally likely."""
    return nth_bit(bits, below(random_bits(key, match, ply, RANDOM_ACTION), bit_count(bits)))


@cache
def compile_kernels(rules: Rules, pass_action: int | None) -> Kernels:
    """The kernels of a game with these rules. `pass_action` is None in a game without passes."""
    legal_action_mask = _masking(TieredKernel(mask_kernel, rules, pass_action))
    return Kernels(
        _stepping(rules, pass_action),
        legal_action_mask,
        _sensible(rules, pass_action) if rules.sensible else legal_action_mask,
        rules.observed and _observing(rules),
        _choosing(TieredKernel(choice_kernel, rules, pass_action)),
        _ends(TieredKernel(end_kernel, rules, pass_action)),
        rules.margin and compile_margins(rules),
        rules.points and compile_points(rules),
        rules.owned and compile_owned(rules),
        compile_perft(rules, pass_action),
    )


def step_kernel(rules: Rules, pass_action: int | None) -> Callable[..., int]:
    """`step(positions, turns, action, next_positions, next_turns)`; returns a row whose next position does not fit."""
    play, is_over, return_to_move = rules.play, over_of(rules), rules.return_to_move
    unpack, moves_again = rules.position.unpack, rules.moves_again

    def step(
        positions: Words, turns: Turns, action: NDArray[np.int64], next_positions: Words, next_turns: Turns
    ) -> int:
        misfit = NONE
        player, over, returns = turns
        next_player, next_over, next_returns = next_turns
        for i in range(len(positions)):
            if over[i]:
                store(next_positions, i, load(positions, i))
                next_player[i], next_over[i], next_returns[i] = player[i], True, returns[i]
                continue
            position = play(unpack(load(positions, i)), int(action[i]))
            if not fits(position):
                misfit = i
            store(next_positions, i, pack(position))
            mover = 1 - player[i]
            if moves_again is not None:
                mover = player[i] if moves_again(position) else mover
            next_player[i], next_over[i], next_returns[i] = mover, False, 0
            if is_over(position):
                result = part(return_to_move(position), 0)
                next_over[i], next_returns[i] = True, result if mover == 0 else -result
        return misfit

    return step


def _stepping(rules: Rules, pass_action: int | None) -> Callable[[State, Tensor], State]:
    kernel = TieredKernel(step_kernel, rules, pass_action)

    def step_state(state: State, action: Tensor) -> State:
        following = State(*(torch.empty_like(field) for field in state))
        packed = following.position.numpy()
        try:
            tier, step = kernel.chosen(state.batch_size)
            positions, next_positions = tier.rows(state.position.numpy()), tier.rows_for(packed)
            misfit = step(positions, _turns(state), action.numpy(), next_positions, _turns(following))
        except Exception as error:
            raise_fault(rules, _plies(rules, state, action, range(state.batch_size)), error)
        if misfit != NONE:
            raise_fault(rules, _plies(rules, state, action, [misfit]), None)
        tier.write_back(next_positions, packed)
        return following

    return step_state


def choice_kernel(rules: Rules, pass_action: int | None) -> Callable[..., None]:
    """`random_actions(positions, over, key, match, ply, actions)`."""
    legal_actions, unpack, pass_in = rules.legal_actions, rules.position.unpack, pass_of(pass_action)

    def random_actions(
        positions: Words,
        over: NDArray[np.bool_],
        key: int,
        match: NDArray[np.int64],
        ply: int,
        actions: NDArray[np.int64],
    ) -> None:
        for i in range(len(positions)):
            actions[i] = 0
            if not over[i]:
                position = unpack(load(positions, i))
                bits = legal_actions(position)
                actions[i] = pass_in(position) if bits == 0 else random_action(bits, key, match[i], ply)

    return random_actions


def _choosing(kernel: TieredKernel) -> Callable[[State, Draws], Tensor]:
    def choose(state: State, draws: Draws) -> Tensor:
        tier, random_actions = kernel.chosen(state.batch_size)
        actions = torch.empty(state.batch_size, dtype=torch.int64)
        positions, over = tier.rows(state.position.numpy()), state.terminated.numpy()
        random_actions(positions, over, draws.key, draws.match.numpy(), draws.ply, actions.numpy())
        return actions

    return choose


def end_kernel(rules: Rules, pass_action: int | None) -> Callable[..., None]:
    """`find_ends(positions, over, returns)`."""
    is_over, return_to_move, unpack = over_of(rules), rules.return_to_move, rules.position.unpack

    def find_ends(positions: Words, over: NDArray[np.bool_], returns: NDArray[np.float32]) -> None:
        for i in range(len(positions)):
            position = unpack(load(positions, i))
            over[i], returns[i] = False, 0
            if is_over(position):
                over[i], returns[i] = True, part(return_to_move(position), 0)

    return find_ends


def _ends(kernel: TieredKernel) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    def ends(positions: Tensor) -> tuple[Tensor, Tensor]:
        tier, find_ends = kernel.chosen(len(positions))
        over, returns = torch.empty(len(positions), dtype=torch.bool), torch.empty(len(positions))
        find_ends(tier.rows(positions.numpy()), over.numpy(), returns.numpy())
        return over, returns

    return ends


def mask_kernel(rules: Rules, pass_action: int | None) -> Callable[..., None]:
    """`mark(positions, over, mask)` of the legal actions."""
    return _marking(rules, rules.legal_actions, pass_action)


def sensible_kernel(rules: Rules, pass_action: int | None) -> Callable[..., None]:
    """`mark(positions, over, mask)` of the sensible actions, or of all where there are none."""
    sensible, legal_actions = rules.sensible, rules.legal_actions
    assert sensible is not None

    @part_of_compiled
    def considered(position: Position) -> Bits:
        found = sensible(position)
        return legal_actions(position) if found == 0 else found

    return _marking(rules, considered, pass_action)


def _marking(rules: Rules, actions: Callable[[Position], Bits], pass_action: int | None) -> Callable[..., None]:
    """`mark(positions, over, mask)` of the actions that are the bits of `actions`, or the pass where there are none."""
    unpack, pass_in = rules.position.unpack, pass_of(pass_action)

    def mark(positions: Words, over: NDArray[np.bool_], mask: NDArray[np.bool_]) -> None:
        for i in range(len(positions)):
            if not over[i]:
                position = unpack(load(positions, i))
                bits, passing = actions(position), pass_in(position)
                rest = bits
                for first in range(0, PART_BITS * num_parts(bits), PART_BITS):
                    marked = part(rest, 0)
                    for action in range(first, min(mask.shape[1], first + PART_BITS)):
                        mask[i, action] = marked >> (action - first) & 1
                    rest = rest >> PART_BITS
                if passing >= 0:
                    mask[i, passing] = bits == 0

    return mark


def _masking(kernel: TieredKernel) -> Callable[[State, int], Tensor]:
    """(state, A) to bool[B, A]."""

    def of_batch(state: State, num_distinct_actions: int) -> Tensor:
        tier, mark = kernel.chosen(state.batch_size)
        mask = np.zeros((state.batch_size, num_distinct_actions), dtype=np.bool_)
        mark(tier.rows(state.position.numpy()), state.terminated.numpy(), mask)
        return torch.from_numpy(mask)

    return of_batch


def _sensible(rules: Rules, pass_action: int | None) -> Callable[[State, int], Tensor]:
    # The general rules do not have it.
    mark = compiled_for_many(sensible_kernel(rules, pass_action))

    def of_batch(state: State, num_distinct_actions: int) -> Tensor:
        mask = np.zeros((state.batch_size, num_distinct_actions), dtype=np.bool_)
        mark(word_rows(state.position), state.terminated.numpy(), mask)
        return torch.from_numpy(mask)

    return of_batch


def _observing(rules: Rules) -> Callable[[Packed], Packed]:
    observed, unpack, shown = rules.observed, rules.position.unpack, rules.shown
    assert observed is not None

    @compiled
    def observe(positions: Words, seen: Words) -> None:
        for i in range(len(positions)):
            store(seen, i, pack(observed(unpack(load(positions, i)))))

    def of_batch(positions: Packed) -> Packed:
        seen = np.zeros((len(positions), shown.num_words), dtype=np.int64)
        observe(word_rows(positions), word_rows(seen))
        return seen

    return of_batch


def _plies(rules: Rules, state: State, action: Tensor, rows: Iterable[int]) -> Iterator[tuple[Position, int]]:
    """The positions of the matches in these rows that are not over, and their actions."""
    for row in rows:
        if not bool(state.terminated[row]):
            yield position_at(rules.position, state.position, row), int(action[row])


def _turns(state: State) -> Turns:
    _, player, over, returns = state
    return player.numpy(), over.numpy(), returns.numpy()
