"""A sweep: runs of a program over several values of settings, such as `-m seed=0,1`."""

import logging
import re
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import QuotedString, Transformer, ValueType
from omegaconf.errors import OmegaConfBaseException

from selfplay.cli.command import Program, logging_to_screen, run_program, settings_of
from selfplay.cli.process_exit import write_error_line
from selfplay.errors import USER_ERRORS, SettingError, StageError, line_of
from selfplay.settings.common import AnySettings
from selfplay.settings.compose import errors_of_settings
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)


def run_sweep(program: Program[AnySettings], overrides: Sequence[str]) -> None:
    """Run the program once for each combination of the values in these overrides.

    Each run has a folder of its own below run_dir. Raises StageError at the end if a run has failed.
    """
    runs = [(name, *settings_of(program, given, name)) for name, given in runs_of_sweep(overrides)]
    planned = {name or settings.run_dir: (settings, taken) for name, settings, taken in runs}
    failed: list[str] = []
    with logging_to_screen(program.log_to or sys.stdout):
        for number, (name, run) in enumerate(planned.items(), start=1):
            try:
                log.info("run %d of %d: %s", number, len(planned), name)
                run_program(program, *run)
            except USER_ERRORS as error:
                failed.append(name)
                write_error_line(f"{name}: {line_of(error)}")
        if program.after_sweep and len(failed) < len(planned):
            paths = [Path(settings.run_dir) for name, settings, _ in runs if name]
            for folder in dict.fromkeys(path.parent for path in paths):
                program.after_sweep(folder, [path for path in paths if path.parent == folder])
    if failed:
        raise StageError(
            f"{len(failed)} of {len(planned)} runs failed: {'; '.join(failed)}; "
            "run the same command again to resume them"
        )


def runs_of_sweep(overrides: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The runs of a sweep over the values in these overrides, such as `seed=0,1`: the name and overrides of each.

    A run is named after its values of the swept settings, in the order of their names: `recipe=article,seed=0`.

    Raises SettingError for a sweep over anything but listed values.
    """
    with errors_of_settings(Settings):
        parsed = OverridesParser.create().parse_overrides(list(overrides))
    choices: list[list[tuple[str, str]]] = []
    # The last override of a setting counts, as for Hydra.
    for name, override in {one.get_key_element(): one for one in parsed}.items():
        if not override.is_sweep_override():
            choices.append([(str(override.input_line), "")])
            continue
        wrong = SettingError(f"{override.input_line}: list the values, as in {name}=one,two")
        if not override.is_discrete_sweep() or override.value_type == ValueType.GLOB_CHOICE_SWEEP:
            raise wrong
        try:
            values = [(value, Transformer.str(value)) for value in override.sweep_iterator()]
        except OmegaConfBaseException as error:
            # One of the values is a function, such as range(3).
            raise wrong from error
        texts = [
            value.text if isinstance(value, QuotedString) else re.sub("['\"]", "", given) for value, given in values
        ]
        names = ["" if name == "run_dir" else f"{name}={text}" for text in texts]
        choices.append([(f"{name}={given}", part) for (_, given), part in zip(values, names, strict=True)])
    runs = []
    for run in product(*choices):
        name = ",".join(sorted(value for _, value in run if value))
        runs.append((name.replace("/", "."), [given for given, _ in run]))
    return runs
