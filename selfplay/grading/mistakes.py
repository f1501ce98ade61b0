"""Mistakes of levels and references in positions that are solved exactly, in a game whose solver reaches the start.

mistakes.csv   a row per player and group of positions

The positions have groups by stage and difficulty, as in the test sets of Pons (blog.gamesolver.org). The stage is the
number of stones on the board, the difficulty the number of plies to the end of best play. Each is divided into thirds
of the number of squares, 14 in Connect Four:

    stones              0-14 begin    15-28 middle    29-42 end
    plies to the end    0-14 easy     15-28 medium    29-42 hard

They are drawn from matches between average players that explore. Match m is played for group m % 6. A position of the
match suits the group if it has the right number of stones, and the match lasted the right number of plies from there.
One of the suitable positions is drawn at random. The solver then decides to which group it belongs. It is not kept if
the player to move is lost, if all actions lead to the same result, if it has been drawn before, or if its group is
full.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import ClassVar, Self

import numpy as np
import pandas as pd
import torch

from selfplay.compute.random_numbers import Activity, Draws, Purpose, below, stream_key
from selfplay.games.game import Game
from selfplay.games.state import MatchRecord, State
from selfplay.grading.compared_players import Compared, Keep, ValuedPosition, Who, made_anew, name_of
from selfplay.grading.measures import Measure, Shown
from selfplay.grading.solved_positions import (
    QUALITY_COLUMNS,
    PositionGrade,
    SolvedPositions,
    average_player_name,
    grades_in,
    one_of_each_match,
    quality_fields,
)
from selfplay.matches.series import Series
from selfplay.players.perfect import whole_game_solver_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import ExactSolver
from selfplay.search.feature_evaluation import RESULT_ONLY, FeatureEvaluation
from selfplay.tables import COUNT, TEXT, Columns, Row

STAGES = ("begin", "middle", "end")
DIFFICULTIES = ("easy", "medium", "hard")

GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
"""All groups that can exist where each ply fills a square, the easiest first."""


def judged_positions(
    solver: ExactSolver,
    count: int,
    seed: int,
    evaluation: FeatureEvaluation = RESULT_ONLY,
    keep: Keep = made_anew,
    progress: ProgressBar = NoProgress,
) -> SolvedPositions | None:
    """Up to `count` positions of each group of the solver's game; None if there are none. Raises what `keep` raises.

    Args:
        evaluation: of the `average_player` whose matches give the positions.
        keep: keeps the positions under the name "judged_positions".
    """
    game, key = solver.game, stream_key(seed, 0, Activity.JUDGED_POSITIONS)
    record = {"game": game.name, "judged": count, "seed": seed, "player": average_player_name(evaluation)}
    solved = keep("judged_positions", record, lambda: positions_of_groups(solver, count, key, evaluation, progress))
    return SolvedPositions.of(game, solved) if solved else None


# ---------------------------------------------------------------------- drawing


def group_of(stones: int, plies_to_end: int, squares: int) -> str:
    """The name of the group of a position, such as "begin-easy"."""
    return f"{STAGES[_third(stones, squares)]}-{DIFFICULTIES[_third(plies_to_end, squares)]}"


def _third(number: int, squares: int) -> int:
    return min(2, max(0, number - 1) // (squares // 3))


MAX_MATCHES_PER_POSITION = 100
"""Largest number of matches per requested position that are played to find the positions."""
MATCHES_AT_ONCE = 600


def positions_of_groups(
    solver: ExactSolver,
    count: int,
    key: int,
    evaluation: FeatureEvaluation = RESULT_ONLY,
    progress: ProgressBar = NoProgress,
) -> list[ValuedPosition]:
    """Up to `count` positions of each group, in the order of GROUPS."""
    found = {group: list[ValuedPosition]() for group in GROUPS}

    def missing() -> list[str]:
        return [group for group in GROUPS if len(found[group]) < count]

    def choose(record: MatchRecord) -> Iterator[int | None]:
        """A ply drawn from those whose positions may belong to the group of the match."""
        drawn = Draws(key, record.match, 0).bits(Purpose.POSITION)
        stones = _stones_by_ply(solver.game, record)
        for row, match in enumerate(record.match.tolist()):
            wanted = GROUPS[match % len(GROUPS)]
            plies = _plies_of(solver, stones[row], wanted) if wanted in missing() else []
            yield plies[int(below(drawn[row], len(plies)))] if plies else None

    series = Series(range(MAX_MATCHES_PER_POSITION * count * len(GROUPS)), key, batch_size=MATCHES_AT_ONCE)
    with closing(progress(total=count * len(GROUPS), desc="solving positions")) as bar:
        for state in one_of_each_match(solver.game, evaluation, series, choose):
            if (position := _judged(solver, state, missing())) is not None:
                found[position.group].append(position)
                bar.update(1)
            if not missing():
                break
    return [position for group in GROUPS for position in found[group]]


def _plies_of(solver: ExactSolver, stones: Sequence[int], group: str) -> list[int]:
    """The plies of a match whose positions may belong to the group. `stones`: before each of its plies."""
    left = range(len(stones), 0, -1)
    groups = [group_of(number, plies, _squares(solver)) for number, plies in zip(stones, left, strict=True)]
    return [ply for ply, found in enumerate(groups) if found == group]


def _judged(solver: ExactSolver, state: State, missing: Sequence[str]) -> ValuedPosition | None:
    """The position with its values; None if it is not of one of the missing groups, or the choice does not matter."""
    value, stones = solver.value(state), int(solver.game.stone_counts(state))
    group = group_of(stones, solver.plies_to_end(value, state), _squares(solver))
    if value < 0 or group not in missing:
        return None
    values = solver.action_values(state)
    # The best action wins or draws, and another one has a worse result.
    worst, best = (np.sign(choose(values.values())) for choose in (min, max))
    return ValuedPosition(state, values, group) if worst < best else None


def _squares(solver: ExactSolver) -> int:
    assert solver.game.num_squares is not None, "games with exact solvers have boards"
    return solver.game.num_squares


def _stones_by_ply(game: Game, record: MatchRecord) -> list[list[int]]:
    """The number of stones before each ply of each match."""
    counts = torch.stack([game.stone_counts(state) for state in record.states], dim=1)
    lengths = torch.stack([~state.terminated for state in record.states]).sum(dim=0).tolist()
    return [row[:length] for row, length in zip(counts.tolist(), lengths, strict=True)]


# ---------------------------------------------------------------------- the measure

ALL_GROUPS = "all"
"""What mistakes.csv calls the positions of all groups together."""
MISTAKE_COLUMNS: Columns = {"level": COUNT, "player": TEXT, "group": TEXT, "positions": COUNT, **QUALITY_COLUMNS}
"""The columns of mistakes.csv."""
GAP = 2


class Mistakes(Measure):
    """How often levels and references give a win or a draw away, by an exact solver."""

    columns: ClassVar[Columns] = {f"judged_{name}": kind for name, kind in QUALITY_COLUMNS.items()}
    measures_references = True
    shown = (
        Shown("mistakes", ["judged_mistake_rate"], "{:.3f}".format, "mistakes: wins and draws given away"),
        Shown("perfect", ["judged_perfect_rate"], "{:.3f}".format),
    )

    def __init__(self, compared: Compared) -> None:
        super().__init__(compared)
        self.grades = grades_in(_positions(compared), compared.players)

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        return None if whole_game_solver_player(compared.game) is None else cls(compared)

    @classmethod
    def of_new_level(cls, compared: Compared) -> Row | None:
        positions = _positions(compared)
        if positions is None:
            return None
        return quality_fields(positions.grade(compared.players[compared.newest]).overall, "judged_")

    def fields(self, who: Who) -> Row:
        grade = self.grades.get(who)
        return dict.fromkeys(self.columns) if grade is None else quality_fields(grade.overall, "judged_")

    def tables(self) -> dict[str, tuple[Columns, Sequence[Row]]]:
        rows: list[Row] = [
            {
                "level": who if isinstance(who, int) else None,
                "player": name_of(who),
                "group": group,
                "positions": quality.positions,
                **quality_fields(quality),
            }
            for who, grade in self.grades.items()
            for group, quality in {**grade.groups, ALL_GROUPS: grade.overall}.items()
        ]
        return {"mistakes.csv": (MISTAKE_COLUMNS, rows)}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        return mistakes_text(self.grades, self.compared.levels, self.compared.references)


def _positions(compared: Compared) -> SolvedPositions | None:
    """The positions in which players are judged.

    None if none are requested or found, or no exact solver solves matches of the game from their start.
    """
    count = compared.parameters.judged
    perfect = whole_game_solver_player(compared.game) if count else None
    if perfect is None:
        return None
    return judged_positions(perfect.solver, count, compared.seed, compared.evaluation, compared.keep, compared.progress)


def mistakes_text(grades: Mapping[Who, PositionGrade], levels: Sequence[int], references: Sequence[Who]) -> list[str]:
    """Lines about the actions of the newest level, with those of other players; none if it is not graded.

    `levels`: all levels, from 0, at least two.
    """
    if levels[-1] not in grades:
        return []
    newest, first = levels[-1], levels[1]
    graded = [who for who in references if who in grades]
    best = min(graded, key=lambda who: grades[who].overall.mistakes, default=None)
    named: list[tuple[str, Who | None]] = [("random", 0), (f"level {first}", first), ("reference", best)]
    others = {title: grades[who] for title, who in named if who is not None and who in grades and who != newest}
    rows = [["group", "number", "mistakes", "perfect", "points", *others]]
    for group in (*grades[newest].groups, ALL_GROUPS):
        quality = grades[newest].groups.get(group, grades[newest].overall)
        shown = [
            f"{quality.positions}",
            f"{quality.mistakes:.3f}",
            f"{quality.perfect:.3f}",
            f"{quality.points_lost:.2f}",
        ]
        compared = (grade.groups.get(group, grade.overall) for grade in others.values())
        rows.append([group, *shown, *(f"{quality.mistakes:.3f}" for quality in compared)])
    return [
        "Solved positions: the share of mistakes (a win or a draw given away) and of",
        f"perfect actions of level {newest}, the points that an action loses on average, and the",
        "mistakes of other players:",
        *_aligned(rows),
        *([] if best is None else [f"The reference is {name_of(best)}."]),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"  {row[0]:{widths[0]}}"
        + "".join(f"{field:>{width + GAP}}" for field, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
