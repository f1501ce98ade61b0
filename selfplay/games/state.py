"""The state of a batch of matches, and the record of how they were played."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class State(NamedTuple):
    """A batch of B matches. Immutable: stepping makes a new one.

    Examples:
        >>> state = selfplay.make_game("tictactoe").state_after(["0,0", "1,1", "0,1"])
        >>> state.position.tolist()  # O, who is to move: square 4; X: squares 0 and 1
        [[16, 3]]
        >>> state.current_player.tolist(), state.terminated.tolist()
        ([1], [False])
    """

    position: Tensor
    """int64[B, W]: the positions, packed (`selfplay.compute.positions`); `Game.positions` gives their fields."""
    current_player: Tensor
    """int8[B]: who is to move; 0 moves first."""
    terminated: Tensor
    """bool[B]: whether the match is over."""
    returns: Tensor
    """float32[B] in {-1, 0, 1}: the return of player 0 (player 1's is its negative); 0 while not terminated."""

    @property
    def batch_size(self) -> int:
        return self.position.shape[0]

    def select(self, index: Tensor) -> "State":
        """The matches at `index` (int64[N], or bool[B])."""
        return State(*(field[index] for field in self))

    def clone(self) -> "State":
        """A copy with tensors of its own."""
        return State(*(field.clone() for field in self))

    def key(self) -> tuple[int, ...]:
        """The position and the player to move of one match (B = 1), as the key of a dictionary."""
        return (*self.position[0].tolist(), int(self.current_player))

    def returns_to(self, player: Tensor) -> Tensor:
        """float32[B]: the return of `player` (int8[B], 0 or 1) in each match."""
        return torch.where(player == 0, self.returns, -self.returns)


def joined(states: Sequence[State]) -> State:
    """All matches of several batches, one batch after the other."""
    return State(*(torch.cat(fields) for fields in zip(*states, strict=True)))


MATCH_OVER = -1


class Forfeit(NamedTuple):
    """A match that a player lost because it could not or would not continue."""

    match: int
    """The number of the match."""
    player: int
    """Which of the two players (0 or 1) lost it."""
    reason: str
    has_resigned: bool = False
    """Whether it gave the match up, and broke no rule."""


class MatchRecord(NamedTuple):
    """Every ply of B matches; T is the number of plies of the longest.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> random, perfect = selfplay.RandomPlayer(game), selfplay.PerfectPlayer(selfplay.enumerate_positions(game))
        >>> record = next(selfplay.play_matches(game, (random, perfect), range(3), key=0))
        >>> record.actions_of(0)
        [8, 4, 2, 5, 6, 7, 0, 3]
        >>> record.returns().tolist()
        [-1.0, -1.0, 0.0]
    """

    match: Tensor
    """int64[B]: the number of each match."""
    seats: Tensor
    """int8[B]: which of the two players (0 or 1) moves first."""
    states: tuple[State, ...]
    """T + 1 states: before the first ply, and after each."""
    actions: tuple[Tensor, ...]
    """T times int64[B]: the action of each ply; MATCH_OVER in matches that were over."""
    forfeits: tuple[Forfeit, ...] = ()
    """The matches that were forfeited. Their last states are terminated, although the rules did not end the match."""

    def returns(self) -> Tensor:
        """float32[B] in {-1, 0, 1}: the return of the first of the two players, in whichever seat."""
        return self.states[-1].returns_to(self.seats)

    def action_sequences(self) -> Tensor:
        """int64[B, T]: the actions of each match in order, MATCH_OVER after its end."""
        # A match that is forfeited before its first ply has no actions.
        return torch.stack(self.actions, dim=1) if self.actions else self.match.new_empty(len(self.match), 0)

    def actions_of(self, row: int) -> list[int]:
        """The actions of the match in this row, in order."""
        return [action for action in (int(actions[row]) for actions in self.actions) if action != MATCH_OVER]

    def singly(self) -> "list[MatchRecord]":
        """A record of each match; forfeited matches are in records of their own."""
        if len(self.match) == 1:
            return [self]
        return [
            MatchRecord(
                self.match[row],
                self.seats[row],
                tuple(state.select(row) for state in self.states),
                tuple(action[row] for action in self.actions),
            )
            for row in torch.arange(len(self.match))[:, None]
        ]


def forfeited_state(state: State) -> State:
    """The last states of matches that the player to move forfeits in the positions of `state`."""
    returns = torch.where(state.current_player == 0, -1.0, 1.0).to(torch.float32)
    return state._replace(terminated=torch.ones_like(state.terminated), returns=returns)
