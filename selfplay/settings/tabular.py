"""The settings of tabular learning: conf/tabular.yaml with conf/agent/."""

from dataclasses import dataclass

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings


@dataclass
class TabularSettings(CommonSettings):
    """How tables of values are learned: conf/tabular.yaml with conf/agent/."""

    agent: str = "temporal_difference"
    """The update rule."""
    episodes: int = 100_000
    """Matches to learn from."""
    epsilon: float = 0.01
    """Share of the actions that are random."""
    alpha: float | None = None
    """Step size of agent=backward_value."""
    step_size: float | None = None
    """Step size of agent=temporal_difference."""
    force: bool = False
    """Learn again although tables made with other settings are there."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("episodes", self.episodes, self.episodes >= 1, "1 or more")
        require("epsilon", self.epsilon, 0 <= self.epsilon <= 1, "a rate from 0 to 1")
        for name in ("alpha", "step_size"):
            size = getattr(self, name)
            require(name, size, size is None or 0 < size <= 1, "a step above 0, at most 1")
