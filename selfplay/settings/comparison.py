"""How levels are compared: a part of the settings of a run."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require_count, require_rates


@dataclass
class ComparisonSettings:
    """How levels are compared. The settings from `references` on are for games too large to enumerate."""

    matches: int = 1000
    """Matches of a level against its predecessor, and against each other opponent."""
    epsilons: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.1])
    """Exploration rates by ply of both players in the matches between a level and its predecessor."""
    references: list[str] | None = None
    """Players that levels meet in addition to the random player, such as [greedy_discs]; null: the game's defaults."""
    opening_plies: int = 8
    """Random plies at the start of each match, the same from both seats. Othello has 244 openings of four plies and
    390,216 of eight."""
    every: int | None = None
    """Play level 1, the newest and every n-th level between against the references; null: about ten levels."""
    earlier_matches: int = 100
    """Matches against each reference of a level other than the newest, and between references."""
    endgames: int = 100
    """Number of solved endgame positions (few empty squares) in which players are tested; 0: none. Games whose exact
    solver solves whole matches have `judged` instead."""
    judged: int = 100
    """Positions in each of six groups, by stage and difficulty, in which an exact solver judges players; 0: none."""
    perfect_matches: int = 10
    """Matches in each seat against perfect play, from the initial position, of level 1, the newest and every n-th level
    between; 0: none."""

    def __post_init__(self) -> None:
        require_count("comparison.matches", self.matches, 2)
        require_count("comparison.opening_plies", self.opening_plies, 0)
        require_count("comparison.every", self.every, 1, or_null=True)
        require_count("comparison.earlier_matches", self.earlier_matches, 2)
        for name in ("endgames", "judged", "perfect_matches"):
            require_count(f"comparison.{name}", getattr(self, name), 0)
        require_rates("comparison.epsilons", self.epsilons)
