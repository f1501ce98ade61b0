"""The state of a batch of matches."""

from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.devices import CPU


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


MATCH_OVER = -1


class Forfeit(NamedTuple):
    """A match that a player lost because it could not or would not continue."""

    match: int
    """The number of the match."""
    player: int
    """Which of the two players (0 or 1) lost it."""
    reason: str


class MatchRecord(NamedTuple):
    """Every ply of B matches; T is the number of plies of the longest."""

    match: Tensor
    """int64[B]: the number of each match."""
    seats: Tensor
    """int8[B]: which of the two players (0 or 1) moves first."""
    states: tuple[State, ...]
    """T + 1 states: before the first ply, and after each."""
    actions: tuple[Tensor, ...]
    """T times int64[B]: the action of each ply; MATCH_OVER in matches that were over."""
    forfeits: tuple[Forfeit, ...] = ()
    """The matches that were forfeited. Their last states are terminated, though not by the rules."""

    def returns(self) -> Tensor:
        """float32[B] in {-1, 0, 1}: the return of the first of the two players, in whichever seat."""
        return self.states[-1].returns_to(self.seats)

    def action_sequences(self) -> Tensor:
        """int64[B, T]: the actions of each match in order, MATCH_OVER after its end."""
        return torch.stack(self.actions, dim=1)

    def actions_of(self, row: int) -> list[int]:
        """The actions of the match in this row, in order."""
        return [action for action in (int(actions[row]) for actions in self.actions) if action != MATCH_OVER]

    def on_cpu(self) -> "MatchRecord":
        """The same matches in the memory of the CPU; each field is copied in one go."""
        if self.match.device.type == CPU:
            return self
        fields = (torch.stack(field).cpu().unbind() for field in zip(*self.states, strict=True))
        states = tuple(State(*parts) for parts in zip(*fields, strict=True))
        actions = torch.stack(self.actions).cpu().unbind() if self.actions else ()
        return self._replace(match=self.match.cpu(), seats=self.seats.cpu(), states=states, actions=tuple(actions))


class Ply(NamedTuple):
    """One ply of a match in which people may play."""

    seat: int
    """The seat that acted: 0 moves first, 1 second."""
    action: int
    text: str
    """The text of the action."""
    by_person: bool
    is_forced: bool
    """Whether passing was the only legal action."""
    is_random: bool | None
    """Whether an exploring player acted at random; None for a person, a forced pass or a player that never explores."""
    reason: str | None = None
    """Why the player chose the action, if the player explains its actions."""


def forfeited_state(state: State) -> State:
    """The last states of matches that the player to move forfeits in the positions of `state`."""
    returns = torch.where(state.current_player == 0, -1.0, 1.0).to(torch.float32)
    return state._replace(terminated=torch.ones_like(state.terminated), returns=returns)
