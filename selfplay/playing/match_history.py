"""The match at hand as a line of plies, with the position after each; plies are added and taken back at its end."""

from typing import NamedTuple

import torch

from selfplay.games.match_record import Forfeit, MatchRecord
from selfplay.games.state import State


class Ply(NamedTuple):
    """One ply of the match at hand."""

    seat: int
    """Who acted: 0 moves first, 1 second."""
    action: int
    text: str
    """The action as the game writes it."""
    by_person: bool
    is_forced: bool
    """Whether only a pass was legal."""
    is_random: bool | None
    """Whether a player that explores acted at random; None for a person, a forced pass or a player that never does."""


class MatchHistory:
    """The plies of a match so far, and one position more than plies.

    Args:
        start: the position before the first ply, a batch of one.

    Attributes:
        states: the position before each ply, and the one at hand.
        plies: the plies.
    """

    def __init__(self, start: State) -> None:
        self.states = [start]
        self.plies: list[Ply] = []

    def __len__(self) -> int:
        return len(self.plies)

    def add(self, ply: Ply, following: State) -> None:
        """One ply more, and the position that it leads to."""
        self.plies.append(ply)
        self.states.append(following)

    def take_back(self, length: int) -> tuple[Ply, ...]:
        """Back to so many plies; those that are taken back."""
        taken = tuple(self.plies[length:])
        del self.plies[length:], self.states[length + 1 :]
        return taken

    @property
    def last_choice(self) -> int | None:
        """The number of the last ply in which a person chose."""
        chosen = (n for n, ply in enumerate(self.plies) if ply.by_person and not ply.is_forced)
        return max(chosen, default=None)

    def record(self, match: int, first: int, *forfeits: Forfeit) -> MatchRecord:
        """The whole match as the arena records matches, under this number; `first` is the player who moved first."""
        actions = tuple(torch.tensor([ply.action]) for ply in self.plies)
        seats = torch.tensor([first], dtype=torch.int8)
        return MatchRecord(torch.tensor([match]), seats, tuple(self.states), actions, forfeits)
