"""The rules of a game applied to a batch of matches: states, legal actions, steps, observations and boards.

Each method runs either compiled over the memory of the tensors (CPU) or as torch operations (any other device).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from selfplay.compute.devices import runs_compiled
from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.rules import Rules
from selfplay.games.state import State

if TYPE_CHECKING:
    from selfplay.games.kernels import Kernels


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

    @cached_property
    def kernels(self) -> "Kernels":
        """The compiled rules."""
        # Imported late: importing numba takes about half a second, and a stage that only trains does not need it.
        from selfplay.games.kernels import compile_kernels

        return compile_kernels(self.rules, self.pass_action)

    @abstractmethod
    def write_transcript(self, actions: Iterable[int]) -> str:
        """The actions of a match as text."""

    # ------------------------------------------------------------------ states and steps

    def init(self, batch_size: int = 1, device: str = "cpu") -> State:
        """`batch_size` matches at the start."""
        own, opp = (torch.full((batch_size,), word, dtype=torch.int64, device=device) for word in self.rules.initial)
        return self.state_at(own, opp)

    def state_at(self, own: Tensor, opp: Tensor) -> State:
        """The positions `(own, opp)` (int64[B] each) as a state with player 0 to move."""
        terminated = self.rules.is_terminal(own, opp)
        returns = torch.where(terminated, self.rules.return_to_move(own, opp), 0).to(torch.float32)
        return State(own, opp, torch.zeros_like(own, dtype=torch.int8), terminated, returns)

    def legal_action_mask(self, state: State) -> Tensor:
        """bool[B, A]: which actions are legal; none in a terminated match."""
        bits = torch.where(state.terminated, 0, self.rules.legal_actions(state.own, state.opp))
        shifts = torch.arange(min(self.num_distinct_actions, 64), device=bits.device)
        mask = ((bits[:, None] >> shifts) & 1).bool()
        if self.pass_action is None:
            return mask
        passing = (bits == 0) & ~state.terminated
        mask = torch.nn.functional.pad(mask, (0, self.num_distinct_actions - mask.shape[1]))
        mask[:, self.pass_action] = passing
        return mask

    def step(self, state: State, action: Tensor) -> State:
        """The state after `action` (int64[B]). Terminated matches do not change, whatever their action.

        Raises IllegalActionError if an action is not legal in its match.
        """
        mask = self.legal_action_mask(state)
        in_range = (action >= 0) & (action < self.num_distinct_actions)
        legal = mask.gather(1, torch.where(in_range, action, 0)[:, None])[:, 0] & in_range
        illegal = ~(legal | state.terminated)
        if illegal.any():
            row = int(illegal.nonzero()[0, 0])
            number = int(action[row])
            name = self.action_to_string(number) if bool(in_range[row]) else str(number)
            allowed = ", ".join(self.action_to_string(int(a)) for a in mask[row].nonzero()[:, 0])
            raise IllegalActionError(f"action {name} is not legal here; legal actions: {allowed}")
        return self.step_unchecked(state, action)

    def step_unchecked(self, state: State, action: Tensor) -> State:
        """`step` without the check, for inner loops: an illegal action gives a wrong state."""
        if runs_compiled(state.own):
            return self.kernels.step(state, action)
        return self.step_with_tensors(state, action)

    def step_with_tensors(self, state: State, action: Tensor) -> State:
        """`step_unchecked` as torch operations, for any device."""
        move = torch.ones_like(action) << torch.clamp(action, 0, 63)
        if self.pass_action is not None:
            move = torch.where(action == self.pass_action, 0, move)
        own, opp = self.rules.play(state.own, state.opp, move)
        over = state.terminated
        own, opp = torch.where(over, state.own, own), torch.where(over, state.opp, opp)
        player = torch.where(over, state.current_player, 1 - state.current_player)
        terminated = self.rules.is_terminal(own, opp)
        to_move = torch.where(terminated, self.rules.return_to_move(own, opp), 0).to(torch.float32)
        # Adding 0.0 turns the -0.0 of a negated draw into 0.0.
        return State(own, opp, player, terminated, torch.where(player == 0, to_move, -to_move) + 0.0)

    # ------------------------------------------------------------------ observations and boards

    def observe(self, state: State) -> Tensor:
        """float32[B, *observation_shape]: each position as seen by the player who has just moved."""
        entries = self.observation_bits(state).to(torch.float32)
        return entries.reshape(state.batch_size, *self.observation_shape)

    def observation_bits(self, state: State) -> Tensor:
        """uint8[B, D]: the entries of `observe`, flattened in C order, as 0 and 1."""
        if runs_compiled(state.own):
            return self.kernels.observe(state, prod(self.observation_shape))
        return self.observation_bits_with_tensors(state)

    def observation_bits_with_tensors(self, state: State) -> Tensor:
        """`observation_bits` as torch operations, for any device."""
        index = torch.arange(prod(self.observation_shape), device=state.own.device)
        entries: Tensor = self.rules.observation_entry(state.own[:, None], state.opp[:, None], index)
        return entries.to(torch.uint8)

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
