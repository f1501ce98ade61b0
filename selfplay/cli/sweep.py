"""A sweep: runs of a program over several values of settings, such as `-m seed=0,1`.

Hydra's sweeper lists the runs, and its launcher starts them after the settings of all have been checked. Other
sweepers, such as that of Optuna, choose each run by the results of earlier ones.
"""

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from math import isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser

from selfplay.cli.command import Program, logging_to_screen, run_program, settings_of
from selfplay.errors import SelfPlayError, SettingError, StageError, line_of
from selfplay.runs.command_lines import command_line
from selfplay.settings.common import AnySettings
from selfplay.settings.compose import LEARNER, SEARCH_PATH, hydra_main
from selfplay.settings.overrides import ADDED_PARAMETER, QUOTED, quoted

log = logging.getLogger(__name__)

NOT_LISTED = re.compile(r"=interval\(|,\s*(choice|range|interval|glob|shuffle|sort|tag)\(")
"""In an override without its texts in quotes: an interval, or a function of Hydra's among the values."""


SWEEPER = "hydra/sweeper="

FORCED = "++"
"""How an override begins that Hydra accepts whether it knows the setting or not."""


def run_sweep(program: Program[AnySettings], overrides: Sequence[str], report: Callable[[str], None]) -> None:
    """Run the program once for each combination of the values in these overrides.

    Each run has a folder of its own below run_dir; `report` shows the line about one that has failed.

    Raises SettingError before the first run starts if the program would refuse the settings of any, and at the end if
    all that have failed did so because of their settings; otherwise StageError if a run has failed.
    """
    if any(one.startswith(SWEEPER) and one != f"{SWEEPER}basic" for one in overrides):
        search_runs(program, overrides, report)
        return
    runs = [(name, *settings_of(program, given, name)) for name, given in runs_of_sweep(program, overrides)]
    names = [name or settings.run_dir for name, settings, _ in runs]
    for name, (_, settings, _) in zip(names, runs, strict=True):
        try:
            program.check(settings)
        except SelfPlayError as error:
            raise SettingError(f"{name}: {error}") from error

    def exit_code_of(number: int) -> int:
        try:
            with logging_to_screen(program.log_to or sys.stdout):
                log.info("run %d of %d: %s", number + 1, len(runs), names[number])
                run_program(program, *runs[number][1:])
        except Exception as error:
            if line := line_of(error):
                report(f"{names[number]}: {line}")
            else:
                traceback.print_exc()
            return error.exit_code if isinstance(error, SelfPlayError) else SelfPlayError.exit_code
        return 0

    codes = _results(program, overrides, exit_code_of)
    if program.after_sweep and 0 in codes:
        paths = [Path(settings.run_dir) for name, settings, _ in runs if name]
        for folder in dict.fromkeys(path.parent for path in paths):
            program.after_sweep(folder, [path for path in paths if path.parent == folder])
    if failed := {name: code for name, code in zip(names, codes, strict=True) if code}:
        text = f"{len(failed)} of {len(runs)} runs failed: {'; '.join(failed)}"
        if set(failed.values()) == {SettingError.exit_code}:
            raise SettingError(text)
        raise StageError(f"{text}; run the same command again to resume them")


def search_runs(program: Program[AnySettings], overrides: Sequence[str], report: Callable[[str], None]) -> None:
    """Run the program with the settings that a sweeper chooses, which is told the result of each run, nan if it failed.

    `report` as for `run_sweep`.

    Raises SettingError if the program has no result, StageError at the end if a run has failed.
    """
    if (result := program.result) is None:
        raise SettingError(
            f"{SWEEPER.removesuffix('=')}: only {command_line('learn')} has results to choose the next run by"
        )
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    kept = [one for one in parsed if one.key_or_group == SEARCH_PATH or not one.key_or_group.startswith("hydra")]
    fixed = {one.key_or_group: str(one.input_line) for one in kept if not one.is_sweep_override()}
    folder = Path(settings_of(program, [*fixed.values()])[0].run_dir)

    def result_of(number: int) -> float:
        given = [one.removeprefix(FORCED) for one in HydraConfig.get().overrides.task]
        # The sweeper may have changed the quotes of the others.
        chosen = [one for one in given if one.partition("=")[0] not in fixed]
        name = _name(set(chosen))
        try:
            with logging_to_screen(program.log_to or sys.stdout):
                settings, taken = settings_of(program, [*fixed.values(), *chosen], name)
                program.check(settings)
                log.info("run %d: %s", number + 1, name)
                run_program(program, settings, taken)
                return result(settings)
        except SelfPlayError as error:
            report(f"{name}: {line_of(error)}")
            return nan

    results = _results(program, overrides, result_of)
    failed = sum(map(isnan, results))
    if program.after_sweep and failed < len(results):
        program.after_sweep(folder, [])
    if failed:
        raise StageError(f"{failed} of {len(results)} runs failed")


def runs_of_sweep(program: Program[Any], overrides: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The runs of a sweep over the values in these overrides, such as `seed=0,1`: the name and overrides of each.

    A run is named after the settings in which the runs differ, in the order of their names: `recipe=article,seed=0`.

    Raises SettingError for a sweep over no values or over an interval, and for settings that Hydra refuses.
    """
    for one in overrides:
        if NOT_LISTED.search(re.sub(QUOTED, "", one)):
            raise SettingError(f"{one}: list the values, as in {one.partition('=')[0]}=one,two")
    in_this_process = [one for one in overrides if not one.startswith(("hydra/launcher", "hydra.launcher"))]
    runs = _results(program, in_this_process, lambda _: list(HydraConfig.get().overrides.task))
    if not runs:
        raise SettingError("the sweep has no values; list them, as in seed=0,1")
    runs = [[one.removeprefix(FORCED) for one in given] for given in runs]
    shared = set.intersection(*map(set, runs))
    folders = [one for one in overrides if one.startswith(SEARCH_PATH)]
    return [(_name(set(given) - shared), [*folders, *given]) for given in runs]


def _name(overrides: set[str]) -> str:
    typed = [re.sub(f"^{re.escape(ADDED_PARAMETER)}", "game.", one) for one in overrides]
    texts = [re.sub(r"(?<!\\)['\"]", "", one) for one in typed if not one.startswith("run_dir=")]
    return ",".join(sorted(texts)).replace("\\", "").replace("/", ".")


def _results(program: Program[Any], overrides: Sequence[str], task: Callable[[int], Any]) -> list[Any]:
    """What `task` returns for the number of each run of a sweep. Hydra's launcher may call it in other processes."""
    # Hydra logs nothing, and writes no file but multirun.yaml.
    own = ["hydra/job_logging=none", "hydra/hydra_logging=none", "hydra.output_subdir=null"]
    # Hydra does not know the parameters of a learner of the user's own.
    given = [f"{FORCED}{one}" if one.startswith(f"{LEARNER}.") else one for one in overrides]
    with TemporaryDirectory() as folder:

        def run(_: object) -> Any:
            number = HydraConfig.get().job.num
            returned = task(number)
            Path(folder, f"{number:09}.json").write_text(json.dumps(returned))
            return returned

        arguments = [*own, f"hydra.sweep.dir={quoted(folder)}", *given, "--multirun"]
        hydra_main(program.kind, program.config, arguments, run)
        return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]
