"""Where a learned agent is, whatever names it."""

from pathlib import Path
from typing import NamedTuple

from selfplay.runs.run_folder import RunFolder


class LearnedAgent(NamedTuple):
    """A level of a run."""

    run_dir: Path
    level: int

    @property
    def path(self) -> Path:
        """The file of its weights."""
        return RunFolder(self.run_dir).agent(self.level)
