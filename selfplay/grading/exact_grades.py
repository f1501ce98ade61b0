"""The exact grades of all levels, in a game that can be enumerated."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import pandas as pd

from selfplay.games.game import SEATS
from selfplay.games.win_draw_loss import mean_of_seats
from selfplay.grading.measures import Compared, Measure, Shown
from selfplay.grading.proof import Grade, Grader, Lines, is_unbeatable, lines_text, share_text
from selfplay.grading.schedule import Who
from selfplay.grading.tables import GRADE_COLUMNS, Row


def _lines_text(lost: int, total: int) -> str:
    return lines_text(Lines(lost, total))


class ExactGrades(Measure):
    """How each level plays in every position, against every reply."""

    columns = GRADE_COLUMNS
    shown = (
        Shown("p(loss)", ["exact_loss_vs_random"], share_text, "p(loss): to random, exactly"),
        Shown("lost first", ["losing_lines_first", "lines_first"], _lines_text, "lost: of all lines tried"),
        Shown("lost second", ["losing_lines_second", "lines_second"], _lines_text),
        Shown("optimal", ["optimal_action_rate"], "{:.3f}".format, "optimal: best actions"),
    )

    def __init__(self, compared: Compared, grader: Grader) -> None:
        super().__init__(compared)
        self.grader = grader
        self.grades: dict[Who, Grade] = {level: grader.grade(compared.players[level]) for level in compared.levels}

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        return None if compared.grader is None else cls(compared, compared.grader)

    @classmethod
    def of_new_level(cls, compared: Compared) -> Row | None:
        grader = compared.grader
        return None if grader is None else grader.grade(compared.players[compared.newest]).fields()

    @property
    def ceiling(self) -> float | None:
        """The largest share of matches that a player who never loses can win against the random player, if known."""
        best = np.mean(self.grader.best_versus_random(never_lose=True))
        return None if np.isnan(best) else float(best)

    def fields(self, who: Who) -> Row:
        return self.grades[who].fields()

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """Whether the newest level can lose, its exact result against the random player, and a shortest lost line."""
        level = self.compared.newest
        grade = self.grades[level]
        lines = [grade.verdict(f"Level {level}"), self._versus_random_text(grade)]
        if not all(self.grader.can_hold(seat) for seat in range(2)):
            missed, total = grade.wins_given_away
            deed = f"gives the win away in {missed} of the" if missed else "plays a winning action in all"
            lines.append(f"Level {level} {deed} {total} positions that the player to move can win.")
        elif proved := [n for n in self.compared.levels if is_unbeatable(self.grades[n].lines)]:
            lines.append(f"Levels proved unbeatable: {_ranges(proved)}.")
        return [*lines, *self._lost_lines(grade)]

    def _versus_random_text(self, grade: Grade) -> str:
        win, draw, loss = mean_of_seats(*grade.versus_random)
        shares = f"{share_text(win)}, draws {share_text(draw)}, loses {share_text(loss)}"
        text = f"Against the random player it wins exactly {shares}"
        if self.ceiling is None:
            return f"{text}."
        return f"{text};\na player who never loses can win at most {self.ceiling:.4f}."

    def _lost_lines(self, grade: Grade) -> list[str]:
        """A shortest lost line in each seat in which perfect play does not lose."""
        lines: list[str] = []
        for seat, actions in enumerate(grade.shortest_loss):
            if actions is not None and self.grader.can_hold(seat):
                lines += [f"A shortest line that level {self.compared.newest} loses, moving {SEATS[seat]}:", ""]
                lines.append(self.compared.game.presentation.line_text(actions))
        return lines


def _ranges(numbers: Sequence[int]) -> str:
    """[1, 2, 3, 7] as "1 to 3, 7"."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [part.tolist() for part in np.split(np.array(numbers), breaks)]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
