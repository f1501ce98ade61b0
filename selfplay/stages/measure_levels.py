"""Measure the levels of a run: all of them in a comparison, or one that was just trained.

RUN_DIR/comparison/levels.csv, matches.csv, references.csv, policies.csv, mistakes.csv    the comparison
RUN_DIR/comparison/endgames.csv, judged_positions.csv                                     solved positions
RUN_DIR/level_NN/strength.csv                                                             one level
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from selfplay.agents.agent import Agent
from selfplay.checks import fields_of
from selfplay.errors import SettingError, StageError
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.games.win_draw_loss import RESULTS
from selfplay.grading.compared_players import Compared, Who, grader_of
from selfplay.grading.comparison import Comparison, compare, measure_new_level
from selfplay.learners.learner_calls import asked
from selfplay.named_players.evaluations import make_evaluation
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.kept_positions import kept_in
from selfplay.runs.levels import agent_of_level, level_player
from selfplay.runs.manifest import Manifest, Stage
from selfplay.runs.run_folder import RunFolder
from selfplay.search.feature_evaluation import RESULT_ONLY, FeatureEvaluation
from selfplay.settings.common import stage_record
from selfplay.settings.run import Run, Settings
from selfplay.stages.learning_run import LearningRun
from selfplay.stages.pairs import play_pairs
from selfplay.stages.versus_rollouts import rollouts_text
from selfplay.tables import write_csv


def measure_levels(run: LearningRun, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run; write comparison/levels.csv and the tables of the measures.

    Raises StageError if there is no trained level, InvalidFileError for a broken file, and as `make_player`.
    """
    if not (levels := run.folder.trained_levels()):
        raise StageError(f"{run.folder.path} has no trained level to compare; run the loop first")
    is_small = grader_of(run.game) is not None
    references = [] if is_small else reference_names(run.game, run.settings.comparison.references)
    whos: list[Who] = [0, *levels, *references]
    # The policies of those that learned one are measured.
    agents = {
        level: agent_of_level(run.folder.path, level, run.game)
        for level in levels
        if asked(learner := run.settings.at_level(level).learner, learner.learns_policy, bool)
    }
    comparison = compare(_compared(run, whos, progress, agents))
    for name, table in comparison.tables().items():
        path = run.folder.comparison.with_name(name)
        if table is None:
            path.unlink(missing_ok=True)
        else:
            write_csv(table, path)
    return comparison


def measure_level(run: LearningRun, level: int, progress: ProgressBar = NoProgress) -> None:
    """Write how strong a level is to strength.csv in its folder, see `selfplay.grading.comparison.measure_new_level`.

    Does nothing if this was done for the same agent, or the level has been compared.

    Raises StageError if the run does not have the level, and InvalidFileError if its file is broken.
    """
    folder = run.folder
    agent, path = sha256(folder.existing_agent(level)), folder.strength(level)
    manifest, names = Manifest(folder.path), stage_record(run.settings, "comparison")
    compared = manifest.sections.get("comparison", {"settings": {}})["settings"].get("agents_sha256", [])
    stage = Stage("strength", folder.level(level), {"agent_sha256": agent}, force=True, names=names)
    if stage.is_done() or (agent in compared and not manifest.changed_code("comparison", names)):
        return
    with stage.making() as made:
        write_csv(measure_new_level(_compared(run, [level], progress)), path)
        made.files = [path.name]


def _compared(
    run: LearningRun, whos: Sequence[Who], progress: ProgressBar, agents: Mapping[int, Agent] | None = None
) -> Compared:
    settings, game, folder = run.settings, run.game, run.folder
    return Compared(
        game,
        {who: player_of(run, who) for who in whos},
        settings.comparison,
        settings.seed,
        settings.batch_size,
        agents=agents or {},
        play_pairs=lambda series: [
            played.result for played in play_pairs(run, series, player_of, progress, "comparing levels")
        ],
        # Positions are solved only in games too large to enumerate.
        evaluation=RESULT_ONLY if grader_of(game) is not None else fitting_evaluation(game),
        keep=kept_in(folder.comparison.parent, game),
        notes=[*gate_text(folder), *rollouts_text(folder, game)],
        advice=ways_to_learn_more(settings),
        progress=progress,
    )


def player_of(run: Run[Settings], who: Who) -> Player:
    """A level or a reference. Raises as `level_player` and `make_player`."""
    settings = run.settings
    if isinstance(who, int):
        with fields_of("player", "depth", "temperature"):
            return level_player(settings.run_dir, who, run.game, settings.player.depth, settings.player.temperature)
    return make_player(who, run.game, Path(settings.run_dir))


# ---------------------------------------------------------------------- reference players

RANDOM = "random"
ARTICLE, NONE = "article", "none"
MOST_LINES = 1_000_000
"""The most lines of play that a reference without an evaluation may have to search for one action."""


def reference_names(game: Game, names: Sequence[str] | None) -> list[str]:
    """The names of the references: `names` without duplicates, or by default those that suit the game, weak ones first.

    The random player is not included, because every level meets it as level 0. The defaults are the player that
    maximises its discs after one ply, if discs count, and NegaScout at several depths. These are 1 to 6
    plies with the evaluation `article` if it fits the game; otherwise 2, 4 and 6 plies without an evaluation, if the
    number of actions is small enough.
    """
    if names is not None:
        return [name for name in dict.fromkeys(names) if name != RANDOM]
    greedy = ["greedy_discs"] if game.counts_discs else []
    evaluation = fitting_evaluation(game).name
    shallow = [depth for depth in (2, 4, 6) if game.num_distinct_actions**depth <= MOST_LINES]
    depths = shallow if evaluation == NONE else range(1, 7)
    return [*greedy, *(f"search:negascout?depth={depth}&evaluation={evaluation}" for depth in depths)]


def fitting_evaluation(game: Game) -> FeatureEvaluation:
    """The evaluation `article` if it fits the game, otherwise `none`."""
    try:
        return make_evaluation(ARTICLE, game)
    except SettingError:
        return make_evaluation(NONE, game)


# ---------------------------------------------------------------------- lines of the report


def gate_text(run: RunFolder) -> list[str]:
    """A line for each level of the run that was not taken. Raises InvalidFileError if a manifest is broken."""
    lines: list[str] = []
    for level in run.trained_levels():
        section = Manifest(run.level(level)).sections.get("training", {})
        counts = section.get("counts", {})
        if counts.get("gate_taken") == 0:
            wins, draws, losses = (counts.get(f"gate_{result}", 0) for result in RESULTS)
            wanted = f"learner.gate={section['settings'].get('learner.gate')}"
            lines.append(
                f"Level {level} was not taken: it won {wins}, drew {draws} and lost {losses} matches against level "
                f"{level - 1}, too few for {wanted}; it has the weights of level {level - 1}."
            )
    return lines


def ways_to_learn_more(settings: Settings) -> list[str]:
    """Lines about settings that give a level more to learn from, each with its effect."""
    at_level = settings.at_level(settings.last_level)
    advice = asked(at_level.learner, at_level.learner.advice, Iterable)
    ways = [f"matches={10 * at_level.matches} (now {at_level.matches})", *advice]
    head = "Probably each level is trained on too few matches; with another run_dir, try"
    return [head, *(f"  {way}" for way in ways)]
