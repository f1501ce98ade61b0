"""The settings of the classical learners: the experience graph and tables of values.

conf/experience_json.yaml, conf/experience_picture.yaml; conf/tabular.yaml with conf/agent/
"""

from dataclasses import dataclass, field

from omegaconf import MISSING

from selfplay.checks import count, part_of, within
from selfplay.experience.rule import ExperienceRule
from selfplay.settings.common import PATH, CommonSettings, SeededSettings, read_by


@dataclass(frozen=True)
class StoreSettings(ExperienceRule):
    """The store of the experience graph (conf/experience/)."""

    path: str = field(default=MISSING, metadata=PATH)
    """The database."""

    @property
    def rule(self) -> ExperienceRule:
        return ExperienceRule(**part_of(ExperienceRule, self))


@dataclass
class PictureSettings:
    """Which boards the picture shows, and where it is written."""

    after: list[str] = field(default_factory=list)
    """The actions that lead to the first board, such as ["1,1","0,0"]."""
    depth: int = field(default=3, metadata=within(1, 9))
    """Plies shown after the first board."""
    breadth: list[int] = field(default_factory=[4, 2, 1].copy, metadata=count(1))
    """Successors shown for each board, by ply; the last is for all later plies."""
    file: str | None = field(default=MISSING, metadata=PATH)
    """The image to write; null: show it on the screen."""


@dataclass
class ExperienceJsonSettings(CommonSettings):
    """The experience graph as JSON."""

    experience: StoreSettings = field(default_factory=StoreSettings)
    json: str = field(default=MISSING, metadata=PATH)
    """The JSON file to read or write."""


@dataclass
class ExperiencePictureSettings(CommonSettings):
    """The experience graph as a picture."""

    experience: StoreSettings = field(default_factory=StoreSettings)
    picture: PictureSettings = field(default_factory=PictureSettings)


@dataclass
class TabularSettings(SeededSettings):
    """How tables of values are learned."""

    agent: str = "temporal_difference"
    """The update rule (conf/agent/)."""
    episodes: int = field(default=100_000, metadata=read_by("tabular") | count(1))
    """Matches to learn from."""
    epsilon: float = field(default=0.01, metadata=read_by("tabular") | within(0, 1))
    """Share of the actions that are random."""
    alpha: float | None = field(default=None, metadata=read_by("tabular") | within(above=0, most=1))
    """Step size of agent=backward_value."""
    step_size: float | None = field(default=None, metadata=read_by("tabular") | within(above=0, most=1))
    """Step size of agent=temporal_difference."""
    report_every: int | None = field(default=None, metadata=count(1))
    """Matches between two lines of progress; null: on a terminal a bar, elsewhere a line for each twentieth of all."""
    force: bool = False
    """Replace files that were made with other settings."""
