"""Everything that an exact solver says about the players of a run.

RUN_DIR/comparison/judged_positions.csv   the positions in which they are judged (selfplay/grading/judge/positions.py)
RUN_DIR/comparison/mistakes.csv           a row per player and group of positions
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import NotNowError
from selfplay.grading.comparison_schedule import Who, name_of
from selfplay.grading.judge.columns import ALL_GROUPS, GROUP_COLUMNS, GroupFacts
from selfplay.grading.judge.perfect_matches import SeatResults, play_against_perfect
from selfplay.grading.judge.positions import JudgedGrade, JudgedPositions, judged_positions
from selfplay.grading.table_columns import table_of, write_csv
from selfplay.players.perfect import whole_game_solver_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunContext
from selfplay.settings.run import Settings


class Judgement(NamedTuple):
    """What an exact solver says about the players of a run."""

    positions: JudgedPositions | None
    """None if none were requested or found."""
    grades: Mapping[Who, JudgedGrade]
    """The grades in them, except for players that can only act during a match."""
    against_perfect: Mapping[Who, SeatResults]
    """The results of some levels against perfect play."""
    start_value: int | None
    """The exact value of the start of a match to the player who moves first; None if there are no such matches."""

    def rows(self) -> list[GroupFacts]:
        """The rows of mistakes.csv."""
        return [
            GroupFacts(who if isinstance(who, int) else None, name_of(who), group, quality)
            for who, grade in self.grades.items()
            for group, quality in {**grade.groups, ALL_GROUPS: grade.overall}.items()
        ]


def judge_players(
    context: RunContext[Settings],
    players: Mapping[Who, Player],
    challengers: Sequence[Who],
    progress: ProgressBar = NoProgress,
) -> Judgement | None:
    """Grade the players in positions solved exactly, and let `challengers` play against perfect play.

    Writes mistakes.csv and, unless it is already there, judged_positions.csv. None if no exact solver solves matches of
    the game from their start.
    """
    settings, run, comparison = context.settings, context.run, context.settings.comparison
    perfect = whole_game_solver_player(context.game)
    if perfect is None:
        return None
    solver, judged = perfect.solver, comparison.judged
    positions = judged_positions(solver, judged, settings.seed, run.judged_positions, progress) if judged else None
    key, matches = stream_key(settings.seed, 0, Activity.VERSUS_PERFECT), comparison.perfect_matches
    judgement = Judgement(
        positions=positions,
        grades={} if positions is None else _grades(positions, players),
        against_perfect=play_against_perfect(
            perfect, {who: players[who] for who in challengers if matches}, matches, key, settings.batch_size, progress
        ),
        start_value=solver.value(context.game.init()) if matches else None,
    )
    run.mistakes.unlink(missing_ok=True)
    if judgement.grades:
        write_csv(table_of(GROUP_COLUMNS, judgement.rows()), run.mistakes)
    return judgement


def _grades(positions: JudgedPositions, players: Mapping[Who, Player]) -> dict[Who, JudgedGrade]:
    grades: dict[Who, JudgedGrade] = {}
    for who, player in players.items():
        # Third-party programs can only act during a match.
        with suppress(NotNowError):
            grades[who] = positions.grade(player)
    return grades
