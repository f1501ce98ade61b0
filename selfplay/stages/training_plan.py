"""What the training of a level reads, and what is recorded of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selfplay.architectures import option_defaults
from selfplay.compute.process import process_count
from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat, format_of
from selfplay.dataset.rows import Rows
from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.named_players.make import files_of_player
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import Checkpoint
from selfplay.runs.levels import load_agent
from selfplay.runs.manifest import Manifest, Stage, check_against_manifest, digests_of
from selfplay.runs.run_folder import LEARNER_FILE, RunFolder
from selfplay.settings.context import first_agent_file
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.run import Settings
from selfplay.stages.learner_resources import settings_of_dataset
from selfplay.training.fitting import initial_network


@dataclass(frozen=True)
class TrainingPlan:
    """The inputs of the training of a level."""

    settings: Settings
    """Those at this level."""
    run: RunFolder
    level: int
    first_level: int
    """The first of the levels up to this one that the same learner makes."""
    datasets: list[Path]
    """The datasets that it is trained on, the newest last; none where it learns while it plays."""
    strides: int
    """Numbers of matches that are reserved for each dataset."""
    start: Path | None
    """The agent whose weights it starts from; None: fresh weights."""
    rivals: list[Path]
    """The agents of earlier levels that the training needs besides `start`, such as that of a gate."""

    @property
    def folder(self) -> Path:
        """The folder of the files of the level."""
        return self.run.stage_folder(self.level, self.settings.output_dir)

    @property
    def memory(self) -> Path | None:
        """The file from which the learner continues, in addition to the weights; None: it begins anew."""
        if self.start is None or self.level == self.first_level:
            return None
        beside = self.start.with_name(LEARNER_FILE)
        return beside if beside.exists() else None

    def stage(self, processes: int) -> Stage:
        """The stage, with everything that the files of the level depend on: settings, number of processes, digests."""
        settings, record = self.settings, stage_record(self.settings, "training") | {"level": self.level}
        record |= digests_of(self.datasets, newest="dataset_sha256", others="replayed_sha256")
        record |= digests_of(self.rivals, newest="gate_sha256", others="rivals_sha256")
        for name, file in (("start_sha256", self.start), ("learner_sha256", self.memory)):
            if file is not None:
                record[name] = sha256(file)
        if names := settings.learner.players(self.first_level):
            record["players_sha256"] = [
                sha256(file) for name in names for file in files_of_player(name, settings.run_dir)
            ]
        if processes > 1:
            record["processes"] = processes
        options = option_defaults(settings.architecture["name"])
        defaults = recorded_defaults(settings) | {f"architecture.{name}": value for name, value in options.items()}
        return Stage("training", self.folder, record, defaults, settings.force)

    def start_agent(self, game: Game) -> Agent:
        """The agent from which the training starts. Raises as `initial_network`; a StageError names what to change."""
        settings = self.settings

        def fresh(before: Agent | None) -> Agent:
            architecture, seed, numerics = settings.architecture, settings.seed, settings.numerics
            try:
                network = initial_network(
                    game, architecture, seed=seed, level=self.level, numerics=numerics, start=before
                )
            except StageError as error:
                raise StageError(f"{error}; set that architecture, or another run_dir") from error
            return Agent(Checkpoint(network, metadata_of(settings)), game, f"level {self.level}")

        before = None if self.start is None else load_agent(self.start, game)
        return settings.learner.begin(before, fresh)

    def rows(self, game: Game) -> Iterator[Rows]:
        """The rows that the level is trained on, in parts; none where it learns while it plays."""
        usual: DatasetFormat = DATASET_FORMATS[self.settings.dataset.format]
        # Matches of different levels get different numbers, so that each is held out independently of the others.
        for number, path in enumerate(self.datasets):
            for part in format_of(path, usual).read(path, game.observation_codec):
                try:
                    usable = self.settings.learner.usable_rows(part, game)
                except ValueError as error:
                    remedy = "" if self.settings.dataset_file else "; generate it again with force=true"
                    raise InvalidFileError(path, f"{error}{remedy}") from error
                yield usable._replace(match=part.match + number * self.strides)

    def check_inputs(self) -> None:
        """Raise StageError for a dataset, and InvalidFileError for an agent, that differs from its manifest."""
        for path in (self.start, self.memory):
            if path is not None:
                check_against_manifest(path)
        own = None if self.settings.dataset_file is None else self.datasets[-1]
        for path in self.datasets:
            recorded = Manifest(path.parent).sections.get("generation", {"files": {}})["files"]
            # A dataset file of the user may have no manifest.
            if recorded.get(path.name) != sha256(path) and (path != own or path.name in recorded):
                remedy = "generate it again with force=true" if path != own else "to train on it, copy it elsewhere"
                raise StageError(f"{path} differs from its manifest; {remedy}")


def metadata_of(settings: Settings) -> dict[str, Any]:
    """What is known of the agent of a level before it is trained."""
    return {"outcome": settings.learner.outcome, "architecture": settings.architecture}


def plan_training(settings: Settings, level: int) -> TrainingPlan:
    """Find the inputs of the training of `level`. Raises SettingError, StageError as `train_level`."""
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    (at_level, _), run = settings_of_dataset(settings, level), RunFolder.of(settings)
    learner = at_level.learner
    learner.check_processes(process_count())
    earlier = learner.datasets(level)
    datasets = _datasets(at_level, run, level) if earlier else []
    start = None
    if settings.start_file is not None:
        start = Path(settings.start_file)
    elif learner.uses_start:
        start = run.existing_agent(level - 1) if level > 1 else first_agent_file(settings)
    rivals = [run.existing_agent(number) for number in learner.rivals(level)]
    strides = max((settings_of_dataset(settings, number + 1)[0].matches for number in earlier), default=0)
    return TrainingPlan(at_level, run, level, settings.first_level(level), datasets, strides, start, rivals)


def _datasets(settings: Settings, run: RunFolder, level: int) -> list[Path]:
    """The datasets that a level is trained on, the newest last. Raises StageError."""
    if level > 1 and settings.dataset_file is None:
        run.check_level(level - 1)
    earlier = settings.learner.datasets(level)
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
