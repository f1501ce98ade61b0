"""The check of a whole run: whatever its settings name is made once, before a file of the run is written or replaced.

Stages that begin much later, such as the comparison of the levels, would otherwise refuse a setting only then.
"""

from dataclasses import asdict
from pathlib import Path

import torch

from selfplay.architectures import build_network, meta_tensors
from selfplay.checks import fields_of
from selfplay.compute.devices import cuda_devices_in_use
from selfplay.compute.portable import set_numerics
from selfplay.compute.process import process_rank
from selfplay.errors import SettingError, shortened
from selfplay.games import Game
from selfplay.grading.comparison import unused_parameters
from selfplay.named_players.make import make_player
from selfplay.named_players.names import StandIn
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import Checkpoint
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.context import context_of
from selfplay.settings.fields import check_program
from selfplay.settings.recorded import begin_anew, usual_settings, value_text
from selfplay.settings.run import ComparisonSettings, Settings
from selfplay.stages.learner_resources import naming_player, resources_of, settings_of_dataset
from selfplay.stages.training_plan import metadata_of

MOST_WEIGHTS = 1 << 30

MOST_LEVELS = 1000
"""The largest number of levels whose validation matches are checked before the run."""

USUAL = asdict(ComparisonSettings())
"""The defaults of how levels are compared."""

_checked: set[str] = set()
"""The settings that were checked in this process, as texts: the stages of a run do not check them again."""


def check_run(settings: Settings, *, is_one_stage: bool = False) -> None:
    """Raise SettingError for settings that a stage of the run would refuse; nothing is trained or written.

    Levels that are yet to be learned are represented by a network that is not trained, so their files need not exist.

    Args:
        is_one_stage: whether a single stage is run, for which more settings have a meaning.
    """
    if not is_one_stage:
        check_program(settings, "learn")
    if (text := repr(settings)) in _checked:
        return
    context = context_of(settings)
    agent = untrained_agent(settings, context.game)
    for first in (1, *sorted(settings.from_level)):
        check_learner(settings, first, agent)
    if settings.opponent is not None:
        with naming_player("opponent", settings.opponent):
            make_player(settings.opponent, context.game, settings.run_dir)
    if not is_one_stage:
        check_validation(settings)
    check_comparison(settings, context.game, levels_to_learn(settings, agent, settings.levels))
    _checked.add(text)


def begin_anew_if_fresh(settings: Settings) -> None:
    """With fresh=true, begin the run anew as `begin_anew`, before a stage of it, unless a stage would refuse a setting.

    Only the first of several processes does so, and none if the files of the stage are outside the run.
    """
    if settings.fresh and settings.output_dir is None and process_rank() == 0:
        check_run(settings, is_one_stage=True)
        begin_anew(settings)


def check_learner(settings: Settings, first: int, agent: Agent) -> None:
    """Raise SettingError if levels from `first` on could not play the matches that they learn from, or not learn."""
    at_level = settings.at_level(first)
    stand_in = levels_to_learn(settings, agent, max(1, first - 1))
    resources = resources_of(context_of(at_level), stand_in, first_level=settings.first_level(first))
    learner = at_level.learner
    learner.begin(agent if first > 1 or settings.start_file is not None else None, lambda _: agent)
    with fields_of("learner", *learner.parameters()):
        learner.check(agent, resources)


def untrained_agent(settings: Settings, game: Game) -> Agent:
    """A level that is not trained. Raises SettingError if its network cannot be built, or is too large."""
    sizes, name = (game.observation_shape, game.num_distinct_actions), settings.architecture["name"]
    # The weights are not used: torch's global generator, which gives them, is left as it was.
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        count = sum(tensor.numel() for tensor in meta_tensors(settings.architecture, *sizes).values())
        if count > MOST_WEIGHTS:
            raise SettingError(f"architecture={name} has {count:,} weights, more than {MOST_WEIGHTS:,}")
        network = build_network(settings.architecture, *sizes).eval()
        set_numerics(network, settings.numerics)
    return Agent(Checkpoint(network, metadata_of(settings)), game, "level 1")


def levels_to_learn(settings: Settings, agent: Agent, last: int) -> StandIn:
    """Represents levels 1 to `last` of the run by an agent that is not trained."""
    run = RunFolder.of(settings)

    def stand_in(run_dir: Path, level: int) -> Agent | None:
        if not 1 <= level <= last or run_dir.resolve() != run.path.resolve():
            return None
        checkpoint = Checkpoint(agent.network, {**agent.checkpoint.metadata, "level": level})
        return Agent(checkpoint, agent.game, f"level {level}", run.agent(level))

    return stand_in


def check_validation(settings: Settings) -> None:
    """Raise SettingError if no match, or every match, would be held out of the training of a level."""
    for level in range(1, min(settings.levels, MOST_LEVELS) + 1):
        at_level, _ = settings_of_dataset(settings, level)
        at_level.learner.check_matches(at_level.matches, settings.seed, level)


def check_comparison(settings: Settings, game: Game, stand_in: StandIn | None = None) -> None:
    """Raise SettingError if a reference player cannot be made, or a comparison would not read a given setting.

    A setting that asks for nothing, such as endgames=0, is accepted in every game, and so is what a recipe says.
    """
    learners = [settings.at_level(first).learner for first in (1, *settings.from_level)]
    given = {name: value for name, value in asdict(settings.comparison).items() if value and value != USUAL[name]}
    if given:
        usual = usual_settings(settings.recipe)
        learns_policy = any(learner.learns_policy() for learner in learners)
        for name, reason in unused_parameters(game, learns_policy=learns_policy).items():
            if name in given and given[name] != usual.get(f"comparison.{name}"):
                raise SettingError(
                    f"comparison.{name}={shortened(value_text(given[name]))}: not used in {game.name}, which {reason}; "
                    f"set comparison.{name}={value_text(USUAL[name])}, its default"
                )
    for text in settings.comparison.references or []:
        with naming_player("comparison.references", text):
            make_player(text, game, settings.run_dir, stand_in=stand_in)
