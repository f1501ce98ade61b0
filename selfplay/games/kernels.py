"""The rules of a game compiled into kernels that process a whole batch, directly in the memory of its tensors."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import Words, compiled, compiled_for_many, part_of_compiled, recursive_part
from selfplay.compute.compiled_words import (
    load,
    lowest,
    nth_bit,
    num_parts,
    part,
    position_hash,
    store,
    word_rows,
)
from selfplay.compute.positions import fits, pack, packed_array, position_at
from selfplay.compute.random_numbers import Draws, Purpose, below, random_bits
from selfplay.compute.words import PART_BITS
from selfplay.games.rule_faults import raise_fault
from selfplay.games.rules import Position, Rules
from selfplay.games.state import State

EMPTY_SLOT = -1
NONE = -1
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
    observe: Callable[[Tensor, int], Tensor] | None
    """(positions, D) to uint8[B, D], the flattened observations; None if `rules.observation_entry` is."""
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
    legal_actions, play, is_terminal, return_to_move = rules[1:5]
    unpack, moves_again = rules.position.unpack, rules.moves_again
    passing = -1 if pass_action is None else pass_action
    legal_action_mask = _mask(rules, legal_actions, passing)

    @compiled_for_many
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
            if legal_actions(position) == 0 and is_terminal(position):
                result = part(return_to_move(position), 0)
                next_over[i], next_returns[i] = True, result if mover == 0 else -result
        return misfit

    @compiled_for_many
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
                bits = legal_actions(unpack(load(positions, i)))
                actions[i] = passing if bits == 0 else random_action(bits, key, match[i], ply)

    @recursive_part
    def count_sequences(
        position: Position, depth: int, count_finished: bool, before: Words, action: NDArray[np.int64]
    ) -> int:
        """NONE if a field does not fit. `before`, `action`: the last ply that was played, for the report of a fault."""
        moves = legal_actions(position)
        if moves == 0 and is_terminal(position):
            return 1 if count_finished else 0
        if depth == 1:  # the last ply is counted without playing it
            return max(1, int(bit_count(moves)))
        total, rest = 0, moves
        while True:
            chosen = passing if moves == 0 else lowest(rest)
            if depth > 2 or rest == moves:  # the plies that are counted do not write there
                store(before, 0, pack(position))
            action[0] = chosen
            following = play(position, chosen)
            count = count_sequences(following, depth - 1, count_finished, before, action) if fits(following) else NONE
            if count == NONE:
                return NONE
            total += count
            rest &= rest - 1
            if rest == 0 or moves == 0:
                return total

    @compiled
    def count_from(start: Words, depth: int, count_finished: bool, before: Words, action: NDArray[np.int64]) -> int:
        position = unpack(load(start, 0))
        return 1 if depth == 0 else count_sequences(position, depth, count_finished, before, action)

    def perft(position: Position, depth: int, count_finished: bool) -> int:
        before, action = packed_array([position]), np.zeros(1, dtype=np.int64)
        count, error = NONE, None
        try:
            count = count_from(word_rows(before.copy()), depth, count_finished, word_rows(before), action)
        except Exception as raised:
            error = raised
        if count == NONE:
            raise_fault(rules, [(position_at(rules.position, before, 0), int(action[0]))], error)
        return count

    @compiled_for_many
    def find_ends(positions: Words, over: NDArray[np.bool_], returns: NDArray[np.float32]) -> None:
        for i in range(len(positions)):
            position = unpack(load(positions, i))
            over[i], returns[i] = False, 0
            if legal_actions(position) == 0 and is_terminal(position):
                over[i], returns[i] = True, part(return_to_move(position), 0)

    def ends(positions: Tensor) -> tuple[Tensor, Tensor]:
        over, returns = torch.empty(len(positions), dtype=torch.bool), torch.empty(len(positions))
        find_ends(word_rows(positions), over.numpy(), returns.numpy())
        return over, returns

    def step_state(state: State, action: Tensor) -> State:
        following = State(*(torch.empty_like(field) for field in state))
        positions, next_positions = word_rows(state.position), word_rows(following.position)
        try:
            misfit = step(positions, _turns(state), action.numpy(), next_positions, _turns(following))
        except Exception as error:
            raise_fault(rules, _plies(rules, state, action, range(state.batch_size)), error)
        if misfit != NONE:
            raise_fault(rules, _plies(rules, state, action, [misfit]), None)
        return following

    def choose(state: State, draws: Draws) -> Tensor:
        actions = torch.empty(state.batch_size, dtype=torch.int64)
        positions, over = word_rows(state.position), state.terminated.numpy()
        random_actions(positions, over, draws.key, draws.match.numpy(), draws.ply, actions.numpy())
        return actions

    return Kernels(
        step_state,
        legal_action_mask,
        _sensible(rules, passing) if rules.sensible else legal_action_mask,
        rules.observation_entry and _observing(rules),
        choose,
        ends,
        rules.margin and _margins(rules),
        rules.points and _points(rules),
        rules.owned and _owned(rules),
        perft,
    )


def _mask(rules: Rules, actions: Callable[[Position], Bits], passing: int) -> Callable[[State, int], Tensor]:
    """(state, A) to bool[B, A], the actions that are the bits of `actions`, or `passing` where there are none."""
    unpack = rules.position.unpack

    @compiled_for_many
    def mark(positions: Words, over: NDArray[np.bool_], mask: NDArray[np.bool_]) -> None:
        for i in range(len(positions)):
            if not over[i]:
                bits = actions(unpack(load(positions, i)))
                rest = bits
                for first in range(0, PART_BITS * num_parts(bits), PART_BITS):
                    marked = part(rest, 0)
                    for action in range(first, min(mask.shape[1], first + PART_BITS)):
                        mask[i, action] = marked >> (action - first) & 1
                    rest = rest >> PART_BITS
                if passing >= 0:
                    mask[i, passing] = bits == 0

    def of_batch(state: State, num_distinct_actions: int) -> Tensor:
        mask = np.zeros((state.batch_size, num_distinct_actions), dtype=np.bool_)
        mark(word_rows(state.position), state.terminated.numpy(), mask)
        return torch.from_numpy(mask)

    return of_batch


def _sensible(rules: Rules, passing: int) -> Callable[[State, int], Tensor]:
    sensible, legal_actions = rules.sensible, rules.legal_actions
    assert sensible is not None

    @part_of_compiled
    def considered(position: Position) -> Bits:
        found = sensible(position)
        return legal_actions(position) if found == 0 else found

    return _mask(rules, considered, passing)


def _observing(rules: Rules) -> Callable[[Tensor, int], Tensor]:
    observation_entry, unpack = rules.observation_entry, rules.position.unpack
    assert observation_entry is not None

    # At once: each position has many entries.
    @compiled
    def observe(positions: Words, entries: NDArray[np.uint8]) -> None:
        for i in range(entries.shape[0]):
            position = unpack(load(positions, i))
            for j in range(entries.shape[1]):
                entries[i, j] = part(observation_entry(position, j), 0)

    def observations(positions: Tensor, size: int) -> Tensor:
        entries = torch.empty((len(positions), size), dtype=torch.uint8)
        observe(word_rows(positions), entries.numpy())
        return entries

    return observations


def _margins(rules: Rules) -> Callable[[Tensor], Tensor]:
    margin, unpack = rules.margin, rules.position.unpack
    assert margin is not None

    @compiled_for_many
    def write_margins(positions: Words, found: NDArray[np.int64]) -> None:
        for i in range(len(positions)):
            found[i] = part(margin(unpack(load(positions, i))), 0)

    return _filled_by(write_margins)


def _points(rules: Rules) -> Callable[[Tensor], Tensor]:
    points, unpack = rules.points, rules.position.unpack
    assert points is not None

    @compiled_for_many
    def write_points(positions: Words, found: NDArray[np.int64]) -> None:
        for i in range(len(positions)):
            one, other = points(unpack(load(positions, i)))
            found[i, 0], found[i, 1] = part(one, 0), part(other, 0)

    return _filled_by(write_points, 2)


def _filled_by(write: Callable[[Words, NDArray[np.int64]], None], *shape: int) -> Callable[[Tensor], Tensor]:
    """(positions) to int64[B, *shape], the array that a kernel fills."""

    def of_batch(positions: Tensor) -> Tensor:
        found = torch.empty(len(positions), *shape, dtype=torch.int64)
        write(word_rows(positions), found.numpy())
        return found

    return of_batch


def _owned(rules: Rules) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    owned, unpack = rules.owned, rules.position.unpack
    assert owned is not None
    parts = num_parts(owned(rules.initial)[0])

    @compiled_for_many
    def write_owned(positions: Words, mine: Words, others: Words) -> None:
        for i in range(len(positions)):
            one, other = owned(unpack(load(positions, i)))
            store(mine, i, one)
            store(others, i, other)

    def of_batch(positions: Tensor) -> tuple[Tensor, Tensor]:
        mine, others = torch.empty(2, len(positions), parts, dtype=torch.int64)
        write_owned(word_rows(positions), word_rows(mine), word_rows(others))
        return mine, others

    return of_batch


def _plies(rules: Rules, state: State, action: Tensor, rows: Iterable[int]) -> Iterator[tuple[Position, int]]:
    """The positions of the matches in these rows that are not over, and their actions."""
    for row in rows:
        if not bool(state.terminated[row]):
            yield position_at(rules.position, state.position, row), int(action[row])


def _turns(state: State) -> Turns:
    _, player, over, returns = state
    return player.numpy(), over.numpy(), returns.numpy()


@compiled
def _distinct(positions: Words, slots: NDArray[np.int64], first: NDArray[np.int64], inverse: NDArray[np.int64]) -> int:
    """Number the distinct positions with a hash table: `slots` holds their numbers, `first` their first rows."""
    mask = len(slots) - 1
    count = 0
    for i in range(len(positions)):
        position = load(positions, i)
        slot = position_hash(position) & mask
        while True:
            number = slots[slot]
            if number == EMPTY_SLOT:
                slots[slot] = number = count
                first[count] = i
                count += 1
                break
            if load(positions, first[number]) == position:
                break
            slot = (slot + 1) & mask
        inverse[i] = number
    return count


def distinct_positions(positions: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct positions among int64[B, W], packed as in `State`, in the order of their first appearance.

    Returns:
        first_rows: int64[N], the first row that holds each distinct position.
        inverse: int64[B], the number in range(N) of each row's position.
    """
    size = len(positions)
    slots = np.full(1 << max(4, (2 * size).bit_length()), EMPTY_SLOT, dtype=np.int64)
    first_rows, inverse = torch.empty(size, dtype=torch.int64), torch.empty(size, dtype=torch.int64)
    count = _distinct(word_rows(positions), slots, first_rows.numpy(), inverse.numpy())
    return first_rows[:count], inverse
