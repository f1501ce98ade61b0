"""How the rules of a game step a batch of matches and observe it.

Each method of `BatchStepping` runs compiled over the memory of the tensors.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.positions import field_values, packed_array, position_at
from selfplay.compute.words import PART_BITS
from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.kernels import Kernels, compile_kernels
from selfplay.games.observation_codec import ObservationCodec, codec_of
from selfplay.games.rules import Rules, ended, first_with_same_functions
from selfplay.games.state import State

MOST_LISTED = 8
"""The most legal actions that an error lists."""


class BatchStepping:
    """Batched operations derived from the rules of a game; `selfplay.games.game.Game` documents its attributes."""

    name: str
    own_name: str | None = None
    num_distinct_actions: int
    pass_action: int | None = None
    chosen_pass: int | None = None
    observation_shape: tuple[int, ...]
    max_game_length: int
    rules: Rules

    def action_to_string(self, action: int) -> str:
        """The text of an action in range(A), without spaces; its number by default."""
        return str(action)

    def action_text(self, action: int, player: int) -> str:
        """The text of an action that player 0 or 1 takes; that of `action_to_string` unless a game overrides it."""
        return self.action_to_string(action)

    @property
    def any_pass(self) -> int | None:
        """The action that is a pass, forced or not; None if the game has none."""
        return self.pass_action if self.chosen_pass is None else self.chosen_pass

    @property
    def compiled_rules(self) -> Rules:
        """The rules to compile: the same for games that differ only in where matches begin."""
        return first_with_same_functions(self.rules)

    @cached_property
    def kernels(self) -> Kernels:
        """The compiled rules."""
        return compile_kernels(self.compiled_rules, self.pass_action)

    @cached_property
    def observation_codec(self) -> ObservationCodec:
        """Packs and unpacks observations; a game with `rules.observed` can override it, to unpack them."""
        return codec_of(self.rules, self.observation_shape, self.kernels.observe)

    def write_transcript(self, actions: Iterable[int]) -> str:
        """The actions of a match as text that `Game.read_transcript` reads."""
        return " ".join(map(self.action_to_string, actions))

    # ------------------------------------------------------------------ states and steps

    def init(self, batch_size: int = 1) -> State:
        """`batch_size` matches at the start."""
        return self._start.select(torch.zeros(batch_size, dtype=torch.int64))

    @cached_property
    def _start(self) -> State:
        """One match at the start."""
        over, returned = ended(self.rules, self.rules.initial)
        start = torch.from_numpy(packed_array([self.rules.initial]))
        return State(start, torch.zeros(1, dtype=torch.int8), torch.tensor([over]), torch.tensor([returned]))

    def state_at(self, position: Tensor) -> State:
        """Packed positions (int64[B, W]) as a state with player 0 to move."""
        terminated, returns = self.kernels.ends(position)
        return State(position, torch.zeros_like(terminated, dtype=torch.int8), terminated, returns)

    def positions(self, state: State) -> list[Any]:
        """The position of each match, with its fields, as the rules take it outside compiled code.

        Examples:
            >>> game = selfplay.make_game("tictactoe")
            >>> game.positions(game.state_after(["1,1"]))
            [Position(own=WordInt(0, 1), opp=WordInt(16, 1))]
        """
        return [position_at(self.rules.position, state.position, row) for row in range(state.batch_size)]

    def field(self, state: State, name: str) -> Tensor:
        """A field of each position: int64[B], int64[B, K] for a board of more than 64 squares, or int64[B, M] for M
        numbers."""
        return torch.from_numpy(field_values(self.rules.position, state.position.numpy(), name))

    def legal_action_mask(self, state: State) -> Tensor:
        """bool[B, A]: which actions are legal; none in a terminated match."""
        return self.kernels.legal_action_mask(state, self.num_distinct_actions)

    def sensible_action_mask(self, state: State) -> Tensor:
        """bool[B, A]: the legal actions that people would consider (`Rules.sensible`), or all where there are none."""
        return self.kernels.sensible_action_mask(state, self.num_distinct_actions)

    def step(self, state: State, action: Tensor) -> State:
        """The state after `action` (int64[B]); see `Game.step`."""
        if not isinstance(action, Tensor) or (action.dtype, action.shape) != (torch.int64, state.terminated.shape):
            raise IllegalActionError(f"actions must be a tensor int64[{state.batch_size}], one for each match")
        mask = self.legal_action_mask(state)
        in_range = (action >= 0) & (action < self.num_distinct_actions)
        legal = mask.gather(1, torch.where(in_range, action, 0)[:, None])[:, 0] & in_range
        illegal = ~(legal | state.terminated)
        if illegal.any():
            row = int(illegal.nonzero()[0, 0])
            raise IllegalActionError(self.refusal(state.select(torch.tensor([row])), int(action[row])))
        return self.step_unchecked(state, action)

    def refusal(self, state: State, action: int, written: Callable[[int, int], str] | None = None) -> str:
        """Why an action is not legal in a match (B = 1), for an error: the reason, or else the legal actions if they
        are few.

        Args:
            written: how an action of player 0 or 1 is written; None: as `action_text`.
        """
        text, player = written or self.action_text, int(state.current_player)
        if not 0 <= action < self.num_distinct_actions:
            return f"action {action} is not legal here"
        said = f"action {text(action, player)} is not legal here"
        if (reason := self.why_not(state, action)) is not None:
            return f"{said}: {reason}"
        legal = self.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        return (
            f"{said}; legal actions: {', '.join(text(one, player) for one in legal)}"
            if len(legal) <= MOST_LISTED
            else said
        )

    def why_not(self, state: State, action: int) -> str | None:
        """Why an action in range(A) is not legal in a match (B = 1), as a clause; None: there is no short reason."""
        return None

    def step_unchecked(self, state: State, action: Tensor) -> State:
        """`step` without the check, for inner loops: an illegal action gives a wrong state."""
        return self.kernels.step(state, action)

    # ------------------------------------------------------------------ observations and boards

    def observe(self, state: State) -> Tensor:
        """float32[B, *observation_shape]: each position as seen by the player who is not to move there: usually the one
        who has just moved."""
        entries = self.observation_codec.entries.scaled(self.observation_bits(state))
        return entries.reshape(state.batch_size, *self.observation_shape)

    def observations_in(self, packed: Tensor) -> Tensor:
        """float32[N, *observation_shape]: observations as `observe` gives them, from those that `ObservationCodec.pack`
        has packed (uint8[N, I], on any device)."""
        entries = self.observation_codec.entries
        return entries.scaled(entries.unpacked(packed)).reshape(-1, *self.observation_shape)

    def observation_bits(self, state: State) -> Tensor:
        """uint8[B, bits of the entries]: the entries of `observe`, flattened in C order, as 0 and 1; of each number its
        bits, the lowest first, before it is scaled."""
        codec = self.observation_codec
        return codec.entries.unpacked(torch.from_numpy(codec.pack(state.position.numpy())))

    def lead_to_move(self, state: State) -> Tensor:
        """float64[B]: the lead of the player to move in points, in a game that counts them."""
        assert self.kernels.margin is not None, "only called for games that count points"
        return self.kernels.margin(state.position) * self.rules.margin_unit

    def points(self, state: State) -> Tensor | None:
        """float64[B, 2]: the points of player 0 and of player 1; None in a game whose rules do not say them."""
        if self.kernels.points is None:
            return None
        by_turn = self.kernels.points(state.position) * self.rules.margin_unit
        return torch.where(state.current_player[:, None] == 0, by_turn, by_turn.flip(1))

    def stone_counts(self, state: State) -> Tensor:
        """int64[B]: the number of stones on the boards `own` and `opp`."""
        return self.square_bits(self.field(state, "own") | self.field(state, "opp")).sum(dim=1)

    @property
    def has_stones(self) -> bool:
        """Whether positions have boards of both players' stones, and observations begin with them, with that of the
        player who is not to move."""
        shown, held = (
            {place.name for place in of.places if place.is_board} for of in (self.rules.shown, self.rules.position)
        )
        return {"opp", "own"} <= shown & held and len(self.observation_shape) == 3 and self.observation_shape[0] >= 2

    @property
    def num_squares(self) -> int | None:
        """S, the number of squares of the board; None if the game has no boards."""
        has_boards = self.has_stones or any(place.is_board for place in self.rules.position.places)
        return prod(self.observation_shape[1:]) if has_boards and len(self.observation_shape) == 3 else None

    @property
    def board_shape(self) -> tuple[int, int] | None:
        """The rows and columns of the board; None if the game has no board of squares."""
        return None if self.num_squares is None else (self.observation_shape[1], self.observation_shape[2])

    @property
    def square_numbers(self) -> NDArray[np.int64]:
        """int64[rows, columns]: the number of each square. Only in a game with a board of squares."""
        return np.arange(prod(self.observation_shape[1:])).reshape(self.observation_shape[1:])

    def square_bits(self, words: Tensor) -> Tensor:
        """int8[B, S]: the lowest bits of boards (int64[B] or int64[B, K]), one for each square."""
        parts = words.reshape(len(words), prod(words.shape[1:]), 1)
        bits = (parts >> torch.arange(PART_BITS)) & 1
        return bits.flatten(1)[:, : self.num_squares].to(torch.int8)

    def squares(self, state: State) -> Tensor:
        """int8[B, S], in C order: 1 for a stone of player 0, -1 for one of player 1, 0 for an empty square and in games
        whose positions have no boards `own` and `opp`.

        Raises SettingError if the game has no board of squares.
        """
        if self.num_squares is None:
            raise SettingError(f"game={self.name}: this game has no board of squares")
        if not self.has_stones:
            return torch.zeros((state.batch_size, self.num_squares), dtype=torch.int8)
        other, to_move = (self.square_bits(self.field(state, name)) for name in ("opp", "own"))
        return torch.where(state.current_player[:, None] == 0, to_move - other, other - to_move)
