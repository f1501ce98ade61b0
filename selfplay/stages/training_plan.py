"""What the training of a level reads, and what is recorded of it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from selfplay.architectures import option_defaults
from selfplay.compute.process import process_count
from selfplay.errors import SettingError, StageError
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import LEARNER_FILE, RunFolder
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.run import Settings
from selfplay.stages.taught_level import expert_files
from selfplay.training.fitting import initial_network
from selfplay.training.parameters import OPTIMIZERS


@dataclass(frozen=True)
class TrainingPlan:
    """The inputs of the training of a level."""

    settings: Settings
    run: RunFolder
    level: int
    datasets: list[Path]
    """The datasets that it is trained on, the newest last; none where it learns while it plays."""
    start: Path | None
    """The agent whose weights it starts from; None: fresh weights."""
    gate_agent: Path | None = None
    """The agent against which it must pass the gate; None: there is no gate."""

    @property
    def folder(self) -> Path:
        """The folder of the files of the level."""
        return self.run.stage_folder(self.level, self.settings.output_dir)

    @property
    def learner(self) -> Path | None:
        """The file from which learning online continues, in addition to the weights; None: it begins anew."""
        first = self.settings.expert.from_level if self.settings.is_taught(self.level) else 1
        if self.start is None or not self.settings.learns_online or self.level == first:
            return None
        beside = self.start.with_name(LEARNER_FILE)
        return beside if beside.exists() else None

    @cached_property
    def digests(self) -> list[str]:
        """The SHA-256 of each dataset."""
        return [sha256(path) for path in self.datasets]

    def record(self, processes: int) -> dict[str, Any]:
        """Everything that the files of the level depend on: settings, number of processes, digests of files."""
        record = stage_record(self.settings, "training") | {"level": self.level}
        if self.digests:
            record["dataset_sha256"] = self.digests[-1]
        if self.digests[:-1]:
            record["replayed_sha256"] = self.digests[:-1]
        if processes > 1:
            record["processes"] = processes
        if self.start is not None:
            record["start_sha256"] = sha256(self.start)
        if self.learner is not None:
            record["learner_sha256"] = sha256(self.learner)
        if self.settings.is_taught(self.level):
            record["expert_sha256"] = [sha256(path) for path in expert_files(self.settings)]
        if self.gate_agent is not None:
            record["gate_sha256"] = sha256(self.gate_agent)
        return record

    def defaults(self) -> dict[str, Any]:
        """What each setting is where it is not recorded; the defaults of options are in the network's class."""
        options = option_defaults(self.settings.architecture["name"])
        return recorded_defaults(self.settings) | {f"architecture.{name}": value for name, value in options.items()}

    def network(self, game: Game) -> nn.Module:
        """The network from which the training starts, see `selfplay.training.fitting.initial_network`.

        Raises as it does; a StageError names the setting to change.
        """
        settings = self.settings
        try:
            return initial_network(
                game,
                settings.architecture,
                seed=settings.seed,
                level=self.level,
                numerics=settings.numerics,
                start=self.start,
            )
        except StageError as error:
            raise StageError(f"{error}; set another run_dir") from error

    def check_inputs(self) -> None:
        """Raise StageError for a dataset, and InvalidFileError for an agent, that differs from its manifest."""
        if self.start is not None:
            check_against_manifest(self.start)
        own = None if self.settings.dataset_file is None else self.datasets[-1]
        for path, digest in zip(self.datasets, self.digests, strict=True):
            section = Manifest(path.parent).sections.get("generation", {"files": {}})
            # A dataset file of the user may have no manifest.
            if section["files"].get(path.name) != digest and (path != own or path.name in section["files"]):
                remedy = "generate it again with force=true" if path != own else "to train on it, copy it elsewhere"
                raise StageError(f"{path} differs from its manifest; {remedy}")


def plan_training(settings: Settings, level: int) -> TrainingPlan:
    """Find the inputs of the training of `level`. Raises SettingError, StageError as `train_level`."""
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    optimizer = settings.training.optimizer.name
    in_one_process = {
        f"learning={settings.learning}": settings.learns_online,
        f"targets={settings.targets}": settings.has_policies,
        f"training.optimizer.name={optimizer}": process_count() > 1 and OPTIMIZERS[optimizer].one_process_only,
    }
    for setting, is_alone in in_one_process.items():
        if is_alone and process_count() > 1:
            raise SettingError(f"{setting} trains in one process; start it without torchrun")
    run = RunFolder.of(settings)
    datasets = [] if settings.learns_online else _datasets(settings, run, level)
    start = gate_agent = None
    if settings.start_file is not None:
        start = Path(settings.start_file)
    elif level > 1 and (settings.learns_online or settings.training.start != "fresh"):
        start = run.existing_agent(level - 1)
    if level > 1 and settings.gate is not None:
        gate_agent = run.existing_agent(level - 1)
    return TrainingPlan(settings, run, level, datasets, start, gate_agent)


def _datasets(settings: Settings, run: RunFolder, level: int) -> list[Path]:
    """The datasets that a level is trained on, the newest last. Raises StageError."""
    if level > 1 and settings.dataset_file is None:
        run.check_level(level - 1)
    earlier = range(max(0, level - 1 - settings.dataset.replay), level)
    datasets = [run.dataset(number, settings.dataset.format) for number in earlier]
    if settings.dataset_file is not None:
        datasets[-1] = Path(settings.dataset_file)
        if not datasets[-1].exists():
            raise StageError(
                f"dataset_file={datasets[-1]}: does not exist; set a CSV file, a Parquet file or a folder of them"
            )
    for number, path in zip(earlier, datasets, strict=True):
        if not path.exists():
            raise StageError(f"{path} does not exist; generate the matches of level {number} first")
    return datasets
