"""What a stage needs besides its settings, and the threads that it computes with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic

from selfplay.checks import fields_of
from selfplay.compute.devices import computing_on
from selfplay.executors import Executor, ExecutorOptions, open_executor
from selfplay.games import Game, make_game
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import AnyComputing


@dataclass(frozen=True)
class RunContext(Generic[AnyComputing]):
    """What a stage needs besides its settings: run folder, game and device, found once and passed down."""

    settings: AnyComputing
    run: RunFolder
    game: Game
    device: str
    """cpu or cuda."""


def context_of(settings: AnyComputing) -> RunContext[AnyComputing]:
    """The context of these settings. Raises SettingError for an unknown game, or a device that does not exist."""
    run = RunFolder.of(settings)
    return RunContext(settings, run, make_game(settings.game.name), settings.chosen_device())


@contextmanager
def executor_of(executor: ExecutorOptions, threads: int) -> Iterator[Executor]:
    """The executor of these settings, as `open_executor`; errors name the settings."""
    with fields_of("executor", "address"), open_executor(executor, threads) as opened:
        yield opened


@contextmanager
def computing(settings: AnyComputing) -> Iterator[RunContext[AnyComputing]]:
    """The context of these settings; in the block torch and searches have the numbers of threads that they name.

    Raises as `context_of`.
    """
    context = context_of(settings)
    with computing_on(context.device, settings.threads, settings.search_threads):
        yield context
