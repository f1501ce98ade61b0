"""Run a program with settings: compose them, log.

Settings are given as `name=value` or as flags: `--level 3` is `level=3`.
"""

import logging
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TextIO

from omegaconf import DictConfig, OmegaConf

from selfplay.compute.process import process_count, process_rank
from selfplay.errors import SettingError, shortened
from selfplay.files import user_path
from selfplay.games import GAMES
from selfplay.runs.command_lines import COMMAND
from selfplay.runs.manifest import RUN, Manifest
from selfplay.runs.run_folder import logging_with
from selfplay.settings.common import ARGUMENT, AnySettings, check_program
from selfplay.settings.compose import checked_settings, composed_values, name_settings_modules
from selfplay.settings.overrides import check_given_once, override_of, quoted, with_outside_names
from selfplay.settings.recorded import take_run_settings, values_with_recorded_learner
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)

HELP_ALL = "--help-all"
HELP_FLAGS, SWEEP_FLAGS = {"--help", "-h", HELP_ALL}, {"--multirun", "-m"}

PRINTING_FLAGS = {
    *("--cfg", "-c", "--package", "-p", "--resolve", "--info", "-i"),
    *("--hydra-help", "--version", "--shell-completion", "-sc"),
}
"""Flags with which Hydra prints something and runs nothing."""

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
QUOTES = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb"
"""What programs for texts put in place of dashes and quotation marks."""

OVERRIDE = re.compile(r"[+~]*[A-Za-z_][\w.]*=")
FLAG = re.compile(r"--?[A-Za-z][^\s=]*(=|$)")
"""How a flag begins. The boards of games can begin with dashes too, as in "--XO-XO-- X"."""


class Program(NamedTuple, Generic[AnySettings]):
    """A program with settings, which are composed from conf/`config`.yaml and the command line.

    A program with `Settings` takes over the settings that the run has recorded. `@partial(Program, kind=...)` makes a
    program of a function.
    """

    body: Callable[[AnySettings], None]
    """Its docstring begins the text of `--help`."""
    kind: type[AnySettings]
    config: str = "config"
    log_to: TextIO | None = None
    """Where the messages of the library go; None: stdout."""
    in_parallel: bool = False
    """Whether torchrun may start several processes of the program; only rank 0 logs."""
    check: Callable[[AnySettings], None] = lambda settings: None
    """Raises SettingError for settings that the program would refuse. A sweep calls it for all runs before the first
    starts."""
    after_sweep: Callable[[Path, Sequence[Path]], None] | None = None
    """Called at the end of a sweep (`-m`) with its folder and the run_dir of each of its runs."""
    choose: Callable[[Sequence[str]], tuple[Sequence[str], str]] = lambda overrides: (overrides, "")
    """(overrides) to these with further ones that the program chooses, and a line that says why; empty if it chooses
    none."""
    main: Sequence[str] = ()
    """The settings that `--help` describes; empty: those that only this program has, and the folder of the run."""
    ends_at_once: bool = False
    """Whether the process ends without waiting for threads that still compile or search."""
    result: Callable[[AnySettings], float] | None = None
    """The result of a finished run, for sweepers that choose the next run by the results of earlier ones."""

    @property
    def name(self) -> str:
        """What `selfplay` is called with to run it."""
        return self.body.__name__.removesuffix("_program").replace("_", "-")


def settings_of(
    program: Program[AnySettings], overrides: Sequence[str], name: str | None = None
) -> tuple[AnySettings, str]:
    """The settings with these overrides, and a line about those that the run has recorded, or the program has chosen;
    empty if there are none.

    `name`: in a sweep, the folder of the run below run_dir; empty if the overrides name it. Raises SettingError.
    """
    if process_count() > 1 and (name is not None or not program.in_parallel):
        raise SettingError(f"torchrun can start only {COMMAND} train, and one run of it; start this without it")
    is_of_run, (overrides, chosen) = issubclass(program.kind, Settings), program.choose(overrides)
    if is_of_run:
        values = values_with_recorded_learner(overrides)
    else:
        values = composed_values(program.kind, program.config, overrides)
    if name and values.run_dir:  # an empty one is refused
        values.run_dir = str(Path(values.run_dir) / name)
    if is_of_run:
        taken = take_run_settings(values, overrides)
        settings = checked_settings(program.kind, values)
        check_program(settings, program.name)
        return settings, taken or chosen
    given = {override.lstrip("+").partition("=")[0] for override in overrides}
    if "run_dir" in given and not any(setting.partition(".")[0] == "game" for setting in given):
        values.game.name = _game_of_run(values)
    return checked_settings(program.kind, values), ""


def _game_of_run(values: DictConfig) -> str:
    """The game that the run in run_dir has recorded; that of the values if it has recorded none.

    Raises InvalidFileError if the manifest of the run is broken, SettingError if the game is code that no setting
    names.
    """
    recorded = Manifest(Path(values.run_dir)).sections.get(RUN, {}).get("settings", {})
    game = str(recorded.get("game.name", values.game.name))
    name_settings_modules(OmegaConf.to_container(values, resolve=False))
    GAMES.check_recorded(game)
    return game


def run_program(program: Program[AnySettings], settings: AnySettings, taken: str) -> None:
    """Run a program with the result of `settings_of`, with the numbers of threads that its settings name."""
    if taken:
        _say_once(taken)
    with settings.computing():
        program.body(settings)


@cache
def _say_once(line: str) -> None:
    """Write a line to the log; in a shell loop, whose stages run in one process, only the first of them does."""
    log.info("%s", line)


def overrides_first(arguments: Sequence[str], kind: type[Any] = Settings) -> tuple[list[str], list[str]]:
    """The overrides in these arguments, with texts in quotes so that Hydra takes them as typed, and the flags.

    `--name value` and `--name=value` are the override `name=value`; `--config-dir FOLDER` adds a folder like conf/. A
    word alone is the value of the setting that is an argument of the program (`IS_ARGUMENT`), if it has one, also a
    board that begins with dashes.

    Args:
        kind: the class of the settings.

    Raises SettingError for a flag without its value, an argument that is neither flag nor override, or a setting that
    is given twice.
    """
    overrides: list[str] = []
    flags: list[str] = []
    is_sweep = not SWEEP_FLAGS.isdisjoint(arguments)
    named = [one.name for one in fields(kind) if one.metadata.get(ARGUMENT)]
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        flag, equals, value = argument.partition("=")
        if equals and flag in HELP_FLAGS | SWEEP_FLAGS:
            raise SettingError(f"{flag} takes no value")
        if flag in HELP_FLAGS | SWEEP_FLAGS | PRINTING_FLAGS or flags[-1:] in (["-sc"], ["--shell-completion"]):
            flags.append(argument)
        elif argument.startswith("--") and (FLAG.match(argument) or not named):
            if not equals:
                if not rest or OVERRIDE.match(rest[0]) or FLAG.match(rest[0]):
                    raise SettingError(f"{flag} needs a value")
                value = rest.pop(0)
            name = flag.removeprefix("--").replace("-", "_")
            folders = f"hydra.searchpath=[{quoted(str(user_path(value)))}]"
            overrides.append(folders if name == "config_dir" else override_of(name, value, kind, is_sweep))
        elif equals and not (named and re.search(r"\s", flag)):
            overrides.append(override_of(flag, value, kind, is_sweep))
        elif argument.startswith("~"):
            overrides.append(argument)
        elif flags and flags[-1] in PRINTING_FLAGS:
            # Its value, as in --cfg job.
            flags.append(argument)
        elif named:
            overrides.append(override_of(named[0], argument, kind, is_sweep))
        else:
            raise SettingError(f"{argument!r} is neither a flag nor a setting; write name=value")
    check_given_once(overrides)
    return with_outside_names(overrides), flags


def check_signs(arguments: Sequence[str]) -> None:
    """Raise SettingError for an argument with a typographic dash or quotation mark where a shell needs a plain one."""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        first, *_ = found = [sign for text in (name, value) for sign in text[:1] + text[-1:] if sign in QUOTES] or [""]
        if argument[:1] and argument[0] in DASHES:
            first, plain = argument[0], "--" + argument.lstrip(DASHES + "-")
        else:
            plain = name.strip("".join(found)) + equals + value.strip("".join(found))
        if first:
            raise SettingError(
                f"{shortened(argument)}: {first} is the typographic {unicodedata.name(first)}; write {plain}"
            )


class ScreenHandler(logging.StreamHandler[TextIO]):
    """Writes messages to a stream, and keeps the first error of the system instead of printing a traceback."""

    error: OSError | None = None

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Keep the error; called by `emit` for a message that could not be written."""
        error = sys.exception()
        if self.error is None and isinstance(error, OSError):
            self.error = error


@contextmanager
def logging_to_screen(stream: TextIO) -> Iterator[None]:
    """Write the messages of the library to `stream`, in the first of several processes.

    Messages can be all that a program says. If one of them could not be written to stdout, because its device is full
    or its reader has left, the end of the block raises this OSError.
    """
    # The run.log of a run on a full disk should not print a traceback either.
    logging.raiseExceptions = False
    logging.getLogger("selfplay").setLevel(logging.INFO)
    screen = ScreenHandler(stream)
    with logging_with(screen if process_rank() == 0 else logging.NullHandler(), "%(message)s"):
        yield
    if screen.error is not None and stream is sys.stdout:
        raise screen.error
