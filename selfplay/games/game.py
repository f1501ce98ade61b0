"""What every game has in common: the state of a batch of matches, the rules as bit algebra, and the methods on them.

The terms are those of OpenSpiel and PGX. A game supplies its `Rules` and its texts; everything else stands here, and
runs either compiled over the tensors' memory (CPU) or as torch operations (any other device).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.devices import runs_compiled
from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.presentation import PositionLine
from selfplay.games.rules import Features, Rules, Symmetries, TurningRules
from selfplay.games.state import State

if TYPE_CHECKING:
    from selfplay.games.kernels import Kernels


class Game(ABC):
    """A two-player zero-sum game of perfect information without chance."""

    name: str
    num_distinct_actions: int
    """A: actions are ints in range(A)."""
    pass_action: int | None = None
    """The action that is a pass, if the game has one."""
    observation_shape: tuple[int, ...]
    max_game_length: int
    """No match has more plies than this."""
    rules: Rules
    player_names: tuple[str, str] = ("first", "second")  # what the player who moves first, and the other, are called
    turning_rules: TurningRules | None = None
    """What exact endgames need beside the rules; None if the game is not of this kind."""
    action_help: str
    """How a person writes an action."""
    title: str = ""
    """What people call the game; empty: its name will do."""
    aim: str = ""
    """What a player has to do, in a sentence for people who do not know the game."""
    stone_colours: tuple[str, str] | None = None
    """The colours of both players' stones, if they are discs: of black, white, red and yellow, which the page can draw.

    None: stones are signs, those of `player_names`.
    """
    position_line: PositionLine | None = None
    """The line that the positions stand on, if there is one: figures then show the value of each position."""
    features: Features | None = None
    """What positions of the game can be valued by, if there is more than the result of a match."""

    # ------------------------------------------------------------------ texts, different for every game

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """The text of an action in range(A)."""

    @abstractmethod
    def string_to_action(self, text: str) -> int:
        """The action that `text` names. Raises IllegalActionError if it names none."""

    @abstractmethod
    def to_string(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """Match `row` of `state` drawn as text, one line a board row, without a newline at the end.

        `values`: float32[A], nan where illegal: the value to show of each legal action.
        """

    def read_transcript(self, text: str) -> list[int]:
        """The actions of a match from its start, written one after another with spaces between them.

        They need not be legal. Raises IllegalActionError if a text names no action.
        """
        return [self.string_to_action(part) for part in text.split()]

    @property
    def symmetries(self) -> Symmetries:
        """The symmetries of the game; only the identity unless a game says more."""
        size = int(np.prod(self.observation_shape))
        return Symmetries(np.arange(self.num_distinct_actions)[None], np.arange(size)[None])

    def action_in_words(self, action: int) -> str:
        """An action in range(A) as a sentence names it; as `action_to_string` unless a game says otherwise."""
        return self.action_to_string(action)

    # ------------------------------------------------------------------ boards of squares, where a game has them

    @property
    def num_squares(self) -> int | None:
        """S, the squares of the board, if observations are two planes of stones; None if positions are no boards."""
        shape = self.observation_shape
        return prod(shape[1:]) if len(shape) == 3 and shape[0] == 2 else None

    @property
    def board_shape(self) -> tuple[int, int] | None:
        """The rows and columns of the board; None if positions are no boards of squares."""
        return None if self.num_squares is None else (self.observation_shape[1], self.observation_shape[2])

    def pointed_squares(self, action: int) -> Sequence[int]:
        """The squares at any of which a person may point to take `action`; none if it is no matter of squares: a pass.

        Unless a game says otherwise, action i is taken at square i where there is an action for each square.
        """
        return [action] if self._has_action_each and action != self.pass_action else []

    def placed_squares(self, state: State, actions: Sequence[int]) -> list[int | None]:
        """Of the squares that are pointed at for each action, the one on which it puts a stone; None if there is none.

        `state`: one match, in which the actions are legal.
        """
        if self.num_squares is None or not actions:
            return [None] * len(actions)
        alike = state.select(torch.zeros(len(actions), dtype=torch.int64))
        before = self.squares(state)[0].tolist()
        afters = self.squares(self.step_unchecked(alike, torch.tensor(actions))).tolist()
        return [
            next((s for s in self.pointed_squares(action) if before[s] == 0 and after[s] != 0), None)
            for action, after in zip(actions, afters, strict=True)
        ]

    def square_name(self, square: int) -> str:
        """What a square is called: as its action, if there is one for each; else by its column and row from the top."""
        if self._has_action_each:
            return self.action_to_string(square)
        row, column = divmod(square, self.observation_shape[2])
        return f"column {column + 1}, row {row + 1}"

    @property
    def _has_action_each(self) -> bool:
        return self.num_squares == self.num_distinct_actions - (self.pass_action is not None)

    def squares(self, state: State) -> Tensor:
        """int8[B, S], in C order: 1 where a stone of player 0 stands, -1 one of player 1, 0 where the square is empty.

        Raises SettingError if positions are no boards of squares.
        """
        if self.num_squares is None:
            raise SettingError(f"game={self.name}: its positions are no boards of squares")
        bits = self.observation_bits(state).to(torch.int8)
        just_moved, to_move = bits[:, : self.num_squares], bits[:, self.num_squares :]
        return torch.where(state.current_player[:, None] == 0, to_move - just_moved, just_moved - to_move)

    def state_of_squares(self, squares: Tensor) -> State:
        """The state whose `squares` (int8[B, S]) these are.

        Raises:
            SettingError: a board of this game does not tell the whole position.
            IllegalActionError: a board on which the stones cannot have come in turns.
        """
        raise SettingError(f"game={self.name}: its boards do not tell who is to move")

    # ------------------------------------------------------------------ states

    @cached_property
    def kernels(self) -> "Kernels":
        """The rules compiled; imported late, because a stage that only trains needs no compiler."""
        from selfplay.games.kernels import compile_kernels

        return compile_kernels(self.rules, self.pass_action)

    def init(self, batch_size: int = 1, device: str = "cpu") -> State:
        """`batch_size` matches at the start."""
        own, opp = (torch.full((batch_size,), word, dtype=torch.int64, device=device) for word in self.rules.initial)
        return self.state_at(own, opp)

    def state_at(self, own: Tensor, opp: Tensor) -> State:
        """The positions `(own, opp)` (int64[B] each) as a state with player 0 to move."""
        terminated = self.rules.is_terminal(own, opp)
        returns = torch.where(terminated, self.rules.return_to_move(own, opp), 0).to(torch.float32)
        return State(own, opp, torch.zeros_like(own, dtype=torch.int8), terminated, returns)

    def state_after(self, actions: Iterable[str]) -> State:
        """One match after the actions of that text, from the start. Raises IllegalActionError."""
        state = self.init()
        for text in actions:
            state = self.step(state, torch.tensor([self.string_to_action(text)]))
        return state

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
        """The state after `action` (int64[B]); terminated matches stay as they are, whatever their action.

        Raises IllegalActionError if an action is not legal in its match.
        """
        mask = self.legal_action_mask(state)
        in_range = (action >= 0) & (action < self.num_distinct_actions)
        legal = mask.gather(1, torch.where(in_range, action, 0)[:, None])[:, 0] & in_range
        wrong = ~(legal | state.terminated)
        if wrong.any():
            row = int(wrong.nonzero()[0, 0])
            number = int(action[row])
            name = self.action_to_string(number) if bool(in_range[row]) else str(number)
            allowed = ", ".join(self.action_to_string(int(a)) for a in mask[row].nonzero()[:, 0])
            raise IllegalActionError(f"{self.name}: action {name} is not legal here; legal are {allowed}")
        return self.step_unchecked(state, action)

    def step_unchecked(self, state: State, action: Tensor) -> State:
        """`step` without the check: an illegal action gives a wrong state. For inner loops."""
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

    def observe(self, state: State) -> Tensor:
        """float32[B, *observation_shape]: each position as seen by the player who has just moved."""
        entries = self.observation_bits(state).to(torch.float32)
        return entries.reshape(state.batch_size, *self.observation_shape)

    def observation_bits(self, state: State) -> Tensor:
        """uint8[B, D]: the entries of `observe`, flattened in C order, as 0 and 1."""
        if runs_compiled(state.own):
            return self.kernels.observe(state, int(np.prod(self.observation_shape)))
        return self.observation_bits_with_tensors(state)

    def observation_bits_with_tensors(self, state: State) -> Tensor:
        """`observation_bits` as torch operations, for any device."""
        index = torch.arange(int(np.prod(self.observation_shape)), device=state.own.device)
        entries: Tensor = self.rules.observation_entry(state.own[:, None], state.opp[:, None], index)
        return entries.to(torch.uint8)
