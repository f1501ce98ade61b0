"""The settings of tabular learning, conf/tabular.yaml with conf/agent/, and of its matches, conf/compete.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require, require_count
from selfplay.settings.common import CommonSettings
from selfplay.settings.fields import affects


@dataclass
class TabularSettings(CommonSettings):
    """How tables of values are learned."""

    agent: str = "temporal_difference"
    """The update rule (conf/agent/)."""
    episodes: int = field(default=100_000, metadata=affects("tabular"))
    """Matches to learn from."""
    epsilon: float = field(default=0.01, metadata=affects("tabular"))
    """Share of the actions that are random."""
    alpha: float | None = field(default=None, metadata=affects("backward_value"))
    """Step size of agent=backward_value."""
    step_size: float | None = field(default=None, metadata=affects("temporal_difference"))
    """Step size of agent=temporal_difference."""
    report_every: int | None = None
    """Matches between two lines of progress; null: on a terminal one line that is updated, elsewhere ten lines."""
    force: bool = False
    """Replace tables that were learned with other settings."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("episodes", self.episodes, 1)
        require_count("report_every", self.report_every, 1, or_null=True)
        require("epsilon", self.epsilon, 0 <= self.epsilon <= 1, "between 0 and 1")
        for name in ("alpha", "step_size"):
            size = getattr(self, name)
            require(name, size, size is None or 0 < size <= 1, "above 0, at most 1")


@dataclass
class CompeteSettings(CommonSettings):
    """Matches between the two policies of trained tables."""

    tables: str = "temporal_difference"
    """The trained tables: RUN_DIR/tabular/NAME.npz, or a path."""
    matches: int = 1000
    """Number of matches; the policy of the first player always moves first."""
    epsilon: float = 0.0
    """Share of the actions that are random."""
    show: bool = False
    """Also show every match: its boards side by side, each with its action."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("matches", self.matches, 1)
        require("epsilon", self.epsilon, 0 <= self.epsilon <= 1, "between 0 and 1")
