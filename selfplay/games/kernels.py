"""The rules of a game compiled into kernels that process a whole batch, directly in the memory of its tensors."""

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import Words, compiled, part_of_compiled, recursive_part, register_rules
from selfplay.compute.compiled_words import (
    load,
    lowest,
    move_of,
    nth_bit,
    num_parts,
    part,
    position_hash,
    store,
    word_rows,
)
from selfplay.compute.random_numbers import Draws, Purpose, below, random_bits
from selfplay.compute.stored_words import parts_matrix, word_tensor
from selfplay.compute.words import PART_BITS
from selfplay.games.rules import Rules
from selfplay.games.state import State
from selfplay.games.stepping import Kernels

EMPTY_SLOT = -1
RANDOM_ACTION = int(Purpose.RANDOM_ACTION)

Fields = tuple[Words, Words, NDArray[np.int8], NDArray[np.bool_], NDArray[np.float32]]


@part_of_compiled
def random_action(bits: Word, key: int, match: int, ply: int) -> Word:
    """The number of one of the set bits, each equally likely."""
    return lowest(nth_bit(bits, below(random_bits(key, match, ply, RANDOM_ACTION), bit_count(bits))))


@cache
def compile_kernels(rules: Rules, pass_action: int | None) -> Kernels:
    """The kernels of a game with these rules. `pass_action` is None in a game without passes."""
    register_rules()
    legal_actions, play, is_terminal, return_to_move, observation_entry = rules[1:6]
    margin: Any = rules.margin
    passing = -1 if pass_action is None else pass_action

    @compiled
    def step(fields: Fields, action: NDArray[np.int64], next_fields: Fields) -> None:
        own, opp, player, over, returns = fields
        next_own, next_opp, next_player, next_over, next_returns = next_fields
        for i in range(len(own)):
            mine, other = load(own, i), load(opp, i)
            if over[i]:
                store(next_own, i, mine)
                store(next_opp, i, other)
                next_player[i], next_over[i], next_returns[i] = player[i], True, returns[i]
                continue
            mine, other = play(mine, other, move_of(mine, action[i], passing))
            store(next_own, i, mine)
            store(next_opp, i, other)
            next_player[i], next_over[i], next_returns[i] = 1 - player[i], False, 0
            if legal_actions(mine, other) == 0 and is_terminal(mine, other):
                result = part(return_to_move(mine, other), 0)
                next_over[i], next_returns[i] = True, -result if player[i] == 0 else result

    @compiled
    def mark_legal(own: Words, opp: Words, over: NDArray[np.bool_], mask: NDArray[np.bool_]) -> None:
        for i in range(len(own)):
            if not over[i]:
                bits = legal_actions(load(own, i), load(opp, i))
                for action in range(min(mask.shape[1], PART_BITS * num_parts(bits))):
                    mask[i, action] = part(bits >> action, 0) & 1
                if passing >= 0:
                    mask[i, passing] = bits == 0

    @compiled
    def observe(own: Words, opp: Words, entries: NDArray[np.uint8]) -> None:
        for i in range(entries.shape[0]):
            mine, other = load(own, i), load(opp, i)
            for j in range(entries.shape[1]):
                entries[i, j] = part(observation_entry(mine, other, j), 0)

    @compiled
    def random_actions(
        own: Words,
        opp: Words,
        over: NDArray[np.bool_],
        key: int,
        match: NDArray[np.int64],
        ply: int,
        actions: NDArray[np.int64],
    ) -> None:
        for i in range(len(own)):
            actions[i] = 0
            if not over[i]:
                bits = legal_actions(load(own, i), load(opp, i))
                actions[i] = passing if bits == 0 else random_action(bits, key, match[i], ply)

    @compiled
    def write_leads(own: Words, opp: Words, leads: NDArray[np.int64]) -> None:
        for i in range(len(own)):
            leads[i] = part(margin(load(own, i), load(opp, i)), 0)

    @recursive_part
    def count_sequences(own: Word, opp: Word, depth: int, count_finished: bool) -> int:
        moves = legal_actions(own, opp)
        if moves == 0 and is_terminal(own, opp):
            return 1 if count_finished else 0
        if depth == 1:  # the last ply is counted without playing it
            return max(1, int(bit_count(moves)))
        total = 0
        while True:
            move = moves & -moves
            moves ^= move
            mine, other = play(own, opp, move)
            total += count_sequences(mine, other, depth - 1, count_finished)
            if moves == 0:
                return total

    @compiled
    def count_from(position: Words, depth: int, count_finished: bool) -> int:
        return 1 if depth == 0 else count_sequences(load(position, 0), load(position, 1), depth, count_finished)

    def perft(own: int, opp: int, depth: int, count_finished: bool) -> int:
        return count_from(word_rows(word_tensor((own, opp), rules.word_bits)), depth, count_finished)

    def step_state(state: State, action: Tensor) -> State:
        following = State(*(torch.empty_like(field) for field in state))
        step(_arrays(state), action.numpy(), _arrays(following))
        return following

    def legal_action_mask(state: State, num_distinct_actions: int) -> Tensor:
        mask = torch.zeros((state.batch_size, num_distinct_actions), dtype=torch.bool)
        own, opp, _, over, _ = _arrays(state)
        mark_legal(own, opp, over, mask.numpy())
        return mask

    def observe_state(state: State, size: int) -> Tensor:
        entries = torch.empty((state.batch_size, size), dtype=torch.uint8)
        observe(word_rows(state.own), word_rows(state.opp), entries.numpy())
        return entries

    def choose(state: State, draws: Draws) -> Tensor:
        actions = torch.empty(state.batch_size, dtype=torch.int64)
        own, opp, _, over, _ = _arrays(state)
        random_actions(own, opp, over, draws.key, draws.match.numpy(), draws.ply, actions.numpy())
        return actions

    def leads(state: State) -> Tensor:
        found = torch.empty(state.batch_size, dtype=torch.int64)
        write_leads(word_rows(state.own), word_rows(state.opp), found.numpy())
        return found

    return Kernels(step_state, legal_action_mask, observe_state, choose, perft, leads)


def _arrays(state: State) -> Fields:
    own, opp, player, over, returns = state
    return word_rows(own), word_rows(opp), player.numpy(), over.numpy(), returns.numpy()


@compiled
def _distinct(
    own: Words, opp: Words, slots: NDArray[np.int64], first: NDArray[np.int64], inverse: NDArray[np.int64]
) -> int:
    """Number the distinct positions with a hash table: `slots` holds their numbers, `first` their first rows."""
    mask = len(slots) - 1
    count = 0
    for i in range(len(own)):
        mine, other = load(own, i), load(opp, i)
        slot = position_hash(mine, other) & mask
        while True:
            number = slots[slot]
            if number == EMPTY_SLOT:
                slots[slot] = number = count
                first[count] = i
                count += 1
                break
            if load(own, first[number]) == mine and load(opp, first[number]) == other:
                break
            slot = (slot + 1) & mask
        inverse[i] = number
    return count


def distinct_positions(state: State) -> tuple[Tensor, Tensor]:
    """The distinct positions among the matches of `state`: see `distinct_bitboards`."""
    return distinct_bitboards(state.own, state.opp)


def distinct_bitboards(own: Tensor, opp: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct pairs of words, as stored in states, in the order of their first appearance.

    Returns:
        first_rows: int64[N], the first row that holds each distinct position.
        inverse: int64[B], the number in range(N) of each row's position.
    """
    if not own.is_cpu:
        return distinct_words_with_tensors(own, opp)
    size = len(own)
    slots = np.full(1 << max(4, (2 * size).bit_length()), EMPTY_SLOT, dtype=np.int64)
    first_rows, inverse = torch.empty(size, dtype=torch.int64), torch.empty(size, dtype=torch.int64)
    count = _distinct(word_rows(own), word_rows(opp), slots, first_rows.numpy(), inverse.numpy())
    return first_rows[:count], inverse


def distinct_words_with_tensors(own: Tensor, opp: Tensor) -> tuple[Tensor, Tensor]:
    """`distinct_bitboards` as torch operations, for any device."""
    parts = torch.cat([parts_matrix(own), parts_matrix(opp)], dim=1)
    # Sorted by all parts, equal positions are adjacent, in the order of their rows.
    order = torch.arange(len(parts), device=parts.device)
    for column in parts.unbind(1)[::-1]:
        order = order[column[order].argsort(stable=True)]
    parts = parts[order]
    is_new = torch.ones_like(order, dtype=torch.bool)
    is_new[1:] = (parts[1:] != parts[:-1]).any(dim=1)
    first_rows, appearance = order[is_new].sort()
    number = torch.empty_like(appearance)
    number[appearance] = torch.arange(len(appearance), device=appearance.device)
    inverse = torch.empty_like(order)
    inverse[order] = number[is_new.cumsum(dim=0) - 1]
    return first_rows, inverse
