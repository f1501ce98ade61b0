"""How the scores of an experience graph are updated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from selfplay.checks import check_parameters, one_of, within

BACKUPS: dict[str, Callable[[Sequence[float], int], float]] = {
    # The first of several.
    "absolute": lambda scores, player: max(scores, key=abs),
    "minimax": lambda scores, player: max(scores) if player == 0 else min(scores),
}
"""From the scores of the following boards, and the player to move."""


@dataclass(frozen=True, kw_only=True)
class ExperienceRule:
    """How scores are updated. The rule of a store is fixed when it is created."""

    backup: str = field(default="absolute", metadata=one_of(*BACKUPS))
    """absolute: a board takes the discounted score of largest absolute value among its successors. minimax: the one
    that the player to move would choose."""
    discount: float = field(default=0.9, metadata=within(above=0, most=1))
    """Factor applied to a score at each step backwards."""
    canonical: bool = False
    """Store boards that are equal under rotation and mirroring as one."""

    def check(self) -> None:
        """Raise SettingError if a value is not allowed."""
        check_parameters(self)
