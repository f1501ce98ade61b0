"""The settings of a run: conf/config.yaml and its groups, as checked dataclasses; and a run with its settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Self, cast

from omegaconf import OmegaConf

from selfplay.checks import PLAYER_NAME, count, fields_of, one_in, one_of, require, within
from selfplay.compute.devices import NUMERICS, PORTABLE
from selfplay.dataset.formats import DATASET_FORMATS
from selfplay.errors import SettingError, shortened
from selfplay.executors import ExecutorOptions, TaskFiles
from selfplay.games import Game, make_game
from selfplay.grading.compared_players import LONGEST_PAIR, ComparisonParameters
from selfplay.installation import require_package
from selfplay.learners import LEARNERS, Learner
from selfplay.learners.values import Values
from selfplay.named_players.names import parse_name
from selfplay.runs.manifest import RUN
from selfplay.runs.run_folder import RunFolder, writing_run
from selfplay.settings.common import EACH_COMMAND, PATH, AnySettings, LockstepSettings, PlayerSettings, only_in, read_by
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.overrides import errors_of_settings, list_of_overrides, overrides_of, typed

ENDLESS = 10**9
"""Levels of a run without an end."""


@dataclass
class DatasetSettings:
    """How the rows of a level's matches are stored and read."""

    format: str = field(default="csv", metadata=read_by("generation") | one_in(DATASET_FORMATS))
    """csv: every program can read it; parquet: a twentieth to a fortieth of the size."""
    shard_matches: int = field(default=16384, metadata=count(1))
    """Matches that a worker plays at a time, at least batch_size: one file of dataset.parquet."""


@dataclass(frozen=True)
class ComparisonSettings(ComparisonParameters):
    """How levels are compared."""

    references: list[str] | None = field(default=None, metadata=PLAYER_NAME)
    """Opponents of levels besides the random player, such as [greedy_discs], in games too large to enumerate; null: the
    game's defaults."""
    pair_seconds: float | None = field(default=None, metadata=EACH_COMMAND | within(above=0, most=LONGEST_PAIR))


@dataclass
class Settings(LockstepSettings):
    """All settings of a run."""

    recipe: str = field(default="default", metadata=read_by(RUN))
    """The recipe that the settings come from (conf/recipe/)."""
    architecture: dict[str, Any] = field(default_factory=dict, metadata=read_by("training"))
    """The network's name and its options (conf/architecture/)."""
    player: PlayerSettings = field(default_factory=PlayerSettings, metadata=read_by("generation", "comparison"))
    executor: ExecutorOptions = field(default_factory=ExecutorOptions)
    numerics: str = field(default=PORTABLE, metadata=read_by("training") | one_of(*NUMERICS))
    """How networks compute on the CPU. portable: the same bytes on every processor; native: as torch does, faster."""
    learner: Learner = field(default_factory=lambda: Values(name="values"), metadata=read_by("generation", "training"))
    """How levels learn: values, policy (tree search), td (temporal differences), expert (a search teaches), or
    module:Class, with its parameters."""
    from_level: dict[Any, Any] = field(default_factory=dict, metadata=read_by(RUN))
    """What changes from a level on, by its number: {9: {learner.self_play: ...}, 16: {learner: expert}}."""
    dataset: DatasetSettings = field(default_factory=DatasetSettings)
    comparison: ComparisonSettings = field(default_factory=ComparisonSettings, metadata=read_by("comparison"))
    level: int | None = field(default=None, metadata=only_in("generate", "train", "compare") | count(0))
    """The level that a single stage works on; null: the newest."""
    agent_file: str | None = field(default=None, metadata=only_in("generate") | PATH)
    """For generating one level: the agent.safetensors that plays; null: that of the level."""
    opponent: str | None = field(default=None, metadata=only_in("generate") | PLAYER_NAME)
    """For generating one level: the player that it plays against; null: as the learner says."""
    first_agent: str | None = field(default=None, metadata=read_by(RUN) | PATH)
    """The agent.safetensors that plays level 0, and from whose weights level 1 starts unless learner.start=fresh;
    pretrained: that of the program; null: the random player."""
    dataset_file: str | None = field(default=None, metadata=only_in("train") | PATH)
    """For training one level: its dataset; null: that of the level before."""
    start_file: str | None = field(default=None, metadata=only_in("train") | PATH)
    """For training one level: the agent.safetensors that it starts from; null: as the learner says."""
    output_dir: str | None = field(default=None, metadata=only_in("generate", "train") | PATH)
    """For generating or training one level: the folder of its files; null: that in run_dir."""
    levels: int | None = field(default=10, metadata=read_by(RUN) | count(1))
    """Number of levels to train; null: until the program is interrupted."""
    matches: int = field(default=60000, metadata=read_by("generation", "training") | count(2))
    """Matches that a level plays and that are learned from."""
    logger: str = field(default="none", metadata=read_by("comparison") | EACH_COMMAND | one_of("none", "tensorboard"))
    """tensorboard: also write losses, comparisons and figures to RUN_DIR/tensorboard/; none: do not."""
    objective: str = field(default="validation_loss", metadata=only_in("learn"))
    """For a sweeper such as hydra/sweeper=optuna: the column of sweep/runs.csv that it optimises."""
    force: bool = False
    """Replace files that were made with other settings."""
    fresh: bool = False
    """Begin the run anew: without its recorded settings, and without levels that were made with others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        by_level = dict[int, dict[str, Any]]()
        # A command may add to those of a recipe, whose keys are numbers and not texts.
        for number, changes in self.from_level.items():
            by_level.setdefault(_level(number), {}).update(changes)
        self.from_level = by_level
        for first in self.from_level:
            self.at_level(first)
        for learner in (self.learner, *(self.at_level(first).learner for first in self.from_level)):
            self._check_learner(learner)
        if self.logger == "tensorboard":
            require_package("logger=tensorboard", "tensorboard")

    def _check_learner(self, learner: Learner) -> None:
        """Raise SettingError for settings of the run that do not suit a learner."""
        for parameter, name in learner.named_players().items():
            if "time_limit" in parse_name(name).given:
                raise SettingError(f"learner.{parameter}={name}: cannot have a time_limit, which no run repeats")

    @property
    def last_level(self) -> int:
        """The number of levels to train; without an end, more than any run has."""
        return ENDLESS if self.levels is None else self.levels

    def at_level(self, level: int) -> "Settings":
        """The settings with which a level is made from the one before it, with the changes of `from_level`."""
        learner, matches = self.learner, self.matches
        for first, changes in sorted(self.from_level.items()):
            if first <= level:
                with _naming(f"from_level.{first}"):
                    learner, matches = _changed(learner, matches, changes)
        changed = copy(self)
        changed.learner, changed.matches, changed.from_level = learner, matches, {}
        return changed

    def first_level(self, level: int) -> int:
        """The first level of those up to `level` that have the same learner, without another in between."""
        name, first = self.at_level(level).learner.name, level
        for begun in sorted({1, *(one for one in self.from_level if one <= level)}, reverse=True):
            if self.at_level(begun).learner.name != name:
                break
            first = begun
        return first


def _level(number: Any) -> int:
    """The number of a level that is a key of `from_level`. Raises SettingError."""
    try:
        level = int(str(number))
    except ValueError:
        level = 0
    require("from_level", number, level > 0, "numbers of levels, each with its changes: {9: {learner.epochs: 5}}")
    return level


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    try:
        yield
    except SettingError as error:
        raise SettingError(f"{setting}.{error}") from error


def _changed(learner: Learner, matches: int, changes: Mapping[str, Any]) -> tuple[Learner, int]:
    """The learner and the number of matches after the changes of a level. Raises SettingError."""
    given = dict(changes)
    named = given.pop("learner", None)
    if isinstance(named, Mapping):
        given |= {f"learner.{parameter}": value for parameter, value in named.items() if parameter != "name"}
        named = named.get("name")
    if named is not None:
        learner = LEARNERS[str(named)](name=str(named))
    matches = given.pop("matches", matches)
    values = {}
    for setting, value in given.items():
        section, _, parameter = str(setting).partition(".")
        if section != "learner" or parameter not in learner.parameters():
            raise SettingError(
                f"{shortened(str(setting))}: can be learner, matches, or a parameter of learner={learner.name}: "
                f"{', '.join(f'learner.{name}' for name in learner.parameters())}"
            )
        values[parameter] = value
    with errors_of_settings(Settings), fields_of("learner", *learner.parameters()):
        config = OmegaConf.merge(typed(cast(Any, type(learner))), asdict(learner), values)
        return cast(Learner, OmegaConf.to_object(config)), matches


def compose_settings(overrides: Sequence[str] = (), **settings: Any) -> Settings:
    """The settings of conf/ with these changes.

    Args:
        overrides: as on the command line, such as ["recipe=article", "learner.epochs=3"].
        settings: by their names, such as `recipe="article", learner={"epochs": 3}`.

    Raises SettingError.

    Examples:
        >>> settings = selfplay.compose_settings(recipe="article", levels=3)
        >>> settings.levels, settings.learner.epsilons
        (3, [0.5, 0.5, 0.1])
        >>> settings == selfplay.compose_settings(["recipe=article", "levels=3"])
        True
    """
    return compose_settings_of(Settings, "config", [*list_of_overrides(overrides, Settings), *overrides_of(settings)])


# ---------------------------------------------------------------------- a run with its settings


@dataclass(frozen=True)
class Run(Generic[AnySettings]):
    """What every program that works on a run uses. Tasks for executors have it too; a worker gets it from the settings.

    The game and the device are found here and nowhere else.
    """

    settings: AnySettings
    folder: RunFolder
    game: Game
    device: str
    """cpu or cuda."""

    @classmethod
    def of(cls, settings: AnySettings) -> Self:
        """The run of these settings, which is not locked.

        Raises SettingError for an unknown game, or a device that does not exist.
        """
        return cls(settings, RunFolder(Path(settings.run_dir)), make_game(settings.game.name), settings.chosen_device())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self.settings,)

    def task_files(self, paths: Iterable[Path], outside: Mapping[str, Path] = MappingProxyType({})) -> TaskFiles[Any]:
        """These files, for tasks of an executor that have the run as their attribute `run`.

        Args:
            paths: each below run_dir, or one of `outside`.
            outside: files that settings name, which may be anywhere, by these settings.
        """
        copies = {path: _copied(name) for name, path in outside.items()}
        names = {copies.get(path) or str(path.relative_to(self.folder.path)): path for path in paths}
        return TaskFiles(names, partial(_moved, tuple(outside)))

    def moved(self, folder: Path, outside: Iterable[str] = ()) -> Self:
        """The same run for tasks that read the copies of its files in this folder; `outside` as for `task_files`."""
        copies: dict[str, Any] = {name: str(folder / _copied(name)) for name in outside}
        return self.of(replace(self.settings, run_dir=str(folder), **copies))


def _moved(outside: Sequence[str], task: Any, folder: Path) -> Any:
    return task._replace(run=task.run.moved(folder, outside))


def _copied(setting: str) -> str:
    """The name of the copy of the file that a setting names."""
    return f"{setting}.safetensors"


@contextmanager
def opened(settings: AnySettings, *, create: bool) -> Iterator[Run[AnySettings]]:
    """The run of a program other than those of the loop, locked in the block as `writing_run` does.

    In the block torch and searches have the numbers of threads that the settings name. Raises as `Run.of` and
    `writing_run`.
    """
    run = Run.of(settings)
    with writing_run(run.folder, create=create), settings.computing():
        yield run
