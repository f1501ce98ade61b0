"""A run whose levels learn: how its levels are made, how it is opened, and what it passes down to learners.

When a run is opened, whatever its settings name is made once, before a file of the run is written or replaced. Stages
that begin much later, such as the comparison of the levels, would otherwise refuse a setting only then.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.agents.pretrained import PRETRAINED, pretrained_agent
from selfplay.architectures import build_network, meta_tensors
from selfplay.checks import fields_of
from selfplay.compute.devices import cuda_devices_in_use
from selfplay.compute.portable import set_numerics
from selfplay.compute.process import process_rank
from selfplay.errors import SettingError, shortened
from selfplay.files import resolved
from selfplay.learners.learner import Inputs, Learner, Resources, Source
from selfplay.learners.learner_calls import asked
from selfplay.named_players.make import make_player, naming_player
from selfplay.named_players.names import StandIn
from selfplay.players.player import Player
from selfplay.runs.command_lines import command_before
from selfplay.runs.levels import agent_of_level
from selfplay.runs.run_folder import writing_run
from selfplay.settings.common import check_program
from selfplay.settings.recorded import begin_anew, usual_settings
from selfplay.settings.run import ComparisonSettings, DatasetSettings, Run, Settings
from selfplay.stages.comparison_check import check_comparison

MOST_WEIGHTS = 1 << 30

MOST_LEVELS = 1000
"""The largest number of levels whose validation matches are checked before the run."""

LEARN, COMPARE = "learn", "compare"
"""The program that runs all stages, and the one that only measures levels."""

_checked: set[tuple[str, str]] = set()
"""The settings that were checked in this process, as texts, and for which program: a loop, whose stages are in one
process, checks them once."""


class Level(NamedTuple):
    """How a level of a run is made."""

    number: int
    """From 1."""
    settings: Settings
    """Those at this level: with what changes from a level on, and the number of matches in its newest dataset."""
    first_level: int
    """The first of the levels up to this one that the same learner makes, without another in between."""
    source: Source
    """The matches of its newest dataset."""

    @property
    def learner(self) -> Learner:
        return self.settings.learner

    @property
    def inputs(self) -> Inputs:
        """What it is made from."""
        return asked(self.learner, self.learner.inputs, Inputs, self.number, self.first_level)

    @property
    def metadata(self) -> dict[str, Any]:
        """What is known of its agent before it is trained."""
        return {"outcome": self.learner.outcome, "architecture": self.settings.architecture}

    def require_start(self, *, has_start: bool) -> None:
        """Raise SettingError if the learner needs an agent to start from, and there is none."""
        if self.inputs.start == "agent" and not has_start:
            name = self.learner.name
            raise SettingError(
                f"learner={name}: teaches levels that another learner has made; set it from a level on, as in "
                f"from_level={{2:{{learner:{name}}}}}"
            )


@dataclass(frozen=True)
class LearningRun(Run[Settings]):
    """What the stages of the loop use."""

    _levels: dict[int, Level] = field(default_factory=dict, init=False, repr=False, compare=False)

    def level(self, number: int) -> Level:
        """How a level, from 1, is made.

        Raises SettingError or InvalidFileError if files that its learner reads matches from are missing or broken.
        """
        if number not in self._levels:
            settings = self.settings.at_level(number)
            learner = settings.learner
            with fields_of("learner", *learner.parameters()):
                source = asked(learner, learner.source, Source, self.game, settings.matches)
            settings.matches = source.matches
            self._levels[number] = Level(number, settings, self.settings.first_level(number), source)
        return self._levels[number]

    @cached_property
    def first_agent(self) -> Path | None:
        """The file of the setting first_agent.

        Raises SettingError if it does not exist, or no agent comes with the program for the game.
        """
        name = self.settings.first_agent
        if name == PRETRAINED:
            return pretrained_agent(self.game.learned_as())
        if name is None or (file := Path(name)).exists():
            return None if name is None else file
        first = command_before(self.settings.recipe, name)
        raise SettingError(f"first_agent={shortened(name)}: there is no such file{first and f'; first run {first}'}")

    @property
    def outside_files(self) -> Mapping[str, Path]:
        """The files that settings name, which may be anywhere, by these settings."""
        own = self.settings.agent_file
        files = {"agent_file": None if own is None else Path(own), "first_agent": self.first_agent}
        return {name: path for name, path in files.items() if path is not None}

    def playing_agent(self, level: int) -> Path | None:
        """The file of the agent that plays the matches of a level; None: the random player. Raises StageError."""
        if self.settings.agent_file is not None:
            return Path(self.settings.agent_file)
        return self.first_agent if level == 0 else self.folder.existing_agent(level)

    def agents(self, levels: Sequence[int]) -> list[Path]:
        """The files of these levels. Raises StageError if one does not exist."""
        return [self.folder.existing_agent(level) for level in levels]

    def stage_folder(self, level: int) -> Path:
        """The folder of the files of a stage: that of the level, or the setting output_dir."""
        output_dir = self.settings.output_dir
        return self.folder.level(level) if output_dir is None else Path(output_dir)


@contextmanager
def open_run(settings: Settings, program: str) -> Iterator[LearningRun]:
    """The run of these settings, which `check` accepts, locked in the block as `writing_run` does.

    In the block torch and searches have the numbers of threads that the settings name. With fresh=true the run begins
    anew, as `begin_anew` does, unless the files of the stage are outside it, or it is only measured.

    Args:
        program: whose stages are run: learn, generate, train or compare.

    Raises as `check`, `begin_anew` and `writing_run`.
    """
    run = LearningRun.of(settings)
    with writing_run(run.folder, create=program != COMPARE), settings.computing():
        # Of several processes only the first writes.
        if process_rank() == 0:
            check(run, program)
            if settings.fresh and settings.output_dir is None and program != COMPARE:
                begin_anew(run.folder, settings)
        yield run


def check_run(settings: Settings, program: str = LEARN) -> None:
    """As `check`, for a run that is not opened."""
    check(LearningRun.of(settings), program)


def check(run: LearningRun, program: str = LEARN) -> None:
    """Raise SettingError for settings that a stage of the run would refuse; nothing is trained or written.

    Levels that are yet to be learned are represented by a network that is not trained, so their files need not exist.

    `program`: as for `open_run`; for a single stage more settings have a meaning.
    """
    if program == LEARN:
        check_program(run.settings, program)
    of_all_levels = copy(run.settings)
    of_all_levels.level = None
    text = repr(of_all_levels)
    if _checked.isdisjoint({(text, LEARN), (text, program)}):
        stand_in = None if program == COMPARE else _check_learning(run, is_whole=program == LEARN)
        if run.settings.comparison != ComparisonSettings():
            check_comparison(run, stand_in)
        _checked.add((text, program))


def _check_learning(run: LearningRun, *, is_whole: bool) -> StandIn:
    """Check that levels can be learned; returns what represents them. Raises SettingError."""
    settings = run.settings
    agent = untrained_agent(run)
    for first in (1, *sorted(settings.from_level)):
        check_learner(run, first, agent)
    if settings.opponent is not None:
        with naming_player("opponent", settings.opponent):
            make_player(settings.opponent, run.game, settings.run_dir)
    if is_whole:
        run.playing_agent(0)
        check_validation(run)
        check_dataset(run)
    return levels_to_learn(run, agent, settings.last_level)


def check_learner(run: LearningRun, first: int, agent: Agent) -> None:
    """Raise SettingError if levels from `first` on could not play the matches that they learn from, or not learn."""
    level, stand_in = run.level(first), levels_to_learn(run, agent, max(1, first - 1))
    resources = resources_of(run, level.learner, stand_in, first_level=level.first_level)
    level.require_start(has_start=first > 1 or run.settings.start_file is not None)
    with fields_of("player", "depth", "temperature"), fields_of("learner", *level.learner.parameters()):
        asked(level.learner, level.learner.check, object, agent, resources)


def untrained_agent(run: LearningRun) -> Agent:
    """A level that is not trained. Raises SettingError if its network cannot be built, or is too large."""
    settings, game = run.settings, run.game
    sizes, name = (game.observation_shape, game.num_distinct_actions, game), settings.architecture["name"]
    # The weights are not used: torch's global generator, which gives them, is left as it was.
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        count = sum(tensor.numel() for tensor in meta_tensors(settings.architecture, *sizes).values())
        if count > MOST_WEIGHTS:
            raise SettingError(f"architecture={name} has {count:,} weights, more than {MOST_WEIGHTS:,}")
        network = build_network(settings.architecture, *sizes).eval()
        set_numerics(network, settings.numerics)
    return Agent(Checkpoint(network, run.level(1).metadata), game, "level 1")


def levels_to_learn(run: LearningRun, agent: Agent, last: int) -> StandIn:
    """Represents levels 1 to `last` of the run by an agent that is not trained."""
    of_run = run.folder

    def stand_in(run_dir: Path, level: int) -> Agent | None:
        if not 1 <= level <= last or resolved(run_dir) != resolved(of_run.path):
            return None
        checkpoint = Checkpoint(agent.network, {**agent.checkpoint.metadata, "level": level})
        return Agent(checkpoint, agent.game, f"level {level}", of_run.agent(level))

    return stand_in


def check_validation(run: LearningRun) -> None:
    """Raise SettingError if no match, or every match, would be held out of the training of a level."""
    for number in range(1, min(run.settings.last_level, MOST_LEVELS) + 1):
        level = run.level(number)
        seed, check = run.settings.seed, level.learner.check_matches
        asked(level.learner, check, object, level.settings.matches, seed, number)


def check_dataset(run: LearningRun) -> None:
    """Raise SettingError for a given format of datasets if no level learns from a dataset."""
    settings = run.settings
    if settings.dataset.format in (DatasetSettings.format, usual_settings(settings.recipe).get("dataset.format")):
        return
    numbers = range(1, min(settings.last_level, MOST_LEVELS) + 1)
    if not any(run.level(number).inputs.datasets for number in numbers):
        raise SettingError(
            f"dataset.format={settings.dataset.format}: not used with learner={settings.learner.name}, which makes no "
            f"datasets; set dataset.format={DatasetSettings.format}, its default"
        )


def resources_of(run: LearningRun, learner: Learner, stand_in: StandIn | None = None, **more: Any) -> Resources:
    """The resources of the learner of a level.

    Args:
        stand_in: as for `make_player`.
        more: further fields of `Resources`.
    """
    settings, game, run_dir = run.settings, run.game, run.settings.run_dir

    def named(name: str, itself: Agent | None = None) -> Player:
        with naming_player(*_given(learner, name)):
            return make_player(name, game, run_dir, itself=itself, stand_in=stand_in)

    def agent_of(level: int) -> Agent:
        return agent_of_level(run_dir, level, game)

    depth, temperature = settings.player.depth, settings.player.temperature
    return Resources(named, agent_of, depth, temperature, batch_size=settings.batch_size, device=run.device, **more)


def _given(learner: Learner, name: str) -> tuple[str, str]:
    """The setting that names a player, and its value, to which a learner may have added options."""
    for parameter, value in learner.named_players().items():
        if name.startswith(value):
            return f"learner.{parameter}", value
    return "opponent", name
