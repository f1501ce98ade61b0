"""The rules of a game compiled into kernels that walk over a whole batch, in the memory of its tensors."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from selfplay.compiled import compiled, register_rules
from selfplay.games.game import Rules, State
from selfplay.randomness import Draws, Purpose, below, fold, random_word

EMPTY_SLOT = -1
RANDOM_ACTION = int(Purpose.RANDOM_ACTION)


class Kernels(NamedTuple):
    """The compiled rules of one game."""

    step: Callable[[State, Tensor], State]
    """(state, int64[B] legal actions) to the next state; nothing is checked."""
    observe: Callable[[State, int], Tensor]
    """(state, D) to uint8[B, D], the flattened observations."""
    random_actions: Callable[[State, Draws], Tensor]
    """int64[B]: a legal action a match, each equally likely; 0 in terminated matches."""
    perft: Callable[[int, int, int], int]
    """(own, opp, depth): the number of sequences of `depth` plies from a position; shorter matches count nothing."""


@cache
def compile_kernels(rules: Rules, num_actions: int, pass_action: int | None) -> Kernels:
    """The kernels of a game with these rules. `pass_action` is None in a game without passes."""
    register_rules()
    _, legal_actions, play, is_terminal, return_to_move, observation_entry = rules
    squares = min(num_actions, 64)
    passing = -1 if pass_action is None else pass_action

    @compiled
    def step(fields: Any, action: Any, next_fields: Any) -> None:
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
            if is_terminal(mine, other):
                result = return_to_move(mine, other)
                next_over[i], next_returns[i] = True, -result if player[i] == 0 else result

    @compiled
    def observe(own: Any, opp: Any, entries: Any) -> None:
        for i in range(entries.shape[0]):
            for j in range(entries.shape[1]):
                entries[i, j] = observation_entry(own[i], opp[i], j)

    @compiled
    def random_actions(own: Any, opp: Any, over: Any, key: int, match: Any, ply: int, actions: Any) -> None:
        for i in range(len(own)):
            actions[i] = 0
            if over[i]:
                continue
            bits = legal_actions(own[i], opp[i])
            if bits == 0:
                actions[i] = passing
                continue
            count = 0
            for action in range(squares):
                count += (bits >> action) & 1
            skip = below(random_word(key, match[i], ply, RANDOM_ACTION), count)
            for action in range(squares):
                skip -= (bits >> action) & 1
                if skip < 0:
                    actions[i] = action
                    break

    @compiled
    def perft(own: int, opp: int, depth: int) -> int:
        # A stack of its own: numba cannot find a function that calls itself in its cache on disk.
        if depth == 0 or is_terminal(own, opp):
            return 1 if depth == 0 else 0
        owns, opps = np.empty(depth, dtype=np.int64), np.empty(depth, dtype=np.int64)
        untried, must_pass = np.empty(depth, dtype=np.int64), np.empty(depth, dtype=np.bool_)
        owns[0], opps[0], untried[0] = own, opp, legal_actions(own, opp)
        must_pass[0] = untried[0] == 0
        total = level = 0
        while level >= 0:
            move = untried[level] & -untried[level]
            if move == 0 and not must_pass[level]:
                level -= 1
                continue
            untried[level] ^= move
            must_pass[level] = False
            mine, other = play(owns[level], opps[level], move)
            if level == depth - 1:
                total += 1
            elif not is_terminal(mine, other):
                level += 1
                owns[level], opps[level], untried[level] = mine, other, legal_actions(mine, other)
                must_pass[level] = untried[level] == 0
        return total

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


def _arrays(state: State) -> tuple[Any, ...]:
    return tuple(field.numpy() for field in state)


@compiled
def _distinct(own: Any, opp: Any, slots: Any, first: Any, inverse: Any) -> int:
    """Open addressing: `slots` holds, at the hash of a position, its number; `first` its first row."""
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
    """The distinct positions among the matches of `state`, in the order of their first appearance.

    Returns:
        first: int64[N], the first row that holds each distinct position.
        inverse: int64[B], the number in range(N) of each row's position.
    """
    size = state.batch_size
    slots = np.full(1 << max(4, (2 * size).bit_length()), EMPTY_SLOT, dtype=np.int64)
    first, inverse = torch.empty(size, dtype=torch.int64), torch.empty(size, dtype=torch.int64)
    count = _distinct(state.own.numpy(), state.opp.numpy(), slots, first.numpy(), inverse.numpy())
    return first[:count], inverse
