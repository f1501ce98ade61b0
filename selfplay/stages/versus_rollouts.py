"""Matches of a new level against tree search with random matches, at equal work: whether it is worth playing."""

import logging

from selfplay.agents.agent import Agent
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.games.win_draw_loss import wilson_interval
from selfplay.grading.compared_players import grader_of
from selfplay.grading.versus_rollouts import WORK_OF_PLY, Mixing, about_plies, play_rollouts, work_of_network
from selfplay.learners.learner_calls import asked
from selfplay.matches.series import result_columns, result_fields
from selfplay.named_players.mcts import ROLLOUTS
from selfplay.named_players.names import parse_name
from selfplay.named_players.strengths import is_from_run
from selfplay.players.perfect import SOLVED_AT_ONCE
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import RATED_COLUMNS, Rated, agent_of_level, best_level, is_rated_unmixed, rated_levels
from selfplay.runs.manifest import Manifest, Stage
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.learning_run import LearningRun
from selfplay.tables import Columns, data_frame, write_csv

log = logging.getLogger(__name__)

BILLION = 1_000_000_000
COLUMNS: Columns = RATED_COLUMNS | result_columns()


def rate_level(run: LearningRun, level: int, progress: ProgressBar = NoProgress) -> None:
    """Write versus_rollouts.csv in the folder of a level that learned a policy, in games that are not solved at once.

    Does nothing if this was done for the same agent. Raises as `measure_level`.
    """
    settings, folder = run.settings, run.folder
    learner = settings.at_level(level).learner
    if not asked(learner, learner.learns_policy, bool) or _is_solved_at_once(run.game):
        return
    mixing = Mixing(*asked(learner, learner.mixed_rollouts, tuple))
    record = {"agent_sha256": sha256(folder.existing_agent(level)), "seed": settings.seed}
    record |= {"mixing": [*mixing]} if mixing.share else {}
    if was_unmixed := mixing.share > 0 and is_rated_unmixed(folder, level - 1):
        record["was_unmixed"] = True
    stage = Stage("versus_rollouts", folder.level(level), record, force=True)
    if stage.is_done():
        return
    with stage.making() as made:
        agent = agent_of_level(folder.path, level, run.game)
        mixing, simulations, rollouts, result = play_rollouts(
            agent, settings.seed, mixing, progress, was_unmixed=was_unmixed
        )
        numbers, evidence = (level, simulations, rollouts, result.results.score), result.evidence
        low, high = wilson_interval(evidence.points, evidence.matches)
        rated = Rated(*numbers, mixing.share, mixing.rollouts, low, high, _work_of_matches(run, agent, level))
        path = folder.versus_rollouts(level)
        write_csv(data_frame(COLUMNS, [{**rated._asdict(), **result_fields(result)}]), path)
        made.files = [path.name]
    mixed = f" with {mixing.rollouts} random matches each" if mixing.share else ""
    log.info(
        "level %d: %s against tree search with random matches at equal work (%d simulations%s against %d)",
        *(level, result.results, simulations, mixed, rollouts),
    )


def _is_solved_at_once(game: Game) -> bool:
    """Whether people play against perfect play, not against a level."""
    grader = grader_of(game)
    return grader is not None and len(grader.graph) <= SOLVED_AT_ONCE


def _work_of_matches(run: LearningRun, agent: Agent, level: int) -> int:
    """The work of the searches in the matches of the levels before this one, as if all had networks of its size."""
    return sum(_work_of_level(run, agent, earlier) for earlier in range(level))


def _work_of_level(run: LearningRun, agent: Agent, level: int) -> int:
    section = Manifest(run.folder.level(level)).sections.get("generation", {"counts": {}, "settings": {}})
    rows, settings = section["counts"].get("rows", 0), section["settings"]
    work_of_match = WORK_OF_PLY * about_plies(run.game)
    if (name := settings.get("learner.self_play")) is not None:
        options = parse_name(name).options
        is_of_network = parse_name(name).argument != ROLLOUTS
        simulations, share, rollouts = options["simulations"], options["rollout_share"], options["rollouts"]
    else:
        # Level 0 plays at random.
        is_of_network, simulations = True, settings.get("learner.simulations", 0) if level > 0 else 0
        share, rollouts = settings.get("learner.rollout_share", 0), settings.get("learner.rollouts", 1)
    work = work_of_network(agent) if is_of_network else rollouts * work_of_match
    # From the positions in a search half of a match is played, on average.
    mixed = rollouts * work_of_match / 2 if is_of_network and share else 0
    return int(rows * simulations * (work + mixed))


def rollouts_text(folder: RunFolder, game: Game) -> list[str]:
    """The lines of the report: since when levels are better than random matches, and what people play if that is a
    level of the run."""
    if not (rated := rated_levels(folder)):
        return []
    newest, best = rated[-1], best_level(folder)
    first = next((one for one in rated if one.score > 1 / 2), None)
    since = "no level was better so far" if first is None else f"level {first.level} was the first to be better"
    if first is not None and first.work:
        since += f", after matches with {first.work / BILLION:,.0f} billion multiplications"
    plays = "tree search with random matches" if best is None else f"level {best.level} in tree search"
    strongest = f" The player strongest of this run is {plays}." if is_from_run(game, folder.path) else ""
    return [
        f"Level {newest.level} scores {newest.score:.2f} against tree search with random matches at equal work for "
        f"each move; {since}.{strongest}"
    ]
