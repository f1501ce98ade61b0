"""The runs of a sweep (`-m`): a folder for each run, named after its settings, and a report of those that fail.

selfplay learn -m seed=0,1,2 recipe=default,article run_dir=outputs/seeds

    outputs/seeds/recipe=article,seed=0/, outputs/seeds/recipe=article,seed=1/, ...
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.cli.error_messages import line_and_code, user_errors
from selfplay.errors import SettingError, StageError
from selfplay.process_exit import write_error_line

if TYPE_CHECKING:
    from omegaconf import DictConfig

AfterSweep = Callable[[Path, Sequence[Path]], None]
"""Called at the end of a sweep with the folder of its runs and the run_dir of each."""


class Multirun:
    """The settings that a sweep varies, the runs that were started, and those that failed.

    `arguments`: the command line, with all overrides before the flags.

    Raises SettingError for a sweep over the files of a group (glob).
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        from hydra.core.override_parser.overrides_parser import OverridesParser
        from hydra.core.override_parser.types import ValueType

        given = takewhile(lambda argument: not argument.startswith("-"), arguments)
        # The last override of a setting counts, as for Hydra.
        overrides = {o.get_key_element(): o for o in OverridesParser.create().parse_overrides(list(given))}
        swept = {name: override for name, override in overrides.items() if override.is_discrete_sweep()}
        for name, override in swept.items():
            if override.value_type == ValueType.GLOB_CHOICE_SWEEP:
                raise SettingError(f"{name}={override.get_value_string()}: list the values, as in {name}=one,two")
        values = {name: len(list(override.sweep_string_iterator())) for name, override in swept.items()}
        self.swept = values.keys() - {"run_dir"}
        self.size = prod(values.values())
        self.runs: dict[Path, list[Path]] = {}
        """The run_dir of each run, by the folder of the sweep."""
        self.started = 0
        self.failed: list[str] = []

    def run(self, config: "DictConfig", overrides: Sequence[str], work: Callable[["DictConfig", str], None]) -> None:
        """Give a run its own run_dir and call `work` with its title; report a failure in one line.

        Args:
            config: the settings of the run; its run_dir is the folder of the sweep.
            overrides: all overrides of the run, swept or not.
        """
        name = self.name(overrides)
        folder = Path(config.run_dir)
        config.run_dir = str(folder / name)
        self.runs.setdefault(folder, []).append(folder / name)
        self.started += 1
        try:
            work(config, f"run {self.started} of {self.size}: {name or folder}")
        except user_errors() as error:
            self.failed.append(name or str(folder))
            write_error_line(f"{self.failed[-1]}: {line_and_code(error)[0]}")

    def name(self, overrides: Sequence[str]) -> str:
        """The name of a run: its values of the swept settings as on the command line, in the order of their names."""
        own = (override for override in sorted(overrides) if override.partition("=")[0] in self.swept)
        return ",".join(own).replace("/", ".").replace("'", "").replace('"', "")

    def finish(self, after_sweep: AfterSweep | None) -> None:
        """Call `after_sweep` for each folder of runs of the sweep, unless all runs failed.

        Raises StageError, naming them, if runs failed.
        """
        for folder, runs in self.runs.items():
            if after_sweep and len(self.failed) < self.started and runs != [folder]:
                after_sweep(folder, runs)
        if self.failed:
            raise StageError(
                f"{len(self.failed)} of {self.started} runs failed: {'; '.join(self.failed)}; "
                "run the same command again to resume them"
            )
