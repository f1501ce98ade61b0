"""The current match as a list of plies, with the position before and after each."""

from typing import NamedTuple

import torch

from selfplay.games.match_record import Forfeit, MatchRecord
from selfplay.games.state import State


class Ply(NamedTuple):
    """One ply of the current match."""

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


class MatchHistory:
    """The plies of a match so far, and the positions between them.

    Args:
        start: the position before the first ply, a batch of one.

    Attributes:
        states: the position before each ply, and the current position.
        plies: the plies.
    """

    def __init__(self, start: State) -> None:
        self.states = [start]
        self.plies: list[Ply] = []

    def __len__(self) -> int:
        return len(self.plies)

    def add(self, ply: Ply, following: State) -> None:
        """Append a ply and the position it leads to."""
        self.plies.append(ply)
        self.states.append(following)

    def undo_to(self, length: int) -> tuple[Ply, ...]:
        """Remove and return the plies from number `length` on."""
        taken = tuple(self.plies[length:])
        del self.plies[length:], self.states[length + 1 :]
        return taken

    @property
    def last_choice(self) -> int | None:
        """The number of the last ply that a person chose; None if there is none."""
        chosen = (n for n, ply in enumerate(self.plies) if ply.by_person and not ply.is_forced)
        return max(chosen, default=None)

    def record(self, match: int, first_player: int, *forfeits: Forfeit) -> MatchRecord:
        """The whole match as a record (B = 1) with this number; `first_player` is the one who moved first."""
        actions = tuple(torch.tensor([ply.action]) for ply in self.plies)
        seats = torch.tensor([first_player], dtype=torch.int8)
        return MatchRecord(torch.tensor([match]), seats, tuple(self.states), actions, forfeits)
