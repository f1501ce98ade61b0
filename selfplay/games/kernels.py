"""The rules of a game compiled into kernels that process a whole batch, directly in the memory of its tensors."""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import Words, compiled, part_of_compiled, recursive_part, register_rules
from selfplay.compute.random_numbers import Draws, Purpose, below, fold, random_bits
from selfplay.games.rules import Rules
from selfplay.games.state import Kernels, State

EMPTY_SLOT = -1
RANDOM_ACTION = int(Purpose.RANDOM_ACTION)

Fields = tuple[Words, Words, NDArray[np.int8], NDArray[np.bool_], NDArray[np.float32]]


@part_of_compiled
def random_action(bits: Word, key: int, match: int, ply: int) -> Word:
    """The number of one of the set bits, each equally likely."""
    for _ in range(below(random_bits(key, match, ply, RANDOM_ACTION), bit_count(bits))):
        bits &= bits - 1
    return bit_count((bits & -bits) - 1)


@cache
def compile_kernels(rules: Rules, pass_action: int | None) -> Kernels:
    """The kernels of a game with these rules. `pass_action` is None in a game without passes."""
    register_rules()
    _, legal_actions, play, is_terminal, return_to_move, observation_entry, _ = rules
    passing = -1 if pass_action is None else pass_action

    @compiled
    def step(fields: Fields, action: NDArray[np.int64], next_fields: Fields) -> None:
        own, opp, player, over, returns = fields
        next_own, next_opp, next_player, next_over, next_returns = next_fields
        for i in range(len(own)):
            if over[i]:
                next_own[i], next_opp[i], next_player[i] = own[i], opp[i], player[i]
                next_over[i], next_returns[i] = True, returns[i]
                continue
            move = np.int64(0)
            if action[i] != passing:
                move = np.int64(1) << np.int64(action[i])
            mine, other = play(own[i], opp[i], move)
            next_own[i], next_opp[i], next_player[i] = mine, other, 1 - player[i]
            next_over[i], next_returns[i] = False, 0
            if legal_actions(mine, other) == 0 and is_terminal(mine, other):
                result = return_to_move(mine, other)
                next_over[i], next_returns[i] = True, -result if player[i] == 0 else result

    @compiled
    def observe(own: Words, opp: Words, entries: NDArray[np.uint8]) -> None:
        for i in range(entries.shape[0]):
            for j in range(entries.shape[1]):
                entries[i, j] = observation_entry(own[i], opp[i], j)

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
                bits = legal_actions(own[i], opp[i])
                actions[i] = passing if bits == 0 else random_action(bits, key, match[i], ply)

    @recursive_part
    def count_sequences(own: int, opp: int, depth: int, count_finished: bool) -> int:
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
    def perft(own: int, opp: int, depth: int, count_finished: bool) -> int:
        return 1 if depth == 0 else count_sequences(own, opp, depth, count_finished)

    def step_state(state: State, action: Tensor) -> State:
        following = State(*(torch.empty_like(field) for field in state))
        step(_arrays(state), action.numpy(), _arrays(following))
        return following

    def observe_state(state: State, size: int) -> Tensor:
        entries = torch.empty((state.batch_size, size), dtype=torch.uint8)
        observe(state.own.numpy(), state.opp.numpy(), entries.numpy())
        return entries

    def choose(state: State, draws: Draws) -> Tensor:
        actions = torch.empty_like(state.own)
        own, opp, _, over, _ = _arrays(state)
        random_actions(own, opp, over, draws.key, draws.match.numpy(), draws.ply, actions.numpy())
        return actions

    return Kernels(step_state, observe_state, choose, perft)


def _arrays(state: State) -> Fields:
    own, opp, player, over, returns = (field.numpy() for field in state)
    return own, opp, player, over, returns


@compiled
def _distinct(
    own: Words, opp: Words, slots: NDArray[np.int64], first: NDArray[np.int64], inverse: NDArray[np.int64]
) -> int:
    """Number the distinct positions with a hash table: `slots` holds their numbers, `first` their first rows."""
    mask = len(slots) - 1
    count = 0
    for i in range(len(own)):
        slot = fold(own[i], opp[i]) & mask
        while True:
            number = slots[slot]
            if number == EMPTY_SLOT:
                slots[slot] = number = count
                first[count] = i
                count += 1
                break
            if own[first[number]] == own[i] and opp[first[number]] == opp[i]:
                break
            slot = (slot + 1) & mask
        inverse[i] = number
    return count


def distinct_positions(state: State) -> tuple[Tensor, Tensor]:
    """The distinct positions among the matches of `state`: see `distinct_bitboards`."""
    return distinct_bitboards(state.own, state.opp)


def distinct_bitboards(own: Tensor, opp: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct pairs of words (int64[B] each), in the order of their first appearance.

    Returns:
        first_rows: int64[N], the first row that holds each distinct position.
        inverse: int64[B], the number in range(N) of each row's position.
    """
    if not own.is_cpu:
        return distinct_words_with_tensors(own, opp)
    size = len(own)
    slots = np.full(1 << max(4, (2 * size).bit_length()), EMPTY_SLOT, dtype=np.int64)
    first_rows, inverse = torch.empty(size, dtype=torch.int64), torch.empty(size, dtype=torch.int64)
    count = _distinct(own.numpy(), opp.numpy(), slots, first_rows.numpy(), inverse.numpy())
    return first_rows[:count], inverse


def distinct_words_with_tensors(own: Tensor, opp: Tensor) -> tuple[Tensor, Tensor]:
    """`distinct_bitboards` as torch operations, for any device."""
    # Sorted by both words, equal positions are adjacent, in the order of their rows.
    order = opp.argsort(stable=True)
    order = order[own[order].argsort(stable=True)]
    own, opp = own[order], opp[order]
    is_new = torch.ones_like(order, dtype=torch.bool)
    is_new[1:] = (own[1:] != own[:-1]) | (opp[1:] != opp[:-1])
    first_rows, appearance = order[is_new].sort()
    number = torch.empty_like(appearance)
    number[appearance] = torch.arange(len(appearance), device=appearance.device)
    inverse = torch.empty_like(order)
    inverse[order] = number[is_new.cumsum(dim=0) - 1]
    return first_rows, inverse
