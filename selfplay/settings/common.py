"""Settings that several programs share: the game, how a level plays, and conf/common.yaml; and a run with its settings.

The classes are small, so that the settings of a program are those that it reads.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from selfplay.checks import SEEDS, count, fields_of, require, within
from selfplay.compute.devices import CPU, chosen_device, computing_on, require_device
from selfplay.games import Game, make_game, name_of_board
from selfplay.registry import is_module
from selfplay.runs.command_lines import DEFAULT_GAME
from selfplay.runs.run_folder import RunFolder, writing_run
from selfplay.settings.fields import PATH, TEMPERATURE, check_fields, read_by

MOST_THREADS = 1024
SEARCH_THREADS = within(1, MOST_THREADS)
"""Metadata of the field of that name."""


@dataclass
class GameSettings:
    """The game (conf/game/)."""

    name: str = field(default=DEFAULT_GAME, metadata=read_by("generation", "training", "comparison", "tabular"))
    """The game's name, with the size or a parameter that is not the usual one: othello_6x6, go_7x7_komi=5.5."""
    size: int | None = None
    """The number of squares along a side of the board; null: the size in the name."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Other parameters of the game, written game.komi=5.5 (go: komi; gomoku: height, length, exact; hex: swap)."""

    def __post_init__(self) -> None:
        with fields_of("game", "size", *self.parameters):
            self.name = name_of_board(self.name, self.size, self.parameters)


@dataclass
class PlayerSettings:
    """How a level chooses actions."""

    depth: int = field(default=1, metadata=count(1))
    """Plies to look ahead: 1 to 3 for networks, any number for tables of patterns."""
    temperature: float = field(default=0.0, metadata=TEMPERATURE)
    """0: choose the best action; above 0: draw actions by their values at this temperature."""


@dataclass
class CommonSettings:
    """The settings of every program."""

    run_dir: str = field(metadata=PATH)
    """Folder of the files of the run; ~ is the home folder."""
    game: GameSettings = field(default_factory=GameSettings)
    modules: list[str] = field(default_factory=list)
    """Modules outside this program that the files of a run may import, unless another setting names them."""

    def __post_init__(self) -> None:
        # Bytes of the command line that could not be decoded are not printable.
        is_path = self.run_dir.isprintable() and self.run_dir != ""
        # Only ASCII is printable if Python was told not to use UTF-8.
        advice = "" if sys.getfilesystemencoding() == "utf-8" else "; PYTHONUTF8=1 lets Python read others than ASCII"
        require("run_dir", ascii(self.run_dir), is_path, f"the path of a folder, in printable characters{advice}")
        for name in self.modules:
            require("modules", name, is_module(name), "modules that can be imported from here")
        check_fields(self)

    def chosen_device(self) -> str:
        """Where the program computes: cpu or cuda. Raises SettingError if there is no such device."""
        return CPU

    def computing(self) -> AbstractContextManager[None]:
        """In the block torch and searches have the numbers of threads that the settings name, if they name some.

        Raises as `chosen_device`.
        """
        return nullcontext()


@dataclass
class SeededSettings(CommonSettings):
    """The settings of programs that use random numbers."""

    seed: int = field(default=0, metadata=read_by("generation", "training", "comparison", "tabular") | within(*SEEDS))
    """The same seed gives the same bytes."""


@dataclass
class ComputingSettings(CommonSettings):
    """The settings of programs that compute with networks and searches."""

    threads: int = field(default=1, metadata=within(1, MOST_THREADS))
    """Threads of torch in one process; may change bytes with numerics=native."""
    search_threads: int | None = field(default=1, metadata=SEARCH_THREADS)
    """Threads of a long search of one position; does not change the result. null: one per core."""

    def computing(self) -> AbstractContextManager[None]:
        return computing_on(self.chosen_device(), self.threads, self.search_threads)


@dataclass
class LockstepSettings(SeededSettings, ComputingSettings):
    """The settings of programs that play batches of matches in lockstep."""

    batch_size: int | None = field(default=None, metadata=count(1))
    """Matches played in lockstep; does not change the results. null: 16,384 on the CPU, as many as fit on a GPU."""
    device: str = "auto"
    """Where matches are played and networks trained: cpu, cuda, or auto (a GPU if there is one)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_device(self.device)

    def chosen_device(self) -> str:
        return chosen_device(self.device)


AnySettings = TypeVar("AnySettings", bound=CommonSettings)


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

    @property
    def outside_files(self) -> Mapping[str, Path]:
        """The files that settings name, which may be anywhere, by these settings."""
        return {}


@contextmanager
def opened(settings: AnySettings, *, create: bool) -> Iterator[Run[AnySettings]]:
    """The run of a program other than those of the loop, locked in the block as `writing_run` does.

    In the block torch and searches have the numbers of threads that the settings name. Raises as `Run.of` and
    `writing_run`.
    """
    run = Run.of(settings)
    with writing_run(run.folder, create=create), settings.computing():
        yield run
