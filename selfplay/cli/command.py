"""What every script shares: flags beside overrides, one line for an error, exit codes, progress and the log.

A script composes its settings with Hydra (`--help`, `--cfg job` and `--multirun` work) and takes the commonest
settings as flags too: `--level 3` is `level=3`.
"""

import argparse
import gc
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

from selfplay.cli.error_messages import line_and_code, mendable_errors
from selfplay.cli.multirun import AfterSweep, Multirun
from selfplay.errors import SettingError
from selfplay.players.registry import grammar
from selfplay.process_exit import INTERRUPTED, INTERRUPTED_MESSAGE, exit_with_line
from selfplay.process_rank import process_count, process_rank
from selfplay.settings.common import AnySettings
from selfplay.settings.compose import one_line, settings_from_config
from selfplay.settings.folders import CONFIG_FOLDER
from selfplay.settings.run import Settings

if TYPE_CHECKING:
    from omegaconf import DictConfig

log = logging.getLogger(__name__)

FLAGS = (
    *("game", "recipe", "run_dir", "seed", "level", "levels", "matches", "force", "opponent"),
    *("agent", "episodes", "first", "second", "players", "host", "port"),
)
"""Settings that may also be written as `--name value` or `--name=value`."""

PLAYER_WITH_OPTIONS = re.compile(r"""(?<!['"\w])(?:gtp:|[a-z_]+(?::[^,\[\]'"?]*)?\?)[^,\[\]'"]*""")
"""A player's name with options, such as level:17?depth=2, or with a command, that is not quoted."""

HYDRA_FLAGS = (
    *("--help", "-h", "--hydra-help", "--version", "--resolve", "--run", "-r", "--multirun", "-m"),
    *("--shell-completion", "-sc", "--info", "-i"),
)

HYDRA_FLAGS_WITH_VALUE = (
    *("--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd"),
    "--experimental-rerun",
)

OVERRIDE = re.compile(r"[+~]*[A-Za-z_][\w.]*=")

HYDRA_FUNCTION = re.compile(r"\w+\(.*,.*\)")

RunUse = Literal["create", "change", "read"]
"""What a script does with the run in run_dir: see `command_of`."""


def progress_bar(*, total: int, desc: str) -> Any:
    """A bar of tqdm on a terminal; elsewhere the log's plain lines are enough."""
    from tqdm import tqdm

    return tqdm(total=total, desc=desc, leave=False, disable=None)


def overrides_first(arguments: Sequence[str]) -> list[str]:
    """`arguments` with our flags turned into overrides, and all overrides before Hydra's own flags.

    Hydra refuses foreign flags, and overrides that stand on both sides of `-m`. Raises SettingError for an unknown
    flag, one without its value, or an argument that is neither flag nor override.
    """
    overrides: list[str] = []
    hydra_flags: list[str] = []
    rest = list(arguments)
    is_sweep = not {"-m", "--multirun"}.isdisjoint(rest)
    while rest:
        argument = rest.pop(0)
        flag, equals, value = argument.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if flag.startswith("--") and name in FLAGS:
            overrides.append(_override(name, value if equals else _value_of_flag(flag, rest), is_sweep))
        elif flag in HYDRA_FLAGS_WITH_VALUE:
            hydra_flags += [argument] if equals else [flag, _value_of_flag(flag, rest)]
        elif argument in HYDRA_FLAGS:
            hydra_flags.append(argument)
        elif argument.startswith("-"):
            raise SettingError(f"unknown flag {argument}; there are {', '.join(f'--{name}' for name in FLAGS)}, --help")
        elif equals:
            overrides.append(_override(flag, value, is_sweep))
        elif argument.startswith("~"):
            overrides.append(argument)
        else:
            raise SettingError(f"{argument!r} is neither a flag nor a setting; give name=value")
    return overrides + hydra_flags


def _value_of_flag(flag: str, rest: list[str]) -> str:
    """Take the value of `flag` off `rest`."""
    if not rest or OVERRIDE.match(rest[0]) or (rest[0].startswith("-") and not rest[0][1:].isdigit()):
        raise SettingError(f"{flag} needs a value")
    return rest.pop(0)


def _override(name: str, value: str, is_sweep: bool) -> str:
    """`name=value`, with quotes around what Hydra would read otherwise: characters of a folder, options of a player.

    A sweep makes such folders (`recipe=article,seed=0`). A run_dir stays as it is if it is quoted already or chooses by
    a function of Hydra's, and in a sweep if it has commas and so is one of what is swept over.
    """
    if name != "run_dir":
        value = PLAYER_WITH_OPTIONS.sub(lambda player: f"'{player[0]}'", value)
    elif re.search(r"[^\w\s/.+$%*@?|:{}-]", value, re.ASCII) and not (
        re.search("['\"]", value) or HYDRA_FUNCTION.fullmatch(value) or (is_sweep and "," in value)
    ):
        value = f"'{value}'"
    return f"{name}={value}"


class ArgumentParser(argparse.ArgumentParser):
    """For scripts that read no settings; wrong arguments are a SettingError. `description` is shown as it stands."""

    def __init__(self, description: str) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise SettingError(f"{message}; see python {sys.argv[0]} --help")


def run_reporting_errors(function: Callable[[], None]) -> None:
    """Call `function`; an error that the user can mend becomes one line and an exit code, Ctrl-C code 130."""
    try:
        function()
    except KeyboardInterrupt:
        exit_with_line(INTERRUPTED_MESSAGE, INTERRUPTED)
    except mendable_errors() as error:
        exit_with_line(*line_and_code(error))


def command(
    body: Callable[[Settings], None],
    *,
    run: RunUse = "create",
    in_parallel: bool = False,
    after_sweep: AfterSweep | None = None,
) -> None:
    """Run a script of the loop: `command_of` with conf/config.yaml."""
    command_of(Settings, "config", body, run=run, in_parallel=in_parallel, after_sweep=after_sweep)


def command_of(
    kind: type[AnySettings],
    config: str,
    body: Callable[[AnySettings], None],
    *,
    run: RunUse = "create",
    log_to: TextIO | None = None,
    in_parallel: bool = False,
    after_sweep: AfterSweep | None = None,
) -> None:
    """Run a script: compose its settings from conf/`config`.yaml and the command line, and call `body` with them.

    Args:
        run: what the script does with the run in run_dir. "create" makes the folder if it is missing; that and
            "change" hold the run's lock meanwhile and append to its run.log.
        log_to: where the library's messages go; None: stdout.
        in_parallel: whether torchrun may start several processes of it; only the first holds the lock and logs.
        after_sweep: what is done at the end of a sweep (`-m`).
    """

    def compose_and_run() -> None:
        if process_count() > 1:
            _check_for_several_processes(in_parallel)
        _compose_and_run(kind, config, body, run, log_to, after_sweep)

    run_reporting_errors(compose_and_run)


def _check_for_several_processes(in_parallel: bool) -> None:
    """Raises SettingError for what torchrun cannot start."""
    program = Path(sys.argv[0]).name
    if not in_parallel:
        raise SettingError(f"{program} is one process: start it with python; torchrun is for train/train_agent.py")
    if {"-m", "--multirun"} & set(sys.argv):
        raise SettingError("a sweep (-m) is one process after the other: give torchrun one value of each setting")


def _compose_and_run(
    kind: type[AnySettings],
    name: str,
    body: Callable[[AnySettings], None],
    run: RunUse,
    log_to: TextIO | None,
    after_sweep: AfterSweep | None,
) -> None:
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from omegaconf import OmegaConf

    # For --help.
    OmegaConf.register_new_resolver("player_names", grammar, replace=True)
    # Errors come back to us instead of being printed by Hydra.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    # Imports make many objects and no garbage; looking for it among them takes a tenth of a stage's fixed cost or more.
    gc.set_threshold(200_000)
    # A log that cannot be written, on a full disk or into a closed pipe, is no reason for a traceback.
    logging.raiseExceptions = False
    sys.argv[1:] = overrides_first(sys.argv[1:])

    is_composed = False
    multirun: Multirun | None = None

    def work(config: "DictConfig", title: str = "") -> None:
        _run_with_settings(settings_from_config(config, kind), body, run, log_to, title)

    def run_of_sweep(config: "DictConfig", overrides: Sequence[str]) -> None:
        nonlocal multirun
        multirun = multirun or Multirun(sys.argv[1:])
        multirun.run(config, overrides, work)

    def job(config: "DictConfig") -> None:
        nonlocal is_composed
        is_composed = True
        hydra_config = HydraConfig.get()
        # Here as well as around Hydra, which would add a line of its own to an error that passes through it.
        if hydra_config.mode == RunMode.MULTIRUN:
            run_reporting_errors(lambda: run_of_sweep(config, hydra_config.overrides.task))
        else:
            run_reporting_errors(lambda: work(config))

    try:
        hydra.main(version_base="1.3", config_path=str(CONFIG_FOLDER), config_name=name)(job)()
    except ValueError as error:
        # Hydra refuses some overrides, such as game=1, in this way.
        if is_composed:
            raise
        raise SettingError(f"{' '.join(sys.argv[1:])}: {one_line(error)}") from error
    if multirun is not None:
        with _logging(logging.StreamHandler(log_to or sys.stdout), "%(message)s"):
            multirun.finish(after_sweep)


def _run_with_settings(
    settings: AnySettings, body: Callable[[AnySettings], None], run: RunUse, log_to: TextIO | None, title: str
) -> None:
    if process_rank() > 0:
        body(settings)
        return
    logging.getLogger("selfplay").setLevel(logging.INFO)
    with ExitStack() as stack:
        stack.enter_context(_logging(logging.StreamHandler(log_to or sys.stdout), "%(message)s"))
        if run != "read":
            from selfplay.runs.run_folder import RunFolder

            folder = RunFolder(Path(settings.run_dir))
            stack.enter_context(folder.lock(create=run == "create"))
            log_file = logging.FileHandler(folder.path / "run.log", delay=True)
            stack.enter_context(_logging(log_file, "%(asctime)s %(message)s"))
        if title:
            log.info("%s", title)
        body(settings)


@contextmanager
def _logging(handler: logging.Handler, form: str) -> Iterator[None]:
    """The messages of the library, in this form, also to `handler`."""
    handler.setFormatter(logging.Formatter(form))
    logger = logging.getLogger("selfplay")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
