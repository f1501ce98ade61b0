"""A run whose levels learn, as the stages of the loop use it; what it passes down to the learner of a level, and to
tasks for executors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from selfplay.agents.agent import Agent
from selfplay.agents.pretrained import PRETRAINED, pretrained_agent
from selfplay.checks import fields_of
from selfplay.errors import SelfPlayError, SettingError, shortened
from selfplay.learners.learner import Inputs, Learner, Resources, Source
from selfplay.named_players.make import make_player
from selfplay.named_players.names import StandIn
from selfplay.players.player import Player
from selfplay.runs.command_lines import command_line
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.runs.levels import agent_of_level
from selfplay.settings.run import Run, Settings

AnyRun = TypeVar("AnyRun", bound=Run[Any])

COMMAND_IN_RECIPE = re.compile(r"^#   selfplay learn (.*(?:\n#     .*)*)", re.MULTILINE)
"""In the comment of a recipe, the command that must come before it, over several lines."""


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
        return self.learner.inputs(self.number, self.first_level)


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
                source = learner.source(self.game, settings.matches)
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
        recipe = CONFIG_FOLDER / "recipe" / f"{self.settings.recipe}.yaml"
        text = recipe.read_text(encoding="utf-8") if recipe.exists() else ""
        command = COMMAND_IN_RECIPE.search(text) if name in text else None
        first = (
            f"; first run {command_line('learn')} {' '.join(command[1].replace('#', '').split())}" if command else ""
        )
        raise SettingError(f"first_agent={shortened(name)}: there is no such file{first}")

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


@contextmanager
def naming_player(setting: str, text: str) -> Iterator[None]:
    """Errors while the player with this name is made begin with the setting that names it."""
    try:
        yield
    except SelfPlayError as error:
        reason = re.sub("^player '[^']*': ", "", str(error).removeprefix(f"{setting}={text}: "))
        raise SettingError(f"{setting}={shortened(text)}: {reason}") from error
