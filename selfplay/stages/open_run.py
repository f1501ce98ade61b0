"""Opening a run: whatever its settings name is made once, before a file of the run is written or replaced.

Stages that begin much later, such as the comparison of the levels, would otherwise refuse a setting only then.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict
from pathlib import Path

import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.architectures import build_network, meta_tensors
from selfplay.checks import fields_of
from selfplay.compute.devices import cuda_devices_in_use
from selfplay.compute.portable import set_numerics
from selfplay.compute.process import process_rank
from selfplay.errors import SettingError, shortened
from selfplay.grading.comparison import unused_parameters
from selfplay.named_players.make import make_player
from selfplay.named_players.names import StandIn
from selfplay.runs.run_folder import writing_run
from selfplay.settings.common import check_program
from selfplay.settings.recorded import begin_anew, setting_text, usual_settings
from selfplay.settings.run import ComparisonSettings, DatasetSettings, Settings
from selfplay.stages.learning_run import LearningRun, naming_player, resources_of
from selfplay.stages.train import metadata_of, require_start

MOST_WEIGHTS = 1 << 30

MOST_LEVELS = 1000
"""The largest number of levels whose validation matches are checked before the run."""

USUAL = asdict(ComparisonSettings())
"""The defaults of how levels are compared."""

LEARN, COMPARE = "learn", "compare"
"""The program that runs all stages, and the one that only measures levels."""

_checked: set[tuple[str, str]] = set()
"""The settings that were checked in this process, as texts, and for which program: a loop, whose stages are in one
process, checks them once."""


@contextmanager
def open_run(settings: Settings, program: str) -> Iterator[LearningRun]:
    """The run of these settings, which `check` accepts, locked in the block as `writing_run` does.

    In the block torch and searches have the numbers of threads that the settings name. With fresh=true the run begins
    anew, as `begin_anew` does, unless the files of the stage are outside it, or it is only measured.

    Args:
        program: whose stages are run: learn, generate, train or compare.

    Raises as `check`, `begin_anew` and `writing_run`.
    """
    run = LearningRun.of(settings)
    with writing_run(run.folder, create=program != COMPARE), settings.computing():
        # Of several processes only the first writes.
        if process_rank() == 0:
            check(run, program)
            if settings.fresh and settings.output_dir is None and program != COMPARE:
                begin_anew(run.folder, settings)
        yield run


def check_run(settings: Settings, program: str = LEARN) -> None:
    """As `check`, for a run that is not opened."""
    check(LearningRun.of(settings), program)


def check(run: LearningRun, program: str = LEARN) -> None:
    """Raise SettingError for settings that a stage of the run would refuse; nothing is trained or written.

    Levels that are yet to be learned are represented by a network that is not trained, so their files need not exist.

    `program`: as for `open_run`; for a single stage more settings have a meaning.
    """
    if program == LEARN:
        check_program(run.settings, program)
    of_all_levels = copy(run.settings)
    of_all_levels.level = None
    text = repr(of_all_levels)
    if _checked.isdisjoint({(text, LEARN), (text, program)}):
        if program == COMPARE:
            check_comparison(run)
        else:
            _check_learning(run, is_whole=program == LEARN)
        _checked.add((text, program))


def _check_learning(run: LearningRun, *, is_whole: bool) -> None:
    settings = run.settings
    agent = untrained_agent(run)
    for first in (1, *sorted(settings.from_level)):
        check_learner(run, first, agent)
    if settings.opponent is not None:
        with naming_player("opponent", settings.opponent):
            make_player(settings.opponent, run.game, settings.run_dir)
    if is_whole:
        run.playing_agent(0)
        check_validation(run)
        check_dataset(run)
    check_comparison(run, levels_to_learn(run, agent, settings.last_level))


def check_learner(run: LearningRun, first: int, agent: Agent) -> None:
    """Raise SettingError if levels from `first` on could not play the matches that they learn from, or not learn."""
    level, stand_in = run.level(first), levels_to_learn(run, agent, max(1, first - 1))
    resources = resources_of(run, level.learner, stand_in, first_level=level.first_level)
    require_start(level, has_start=first > 1 or run.settings.start_file is not None)
    with fields_of("player", "depth", "temperature"), fields_of("learner", *level.learner.parameters()):
        level.learner.check(agent, resources)


def untrained_agent(run: LearningRun) -> Agent:
    """A level that is not trained. Raises SettingError if its network cannot be built, or is too large."""
    settings, game = run.settings, run.game
    sizes, name = (game.observation_shape, game.num_distinct_actions, game), settings.architecture["name"]
    # The weights are not used: torch's global generator, which gives them, is left as it was.
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        count = sum(tensor.numel() for tensor in meta_tensors(settings.architecture, *sizes).values())
        if count > MOST_WEIGHTS:
            raise SettingError(f"architecture={name} has {count:,} weights, more than {MOST_WEIGHTS:,}")
        network = build_network(settings.architecture, *sizes).eval()
        set_numerics(network, settings.numerics)
    return Agent(Checkpoint(network, metadata_of(settings)), game, "level 1")


def levels_to_learn(run: LearningRun, agent: Agent, last: int) -> StandIn:
    """Represents levels 1 to `last` of the run by an agent that is not trained."""
    of_run = run.folder

    def stand_in(run_dir: Path, level: int) -> Agent | None:
        if not 1 <= level <= last or run_dir.resolve() != of_run.path.resolve():
            return None
        checkpoint = Checkpoint(agent.network, {**agent.checkpoint.metadata, "level": level})
        return Agent(checkpoint, agent.game, f"level {level}", of_run.agent(level))

    return stand_in


def check_validation(run: LearningRun) -> None:
    """Raise SettingError if no match, or every match, would be held out of the training of a level."""
    for number in range(1, min(run.settings.last_level, MOST_LEVELS) + 1):
        level = run.level(number)
        level.learner.check_matches(level.settings.matches, run.settings.seed, number)


def check_dataset(run: LearningRun) -> None:
    """Raise SettingError for a given format of datasets if no level learns from a dataset."""
    settings, usual = run.settings, usual_settings(run.settings.recipe).get("dataset.format")
    if settings.dataset.format in (usual, DatasetSettings.format):
        return
    numbers = range(1, min(settings.last_level, MOST_LEVELS) + 1)
    if not any(run.level(number).inputs.datasets for number in numbers):
        raise SettingError(
            f"dataset.format={settings.dataset.format}: not used with learner={settings.learner.name}, which makes no "
            f"datasets; set dataset.format={DatasetSettings.format}, its default"
        )


def check_comparison(run: LearningRun, stand_in: StandIn | None = None) -> None:
    """Raise SettingError if a reference player cannot be made, or a comparison would not read a given setting.

    A setting that asks for nothing, such as endgames=0, is accepted in every game, and so is what a recipe says.
    """
    settings, game = run.settings, run.game
    learners = [settings.at_level(first).learner for first in (1, *settings.from_level)]
    given = {name: value for name, value in asdict(settings.comparison).items() if value and value != USUAL[name]}
    if given:
        usual = usual_settings(settings.recipe)
        learns_policy = any(learner.learns_policy() for learner in learners)
        for name, reason in unused_parameters(game, learns_policy=learns_policy).items():
            if name in given and given[name] != usual.get(f"comparison.{name}"):
                text = shortened(setting_text(given[name]))
                raise SettingError(
                    f"comparison.{name}={text}: not used in {game.name}, which {reason}; "
                    f"set comparison.{name}={setting_text(USUAL[name])}, its default"
                )
    for text in settings.comparison.references or []:
        with naming_player("comparison.references", text):
            make_player(text, game, settings.run_dir, stand_in=stand_in)
