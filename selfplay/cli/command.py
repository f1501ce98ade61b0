"""Run a program: compose its settings, hold the run's lock, log, report errors in one line with an exit code.

A program composes its settings with Hydra (`--cfg job` and `--multirun` work), and the most common settings are flags
too: `--level 3` is `level=3`.
"""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TextIO

from tqdm import tqdm

from selfplay.cli.arguments import HELP_FLAGS, SWEEP_FLAGS, overrides_first
from selfplay.cli.composition import composed, rejected
from selfplay.cli.error_messages import line_and_code, user_errors
from selfplay.cli.logging_setup import logging_to_file, logging_to_screen
from selfplay.cli.multirun import AfterSweep, Multirun
from selfplay.errors import SettingError
from selfplay.process_exit import (
    READER_HAS_LEFT,
    before_exit,
    end_of_interrupt,
    exit_at_once,
    exit_interrupted,
    exit_with_line,
    handle_signals,
)
from selfplay.process_rank import process_count, process_rank
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.run_settings import take_run_settings
from selfplay.runs.written_files import delete_unfinished
from selfplay.settings.command_lines import COMMAND, with_command_lines
from selfplay.settings.common import AnySettings
from selfplay.settings.compose import name_board, name_recipe, offer_defaults, settings_from_config, with_outside_names
from selfplay.settings.folders import CONFIG_FOLDER
from selfplay.settings.run import Settings

# Hydra is imported in `_run_hydra`: it takes 0.1 s, in which Ctrl-C should already be handled (selfplay.process_exit).
if TYPE_CHECKING:
    from omegaconf import DictConfig

log = logging.getLogger(__name__)

before_exit(delete_unfinished)

TakeRecorded = Callable[["DictConfig", Sequence[str]], str]

RunUse = Literal["create", "change", "read"]
"""How a program uses the folder of the run: see `command_of`."""


def progress_bar(*, total: int, desc: str) -> Any:
    """A tqdm bar on a terminal; nothing elsewhere, where the lines of the log are enough."""
    return tqdm(total=total, desc=desc, leave=False, disable=None)


def run_reporting_errors(function: Callable[[], None]) -> None:
    """Call `function`; an error that the user can fix becomes one line and an exit code.

    Ctrl-C ends the program with code 130, SIGTERM with code 143, and a reader of its output that leaves with code 141.
    """
    handle_signals()
    try:
        function()
        sys.stdout.flush()
        end_of_interrupt()
    except KeyboardInterrupt:
        exit_interrupted()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has seen enough.
        exit_at_once(READER_HAS_LEFT)
    except user_errors() as error:
        exit_with_line(*line_and_code(error))


def command(
    body: Callable[[Settings], None],
    *,
    run: RunUse = "create",
    in_parallel: bool = False,
    after_sweep: AfterSweep | None = None,
) -> None:
    """Run a program of the loop: `command_of` with conf/config.yaml and the settings that the run has recorded."""
    take = take_run_settings
    command_of(Settings, "config", body, run=run, in_parallel=in_parallel, after_sweep=after_sweep, take=take)


def command_of(
    kind: type[AnySettings],
    config: str,
    body: Callable[[AnySettings], None],
    *,
    run: RunUse = "create",
    log_to: TextIO | None = None,
    in_parallel: bool = False,
    after_sweep: AfterSweep | None = None,
    take: TakeRecorded = lambda _config, _overrides: "",
) -> None:
    """Run a program: compose its settings from conf/`config`.yaml and the command line, and call `body` with them.

    The module of `body` is named after the program, and its docstring begins the text of `--help`.

    Args:
        run: how the program uses the folder of the run. "create" makes the folder if it does not exist; "create" and
            "change" hold the run's lock and append to its run.log.
        log_to: where the messages of the library go; None: stdout.
        in_parallel: whether torchrun may start several processes of the program; only rank 0 holds the lock and logs.
        after_sweep: called at the end of a sweep (`-m`).
        take: changes the composed settings to those that a run has recorded, given the overrides; returns a line for
            the log, or an empty one.
    """
    program = Program(kind, config, body, run, log_to or sys.stdout, in_parallel, after_sweep, take)
    run_reporting_errors(lambda: program.main(sys.argv[1:]))


@dataclass(frozen=True)
class Program(Generic[AnySettings]):
    """A program, as `command_of` describes it."""

    kind: type[AnySettings]
    config: str
    body: Callable[[AnySettings], None]
    run: RunUse
    log_to: TextIO
    in_parallel: bool
    after_sweep: AfterSweep | None
    take: TakeRecorded

    @property
    def name(self) -> str:
        """The name of the program on the command line of `selfplay`."""
        return self.body.__module__.rpartition(".")[2].replace("_", "-")

    def main(self, arguments: Sequence[str]) -> None:
        """Run the program with these command-line arguments."""
        if process_count() > 1:
            self._check_several_processes(arguments)
        arguments = with_outside_names(overrides_first(arguments, self._flags))
        if not set(HELP_FLAGS).isdisjoint(arguments):
            self._print_help(arguments)
            return
        offer_defaults(self.kind)
        # Hydra raises errors instead of printing them.
        os.environ["HYDRA_FULL_ERROR"] = "1"
        if not any(argument.startswith("-") or "hydra" in argument.partition("=")[0] for argument in arguments):
            self.run_once(composed(self.config, arguments))
            return
        multirun = self._run_hydra(arguments)
        if multirun is not None:
            with logging_to_screen(self.log_to):
                multirun.finish(self.after_sweep)

    def _check_several_processes(self, arguments: Sequence[str]) -> None:
        """Raise SettingError if torchrun started a program or a sweep that needs a single process."""
        if not self.in_parallel:
            raise SettingError(f"{COMMAND} {self.name} runs in one process; torchrun can start only {COMMAND} train")
        if not SWEEP_FLAGS.isdisjoint(arguments):
            raise SettingError("a sweep (-m) cannot be started by torchrun: set one value of each setting")

    def _flags(self) -> Sequence[str]:
        from selfplay.cli.help_text import flags_of

        return flags_of(self.kind, self.config)

    def _print_help(self, arguments: Sequence[str]) -> None:
        # Only --help reads the registry of players and the sources of the settings.
        from selfplay.cli.help_text import help_text

        overrides = [argument for argument in arguments if not argument.startswith("-")]
        docstring = with_command_lines(sys.modules[self.body.__module__].__doc__ or "")
        print(help_text(docstring, self.kind, self.config, overrides))

    def _run_hydra(self, arguments: Sequence[str]) -> Multirun | None:
        """Let Hydra handle its own flags and settings; returns the runs of a sweep, if it was one."""
        import hydra
        from hydra.core.hydra_config import HydraConfig
        from hydra.types import RunMode

        sys.argv[1:] = arguments
        is_composed = False
        multirun: Multirun | None = None

        def run_composed(config: "DictConfig") -> None:
            nonlocal multirun
            hydra_config = HydraConfig.get()
            if hydra_config.mode == RunMode.MULTIRUN:
                name_board(config)
                multirun = multirun or Multirun(arguments)
                multirun.run(config, hydra_config.overrides.task, self.run_once)
            else:
                self.run_once(config)

        def job(config: "DictConfig") -> None:
            nonlocal is_composed
            is_composed = True
            # Here as well as around Hydra, which would add a line to an error that passes through it.
            run_reporting_errors(lambda: run_composed(config))

        try:
            hydra.main(version_base="1.3", config_path=str(CONFIG_FOLDER), config_name=self.config)(job)()
        except ValueError as error:
            if is_composed:
                raise
            raise rejected(arguments, error) from error
        return multirun

    def run_once(self, config: "DictConfig", title: str = "") -> None:
        """Check the settings and call the body, with the run's lock and the log.

        `title`: a line to log first, which names the run of a sweep.
        """
        from hydra.core.hydra_config import HydraConfig

        name_recipe(config, HydraConfig.get().runtime.choices)
        name_board(config)
        taken = self.take(config, HydraConfig.get().overrides.task)
        settings = settings_from_config(config, self.kind)
        if process_rank() > 0:
            self.body(settings)
            return
        with ExitStack() as stack:
            stack.enter_context(logging_to_screen(self.log_to))
            if self.run != "read":
                folder = RunFolder.of(settings)
                stack.enter_context(folder.lock(create=self.run == "create"))
                stack.enter_context(logging_to_file(folder.path / "run.log"))
            for line in filter(None, (title, taken)):
                log.info("%s", line)
            self.body(settings)
