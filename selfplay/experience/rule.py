"""How the scores of an experience graph are updated."""

from typing import NamedTuple

from selfplay.checks import Range, require

BACKUPS = ("absolute", "minimax")


class ExperienceRule(NamedTuple):
    """How scores are updated. The rule of a store is fixed when it is created."""

    backup: str = "absolute"
    """How scores are propagated backwards: a name of BACKUPS."""
    discount: float = 0.9
    """In (0, 1]: factor applied to a score at each step backwards."""
    canonical: bool = False
    """Whether boards that are equal under a symmetry of the game are stored as one."""

    def check(self) -> None:
        """Raise SettingError if a value is out of range."""
        require("backup", self.backup, self.backup in BACKUPS, " or ".join(BACKUPS))
        Range(above=0, most=1).check("discount", self.discount)
