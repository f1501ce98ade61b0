"""How the rules of a game step a batch of matches and observe it.

Each method of `BatchStepping` runs compiled over the memory of the tensors (CPU) or as torch operations (elsewhere).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.random_numbers import Draws
from selfplay.compute.stored_words import number_of, parts_matrix, stored, word_tensor, words_of, words_where
from selfplay.compute.words import PART_BITS, parts_of_bits
from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.rules import Rules
from selfplay.games.state import State


class Kernels(NamedTuple):
    """The rules of one game compiled, as `selfplay.games.kernels` makes them."""

    step: Callable[[State, Tensor], State]
    """(state, int64[B] legal actions) to the next state; the actions are not checked."""
    legal_action_mask: Callable[[State, int], Tensor]
    """(state, A) to bool[B, A], the legal actions."""
    observe: Callable[[State, int], Tensor]
    """(state, D) to uint8[B, D], the flattened observations."""
    random_actions: Callable[[State, Draws], Tensor]
    """(state, draws) to int64[B], one uniformly random legal action per match; 0 in terminated matches."""
    perft: Callable[[int, int, int, bool], int]
    """(own, opp, depth, count_finished): the number of sequences of `depth` plies from a position. With
    `count_finished`, a match that ends sooner counts as one sequence; otherwise it does not count."""
    leads: Callable[[State], Tensor]
    """(state) to int64[B], the margin of each position, in games that have it."""


class BatchStepping(ABC):
    """Batched operations derived from the rules of a game; `selfplay.games.game.Game` documents its attributes."""

    name: str
    num_distinct_actions: int
    pass_action: int | None = None
    observation_shape: tuple[int, ...]
    rules: Rules

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """The text of an action in range(A)."""

    def action_text(self, action: int, player: int) -> str:
        """The text of an action that player 0 or 1 takes; that of `action_to_string` unless a game overrides it."""
        return self.action_to_string(action)

    @property
    @abstractmethod
    def kernels(self) -> Kernels:
        """The compiled rules."""

    @abstractmethod
    def write_transcript(self, actions: Iterable[int]) -> str:
        """The actions of a match as text."""

    # ------------------------------------------------------------------ states and steps

    def init(self, batch_size: int = 1, device: str = "cpu") -> State:
        """`batch_size` matches at the start."""
        start = State(*(field.to(device) for field in self._start))
        return start.select(torch.zeros(batch_size, dtype=torch.int64, device=device))

    @cached_property
    def _start(self) -> State:
        """One match at the start."""
        words = word_tensor(self.rules.initial, self.rules.word_bits)
        return self.state_at(words[:1], words[1:])

    def state_at(self, own: Tensor, opp: Tensor) -> State:
        """The positions `(own, opp)`, as stored in states, as a state with player 0 to move."""
        terminated, returns = self._ends(own, opp)
        return State(own, opp, torch.zeros_like(terminated, dtype=torch.int8), terminated, returns)

    def _ends(self, own: Tensor, opp: Tensor) -> tuple[Tensor, Tensor]:
        """bool[B]: whether the match is over; float32[B]: if so, the return of the player to move, otherwise 0."""
        terminated = self.rules.on_tensors(self.rules.is_terminal, own, opp)
        returns = number_of(self.rules.on_tensors(self.rules.return_to_move, own, opp))
        return terminated, torch.where(terminated, returns, 0).to(torch.float32)

    def legal_action_mask(self, state: State) -> Tensor:
        """bool[B, A]: which actions are legal; none in a terminated match."""
        if state.own.is_cpu:
            return self.kernels.legal_action_mask(state, self.num_distinct_actions)
        return self.legal_action_mask_with_tensors(state)

    def legal_action_mask_with_tensors(self, state: State) -> Tensor:
        """`legal_action_mask` as torch operations, for any device."""
        legal = stored(self.rules.on_tensors(self.rules.legal_actions, state.own, state.opp))
        parts = parts_matrix(words_where(state.terminated, 0, legal))
        shifts = torch.arange(min(self.num_distinct_actions, PART_BITS), device=parts.device)
        mask = ((parts[:, :, None] >> shifts) & 1).bool().flatten(1)[:, : self.num_distinct_actions]
        if self.pass_action is None:
            return mask
        passing = (parts == 0).all(dim=1) & ~state.terminated
        mask = torch.nn.functional.pad(mask, (0, self.num_distinct_actions - mask.shape[1]))
        mask[:, self.pass_action] = passing
        return mask

    def step(self, state: State, action: Tensor) -> State:
        """The state after `action` (int64[B]). Terminated matches do not change, whatever their action.

        Raises IllegalActionError if an action is not legal in its match, or there is not one for each match.
        """
        if not isinstance(action, Tensor) or (action.dtype, action.shape) != (torch.int64, state.terminated.shape):
            raise IllegalActionError(f"actions must be a tensor int64[{state.batch_size}], one for each match")
        mask = self.legal_action_mask(state)
        in_range = (action >= 0) & (action < self.num_distinct_actions)
        legal = mask.gather(1, torch.where(in_range, action, 0)[:, None])[:, 0] & in_range
        illegal = ~(legal | state.terminated)
        if illegal.any():
            row = int(illegal.nonzero()[0, 0])
            number = int(action[row])
            player = int(state.current_player[row])
            name = self.action_text(number, player) if bool(in_range[row]) else str(number)
            allowed = ", ".join(self.action_text(a, player) for a in mask[row].nonzero()[:, 0].tolist())
            raise IllegalActionError(f"action {name} is not legal here; legal actions: {allowed}")
        return self.step_unchecked(state, action)

    def step_unchecked(self, state: State, action: Tensor) -> State:
        """`step` without the check, for inner loops: an illegal action gives a wrong state."""
        if state.own.is_cpu:
            return self.kernels.step(state, action)
        return self.step_with_tensors(state, action)

    def step_with_tensors(self, state: State, action: Tensor) -> State:
        """`step_unchecked` as torch operations, for any device."""
        places = torch.arange(parts_of_bits(self.rules.word_bits), device=action.device) == action[:, None] // PART_BITS
        move = torch.where(places, 1 << (action[:, None] % PART_BITS), 0).reshape(state.own.shape)
        if self.pass_action is not None:
            move = words_where(action == self.pass_action, 0, move)
        own, opp = map(stored, self.rules.on_tensors(self.rules.play, state.own, state.opp, move))
        over = state.terminated
        own, opp = words_where(over, state.own, own), words_where(over, state.opp, opp)
        player = torch.where(over, state.current_player, 1 - state.current_player)
        terminated, to_move = self._ends(own, opp)
        # Adding 0.0 turns the -0.0 of a negated draw into 0.0.
        return State(own, opp, player, terminated, torch.where(player == 0, to_move, -to_move) + 0.0)

    # ------------------------------------------------------------------ observations and boards

    def observe(self, state: State) -> Tensor:
        """float32[B, *observation_shape]: each position as seen by the player who has just moved."""
        entries = self.observation_bits(state).to(torch.float32)
        return entries.reshape(state.batch_size, *self.observation_shape)

    def observation_bits(self, state: State) -> Tensor:
        """uint8[B, D]: the entries of `observe`, flattened in C order, as 0 and 1."""
        if state.own.is_cpu:
            return self.kernels.observe(state, prod(self.observation_shape))
        return self.observation_bits_with_tensors(state)

    def observation_bits_with_tensors(self, state: State) -> Tensor:
        """`observation_bits` as torch operations, for any device."""
        index = torch.arange(prod(self.observation_shape), device=state.own.device)
        own, opp = (words_of(word[:, None], self.rules.word_bits) for word in (state.own, state.opp))
        return number_of(self.rules.observation_entry(own, opp, index)).to(torch.uint8)

    def lead_to_move(self, state: State) -> Tensor:
        """float64[B]: the lead of the player to move in points, in a game that counts them."""
        assert self.rules.margin is not None, "only called for games that count points"
        return number_of(self.rules.on_tensors(self.rules.margin, state.own, state.opp)) * self.rules.margin_unit

    def points(self, state: State) -> Tensor | None:
        """float64[B, 2]: the points of player 0 and of player 1; None in a game whose rules do not say them."""
        if self.rules.points is None:
            return None
        seats = ((state.own, state.opp), (state.opp, state.own))
        to_move, other = (number_of(self.rules.on_tensors(self.rules.points, *words)) for words in seats)
        by_turn = torch.stack([to_move, other], dim=1) * self.rules.margin_unit
        return torch.where(state.current_player[:, None] == 0, by_turn, by_turn.flip(1))

    def stone_counts(self, state: State) -> Tensor:
        """int64[B]: the number of set bits of the two words together: on most boards, the stones."""
        own, opp = (words_of(word, self.rules.word_bits) for word in (state.own, state.opp))
        counts: Tensor = bit_count(own | opp)
        return counts

    @property
    def num_squares(self) -> int | None:
        """S, the number of squares of the board; None if observations do not begin with two planes of stones."""
        shape = self.observation_shape
        return prod(shape[1:]) if len(shape) == 3 and shape[0] >= 2 else None

    @property
    def board_shape(self) -> tuple[int, int] | None:
        """The rows and columns of the board; None if the game has no board of squares."""
        return None if self.num_squares is None else (self.observation_shape[1], self.observation_shape[2])

    def squares(self, state: State) -> Tensor:
        """int8[B, S], in C order: 1 for a stone of player 0, -1 for one of player 1, 0 for an empty square.

        Raises SettingError if the game has no board of squares.
        """
        if self.num_squares is None:
            raise SettingError(f"game={self.name}: this game has no board of squares")
        bits = self.observation_bits(state).to(torch.int8)
        just_moved, to_move = bits[:, : 2 * self.num_squares].chunk(2, dim=1)
        return torch.where(state.current_player[:, None] == 0, to_move - just_moved, just_moved - to_move)
