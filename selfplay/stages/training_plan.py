"""The inputs of the training of a level: settings, datasets and weights, with their digests."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from selfplay.errors import SettingError, StageError
from selfplay.process_exit import process_count
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import sha256
from selfplay.settings.choices import OPTIMIZERS
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.run import Settings


@dataclass(frozen=True)
class TrainingPlan:
    """The inputs of the training of a level."""

    settings: Settings
    run: RunFolder
    level: int
    datasets: list[Path]
    """The datasets that it is trained on, the newest last."""
    start: Path | None
    """The agent whose weights it starts from; None: fresh weights."""
    gate_agent: Path | None = None
    """The agent that it must play well against; None: it is taken in any case."""

    @property
    def folder(self) -> Path:
        """The folder of the files of the level."""
        return self.run.stage_folder(self.level, self.settings.output_dir)

    @cached_property
    def digests(self) -> list[str]:
        """The SHA-256 of each dataset."""
        return [sha256(path) for path in self.datasets]

    def record(self, processes: int) -> dict[str, Any]:
        """Everything that the files of the level depend on: settings, number of processes, digests of files."""
        *replayed, newest = self.digests
        record = stage_record(self.settings, "training", level=self.level)
        record |= {"level": self.level, "dataset_sha256": newest}
        if replayed:
            record["replayed_sha256"] = replayed
        if processes > 1:
            record["processes"] = processes
        if self.start is not None:
            record["start_sha256"] = sha256(self.start)
        if self.gate_agent is not None:
            record["gate_sha256"] = sha256(self.gate_agent)
        return record

    def default_of(self, name: str) -> object:
        """The default of a recorded setting; the default of an option of the network is in the network's class."""
        section, _, option = name.partition(".")
        if section != "architecture":
            return recorded_defaults(self.settings, "training").get(name)
        # Imported here, because it imports torch, and only a setting that was not recorded needs it.
        from selfplay.architectures import option_defaults

        return option_defaults(self.settings.architecture["name"]).get(option)

    def check_datasets(self) -> None:
        """Raise StageError for a dataset that differs from what its manifest describes."""
        for path, digest in zip(self.datasets, self.digests, strict=True):
            section = Manifest(path.parent).sections.get("generation", {"files": {}})
            # A dataset file of one's own need not have a manifest.
            is_own = self.settings.dataset_file is not None and path.name not in section["files"]
            if section["files"].get(path.name) != digest and not is_own:
                raise StageError(f"{path} differs from its manifest; generate it again with force=true")


def plan_training(settings: Settings, level: int) -> TrainingPlan:
    """Find the inputs of the training of `level`. Raises SettingError, StageError as `train_level`."""
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    optimizer = settings.training.optimizer.name
    if process_count() > 1 and OPTIMIZERS[optimizer].one_process_only:
        raise SettingError(f"training.optimizer.name={optimizer} trains in one process; start it without torchrun")
    if process_count() > 1 and settings.has_policies:
        raise SettingError(f"targets={settings.targets} trains in one process; start it without torchrun")
    run = RunFolder.of(settings)
    starts_fresh = level == 1 or settings.training.start == "fresh"
    if level > 1 and not (settings.dataset_file and (settings.start_file or starts_fresh)):
        run.check_level(level - 1)
    earlier = range(max(0, level - 1 - settings.dataset.replay), level)
    datasets = [run.dataset(number, settings.dataset.format) for number in earlier]
    if settings.dataset_file is not None:
        datasets[-1] = Path(settings.dataset_file)
        if not datasets[-1].exists():
            raise StageError(
                f"dataset_file={datasets[-1]}: does not exist; set a CSV file or a folder of Parquet files"
            )
    for number, path in zip(earlier, datasets, strict=True):
        if not path.exists():
            raise StageError(f"{path} does not exist; generate the matches of level {number} first")
    start = None if starts_fresh else run.agent(level - 1)
    if settings.start_file is not None:
        start = Path(settings.start_file)
    gate_agent = None
    if settings.gate is not None and level > 1:
        run.check_level(level - 1)
        gate_agent = run.agent(level - 1)
    return TrainingPlan(settings, run, level, datasets, start, gate_agent)
