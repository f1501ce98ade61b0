"""The rules of a game compiled into kernels that process a whole batch, directly in the memory of its tensors."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

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
from selfplay.compute.stored_words import word_tensor
from selfplay.compute.words import PART_BITS
from selfplay.games.rules import Rules
from selfplay.games.state import State

EMPTY_SLOT = -1
RANDOM_ACTION = int(Purpose.RANDOM_ACTION)

Fields = tuple[Words, Words, NDArray[np.int8], NDArray[np.bool_], NDArray[np.float32]]


class Kernels(NamedTuple):
    """The rules of one game compiled, as `selfplay.games.kernels` makes them."""

    step: Callable[[State, Tensor], State]
    """(state, int64[B] legal actions) to the next state; the actions are not checked."""
    legal_action_mask: Callable[[State, int], Tensor]
    """(state, A) to bool[B, A], the legal actions."""
    observe: Callable[[Tensor, Tensor, int], Tensor]
    """(own, opp, D), the words as stored in states, to uint8[B, D], the flattened observations."""
    random_actions: Callable[[State, Draws], Tensor]
    """(state, draws) to int64[B], one uniformly random legal action per match; 0 in terminated matches."""
    ends: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    """(own, opp), as stored in states, to bool[B], whether the match is over, and float32[B], the return of the player
    to move; 0 if it is not over."""
    margin: Callable[[Tensor, Tensor], Tensor] | None
    """(own, opp) to the margins, stored as words are; None if the rules have none."""
    points: Callable[[Tensor, Tensor], Tensor] | None
    """(own, opp) to the points of the player to move; None likewise."""
    owned: Callable[[Tensor, Tensor], Tensor] | None
    """(own, opp) to the squares that count for the player to move; None likewise."""
    perft: Callable[[int, int, int, bool], int]
    """(own, opp, depth, count_finished): the number of sequences of `depth` plies from a position. With
    `count_finished`, a match that ends sooner counts as one sequence; otherwise it does not count."""


@part_of_compiled
def random_action(bits: Word, key: int, match: int, ply: int) -> Word:
    """The number of one of the set bits, each equally likely."""
    return lowest(nth_bit(bits, below(random_bits(key, match, ply, RANDOM_ACTION), bit_count(bits))))


def compiled_word_rule(function: Callable[[Word, Word], Word]) -> Callable[[Tensor, Tensor], Tensor]:
    """A function of stored words, for a rule that gives a number or a word as wide as they are: as it is stored."""
    register_rules()

    @compiled
    def write_words(own: Words, opp: Words, found: Words) -> None:
        for i in range(len(own)):
            store(found, i, function(load(own, i), load(opp, i)))

    def of_batch(own: Tensor, opp: Tensor) -> Tensor:
        found = torch.empty_like(own)
        write_words(word_rows(own), word_rows(opp), word_rows(found))
        return found

    return of_batch


@cache
def compile_kernels(rules: Rules, pass_action: int | None) -> Kernels:
    """The kernels of a game with these rules. `pass_action` is None in a game without passes."""
    register_rules()
    legal_actions, play, is_terminal, return_to_move, observation_entry = rules[1:6]
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

    @compiled
    def find_ends(own: Words, opp: Words, over: NDArray[np.bool_], returns: NDArray[np.float32]) -> None:
        for i in range(len(own)):
            mine, other = load(own, i), load(opp, i)
            over[i], returns[i] = False, 0
            if legal_actions(mine, other) == 0 and is_terminal(mine, other):
                over[i], returns[i] = True, part(return_to_move(mine, other), 0)

    def ends(own: Tensor, opp: Tensor) -> tuple[Tensor, Tensor]:
        over, returns = torch.empty(len(own), dtype=torch.bool), torch.empty(len(own))
        find_ends(word_rows(own), word_rows(opp), over.numpy(), returns.numpy())
        return over, returns

    def step_state(state: State, action: Tensor) -> State:
        following = State(*(torch.empty_like(field) for field in state))
        step(_arrays(state), action.numpy(), _arrays(following))
        return following

    def legal_action_mask(state: State, num_distinct_actions: int) -> Tensor:
        mask = torch.zeros((state.batch_size, num_distinct_actions), dtype=torch.bool)
        own, opp, _, over, _ = _arrays(state)
        mark_legal(own, opp, over, mask.numpy())
        return mask

    def observations(own: Tensor, opp: Tensor, size: int) -> Tensor:
        entries = torch.empty((len(own), size), dtype=torch.uint8)
        observe(word_rows(own), word_rows(opp), entries.numpy())
        return entries

    def choose(state: State, draws: Draws) -> Tensor:
        actions = torch.empty(state.batch_size, dtype=torch.int64)
        own, opp, _, over, _ = _arrays(state)
        random_actions(own, opp, over, draws.key, draws.match.numpy(), draws.ply, actions.numpy())
        return actions

    words = (rules.margin, rules.points, rules.owned)
    margin, points, owned = (function and compiled_word_rule(function) for function in words)
    return Kernels(step_state, legal_action_mask, observations, choose, ends, margin, points, owned, perft)


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
    size = len(own)
    slots = np.full(1 << max(4, (2 * size).bit_length()), EMPTY_SLOT, dtype=np.int64)
    first_rows, inverse = torch.empty(size, dtype=torch.int64), torch.empty(size, dtype=torch.int64)
    count = _distinct(word_rows(own), word_rows(opp), slots, first_rows.numpy(), inverse.numpy())
    return first_rows[:count], inverse
