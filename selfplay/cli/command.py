"""Run a program: compose its settings, hold the run's lock, log, report errors in one line with an exit code.

Settings are given as `name=value` or as flags: `--level 3` is `level=3`.
"""

import argparse
import inspect
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, NoReturn, TextIO

from tqdm import tqdm

from selfplay.cli.overrides import HELP_FLAGS, QUERY, SWEEP_FLAGS, completed_players, overrides_first, runs_of_sweep
from selfplay.errors import SelfPlayError, SettingError, StageError
from selfplay.files import delete_unfinished, opened_to_append
from selfplay.process_exit import (
    READER_HAS_LEFT,
    before_exit,
    exit_at_once,
    exit_interrupted,
    exit_with_line,
    handle_signals,
    process_count,
    process_rank,
    write_error_line,
)
from selfplay.runs.manifest import take_run_settings
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.command_lines import COMMAND, command_line, with_command_lines
from selfplay.settings.common import AnySettings
from selfplay.settings.compose import compose_settings_of, errors_of_settings, offer_defaults
from selfplay.settings.fields import require
from selfplay.settings.folders import CONFIG_FOLDER
from selfplay.settings.run import Settings

if TYPE_CHECKING:
    from omegaconf import DictConfig

log = logging.getLogger(__name__)

before_exit(delete_unfinished)

USER_ERRORS = (SelfPlayError, OSError)
"""The errors for which one line is enough; all others are bugs of the program."""

RunUse = Literal["create", "change", "read"]
"""How a program uses the folder of the run: see `run_program`."""


def run_program(
    body: Callable[[AnySettings], None],
    kind: type[AnySettings],
    config: str = "config",
    *,
    run: RunUse = "create",
    log_to: TextIO | None = None,
    in_parallel: bool = False,
    after_sweep: Callable[[Path, Sequence[Path]], None] | None = None,
) -> None:
    """Compose the settings of a program from conf/`config`.yaml and the command line, and call `body` with them.

    The docstring of `body` begins the text of `--help`. A program with `Settings` takes over those that the run has
    recorded.

    Args:
        run: how the program uses the folder of the run. "create" makes the folder if it does not exist; "create" and
            "change" hold the run's lock and append to its run.log.
        log_to: where the messages of the library go; None: stdout.
        in_parallel: whether torchrun may start several processes of the program; only rank 0 holds the lock and logs.
        after_sweep: called at the end of a sweep (`-m`) with its folder and the run_dir of each of its runs.
    """
    overrides, flags = overrides_first(sys.argv[1:], kind)
    is_sweep = not SWEEP_FLAGS.isdisjoint(flags)
    if process_count() > 1 and (is_sweep or not in_parallel):
        raise SettingError(f"torchrun can start only {COMMAND} train, and one run of it; start this without it")
    if not HELP_FLAGS.isdisjoint(flags):
        _print_help(body, kind, config, overrides)
        return
    if not is_sweep and flags:
        _print_by_hydra(kind, config, [*overrides, *flags])
        return
    given = runs_of_sweep(overrides) if is_sweep else [("", overrides)]
    planned = [_planned(kind, config, *one) for one in given]
    failed: list[str] = []
    with logging_to_screen(log_to or sys.stdout):
        for number, one in enumerate(planned, start=1):
            try:
                with _at_work(one.settings, run):
                    if is_sweep:
                        log.info("run %d of %d: %s", number, len(planned), one.name)
                    if one.taken:
                        log.info("%s", one.taken)
                    body(one.settings)
            except USER_ERRORS as error:
                if not is_sweep:
                    raise
                failed.append(one.name)
                write_error_line(f"{one.name}: {_line_of(error)}")
        if after_sweep and len(failed) < len(planned):
            for folder in dict.fromkeys(one.folder for one in planned if one.folder is not None):
                after_sweep(folder, [Path(one.settings.run_dir) for one in planned if one.folder == folder])
    if failed:
        raise StageError(
            f"{len(failed)} of {len(planned)} runs failed: {'; '.join(failed)}; "
            "run the same command again to resume them"
        )


class PlannedRun(NamedTuple, Generic[AnySettings]):
    """A run of a program, before it starts."""

    name: str
    """How messages of a sweep name it."""
    settings: AnySettings
    taken: str
    """A line for the log about the settings that the run has recorded; may be empty."""
    folder: Path | None
    """The folder of the sweep; None without a sweep, and if the sweep names the folder of each run itself."""


def _planned(kind: type[AnySettings], config: str, name: str, overrides: Sequence[str]) -> PlannedRun[AnySettings]:
    """The run with these overrides. In a sweep it has a folder of its own, named `name`, below run_dir."""
    taken, folder = "", None

    def complete(values: "DictConfig", given: Sequence[str]) -> None:
        nonlocal taken, folder
        if name:
            folder = Path(values.run_dir)
            values.run_dir = str(folder / name)
        if issubclass(kind, Settings):
            taken = take_run_settings(values, given)

    settings = compose_settings_of(kind, config, overrides, complete)
    return PlannedRun(name or settings.run_dir, settings, taken, folder)


@contextmanager
def _at_work(settings: Any, run: RunUse) -> Iterator[None]:
    """Hold the lock of the run and append to its log, where the program changes the run."""
    with ExitStack() as stack:
        if run != "read" and process_rank() == 0:
            folder = RunFolder.of(settings)
            stack.enter_context(folder.lock(create=run == "create"))
            stack.enter_context(logging_to_file(folder.path / "run.log"))
        yield


def _print_help(body: Callable[..., None], kind: type[Any], config: str, overrides: Sequence[str]) -> None:
    # Only --help reads the registry of players and the sources of the settings.
    from selfplay.cli.help_text import help_text

    docstring = with_command_lines(inspect.getdoc(body) or "")
    print(help_text(docstring, kind, config, overrides))


def _print_by_hydra(kind: type[Any], config: str, arguments: Sequence[str]) -> None:
    """Let Hydra print the settings (`--cfg job`), the completions of a line (`-sc`) and the like."""
    is_query = any(word.startswith(QUERY) for word in arguments)
    if is_query and (words := completed_players(kind, os.environ["COMP_LINE"])):
        print(" ".join(words))
        return
    import hydra

    offer_defaults(kind)
    sys.argv[1:] = arguments
    # Hydra raises errors instead of printing them.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    with errors_of_settings(kind):
        hydra.main(version_base="1.3", config_path=str(CONFIG_FOLDER), config_name=config)(lambda _: None)()


@contextmanager
def reporting_errors() -> Iterator[None]:
    """An error in the block that the user can fix becomes one line and an exit code.

    Ctrl-C ends the program with code 130, SIGTERM with code 143, and a reader of its output that leaves with code 141.
    """
    handle_signals()
    # Figures are only written to files.
    os.environ["MPLBACKEND"] = "agg"
    try:
        threads = os.environ.get("NUMBA_NUM_THREADS", "1")
        require("NUMBA_NUM_THREADS", threads, re.fullmatch("0*[1-9][0-9]*", threads) is not None, "1 or more")
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        exit_interrupted()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has seen enough.
        exit_at_once(READER_HAS_LEFT)
    except USER_ERRORS as error:
        exit_with_line(_line_of(error), getattr(error, "exit_code", SelfPlayError.exit_code))


def _line_of(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    reason = error.strerror or " ".join(str(error).split())
    return f"{error.filename}: {reason}" if error.filename else reason


def progress_bar(*, total: int, desc: str) -> Any:
    """A tqdm bar on a terminal; nothing elsewhere, where the lines of the log are enough."""
    return tqdm(total=total, desc=desc, leave=False, disable=None)


class ArgumentParser(argparse.ArgumentParser):
    """The parser of programs without settings: wrong arguments raise SettingError.

    Args:
        program: the name of the program, such as "solve".
        description: the docstring of its function; it is not re-wrapped.
    """

    def __init__(self, program: str, description: str | None) -> None:
        shown = with_command_lines(inspect.cleandoc(description or ""))
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(command_line(program), description=shown, formatter_class=form)

    def parse_args(self, args: Sequence[str] | None = None) -> argparse.Namespace:  # type: ignore[override]
        """Parse the arguments; options may be written as the settings of other programs: game=othello."""
        given = sys.argv[1:] if args is None else args
        if given and given[-1].startswith(QUERY):
            print(" ".join(self._option_string_actions))
            raise SystemExit
        options = {flag.lstrip("-").replace("-", "_") for flag in self._option_string_actions}
        words = []
        for word in given:
            name, equals, value = word.partition("=")
            words.append(f"--{name.replace('_', '-')}={value}" if equals and name in options else word)
        return super().parse_args(words)

    def error(self, message: str) -> NoReturn:
        raise SettingError(f"{message}; see {self.prog} --help")


@contextmanager
def logging_to_screen(stream: TextIO) -> Iterator[None]:
    """Write the messages of the library to `stream`, in the first of several processes."""
    # A log that cannot be written, on a full disk or into a closed pipe, should not print a traceback.
    logging.raiseExceptions = False
    logging.getLogger("selfplay").setLevel(logging.INFO)
    with _handled_by(logging.StreamHandler(stream) if process_rank() == 0 else logging.NullHandler(), "%(message)s"):
        yield


@contextmanager
def logging_to_file(path: Path) -> Iterator[None]:
    """Append the messages of the library to the file at `path`, with their times."""
    with _handled_by(_LogFile(path, delay=True), "%(asctime)s %(message)s"):
        yield


class _LogFile(logging.FileHandler):
    """A log file that is opened as `opened_to_append` does, with the first message."""

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(opened_to_append(Path(self.baseFilename)), encoding="utf-8")


@contextmanager
def _handled_by(handler: logging.Handler, form: str) -> Iterator[None]:
    handler.setFormatter(logging.Formatter(form))
    logger = logging.getLogger("selfplay")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
