"""What the program gives a learner besides its parameters: players by their names, and the agents of a run."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selfplay.checks import fields_of
from selfplay.errors import SelfPlayError, SettingError, shortened
from selfplay.learners.learner import Resources, Source
from selfplay.named_players.make import make_player
from selfplay.named_players.names import StandIn
from selfplay.players.agent import Agent
from selfplay.players.player import Player
from selfplay.runs.levels import agent_of_level
from selfplay.settings.context import RunContext, context_of
from selfplay.settings.run import Settings


def resources_of(context: RunContext[Settings], stand_in: StandIn | None = None, **more: Any) -> Resources:
    """The resources of the learner of these settings.

    Args:
        stand_in: as for `make_player`.
        more: further fields of `Resources`.
    """
    settings, game = context.settings, context.game

    def named(name: str, itself: Agent | None = None) -> Player:
        with naming_player(*_given(settings, name)):
            return make_player(name, game, settings.run_dir, itself=itself, stand_in=stand_in)

    def agent_of(level: int) -> Agent:
        return agent_of_level(settings.run_dir, level, game)

    def choosing(agent: Agent) -> Player:
        with fields_of("player", "depth", "temperature"):
            return agent.player(settings.player.depth, settings.player.temperature)

    return Resources(named, agent_of, choosing, batch_size=settings.batch_size, device=context.device, **more)


def settings_of_dataset(settings: Settings, level: int) -> tuple[Settings, Source]:
    """The settings with which a level is made, with the number of matches in its newest dataset, and where these come
    from.

    Raises SettingError or InvalidFileError if such files are not there or not readable.
    """
    at_level = settings.at_level(level)
    with fields_of("learner", *at_level.learner.parameters()):
        source = at_level.learner.source(context_of(at_level).game, at_level.matches)
    at_level.matches = source.matches
    return at_level, source


def _given(settings: Settings, name: str) -> tuple[str, str]:
    """The setting that names a player, and its value, to which a learner may have added options."""
    for field, value in settings.learner.named_players().items():
        if name.startswith(value):
            return f"learner.{field}", value
    return "opponent", name


@contextmanager
def naming_player(setting: str, text: str) -> Iterator[None]:
    """Errors while the player with this name is made begin with the setting that names it."""
    try:
        yield
    except SelfPlayError as error:
        reason = re.sub("^player '[^']*': ", "", str(error).removeprefix(f"{setting}={text}: "))
        raise SettingError(f"{setting}={shortened(text)}: {reason}") from error
