"""The state of a batch of matches."""

from typing import NamedTuple

import torch
from torch import Tensor


class State(NamedTuple):
    """A batch of B matches. Immutable: stepping makes a new one."""

    own: Tensor
    """int64[B]: the word of the player to move."""
    opp: Tensor
    """int64[B]: the word of the other player."""
    current_player: Tensor
    """int8[B]: who is to move; 0 moves first."""
    terminated: Tensor
    """bool[B]: whether the match is over."""
    returns: Tensor
    """float32[B] in {-1, 0, 1}: the return of player 0 (player 1's is its negative); 0 while not terminated."""

    @property
    def batch_size(self) -> int:
        return self.own.shape[0]

    def select(self, index: Tensor) -> "State":
        """The matches at `index` (int64[N], or bool[B])."""
        return State(*(field[index] for field in self))

    def returns_to(self, player: Tensor) -> Tensor:
        """float32[B]: the return of `player` (int8[B], 0 or 1) in each match."""
        return torch.where(player == 0, self.returns, -self.returns)
