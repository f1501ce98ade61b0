"""Positions with the exact value of every action, as tests for players; endgame positions, and the measure by them.

Endgame positions come from matches between average players that explore, one position from each match. In games that
turn discs their values are points (empty squares count for the winner), in other games results: 1, 0 or -1.
`selfplay.grading.mistakes` has other positions, for games whose solver reaches the start.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from typing import ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import NotNowError
from selfplay.games.game import Game
from selfplay.games.state import MatchRecord, State
from selfplay.grading.compared_players import Compared, Keep, ValuedPosition, Who, made_anew, name_of
from selfplay.grading.measures import Measure, Shown
from selfplay.matches.series import Series
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.perfect import whole_game_solver_player
from selfplay.players.player import Player, RandomPlayer, policy_of
from selfplay.players.search import SearchPlayer
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import make_exact_solver, solver_class
from selfplay.search.feature_evaluation import RESULT_ONLY, FeatureEvaluation
from selfplay.search.searcher import MAX_DEPTH, Searcher, SearchParameters
from selfplay.tables import SHARE, Columns, Row


class MoveQuality(NamedTuple):
    """How good a player's actions are in some positions; a random policy counts by its probabilities."""

    positions: int
    mistakes: float
    """The share of positions in which its action gives a win or a draw away (the definition of AlphaZero.jl)."""
    perfect: float
    """The share of positions in which its action has the best value."""
    points_lost: float
    """How far the value of its action is below the best one, on average."""


QUALITY_COLUMNS = {"mistake_rate": SHARE, "perfect_rate": SHARE, "points_lost": SHARE}


def quality_fields(quality: MoveQuality, prefix: str = "") -> Row:
    """The fields of QUALITY_COLUMNS, with this prefix."""
    return {f"{prefix}{name}": value for name, value in zip(QUALITY_COLUMNS, quality[1:], strict=True)}


class PositionGrade(NamedTuple):
    """The quality of a player's actions in solved positions."""

    overall: MoveQuality
    groups: Mapping[str, MoveQuality]


class SolvedPositions(NamedTuple):
    """N positions with the exact values of their actions, as a test for players."""

    state: State
    values: NDArray[np.float64]
    """float64[N, A]: the value of each action to the player to move; nan where illegal."""
    groups: tuple[str, ...]

    @classmethod
    def of(cls, game: Game, positions: Sequence[ValuedPosition]) -> "SolvedPositions":
        """These positions (at least one)."""
        state = State(*(torch.cat(fields) for fields in zip(*(position.state for position in positions), strict=True)))
        values = np.full((len(positions), game.num_distinct_actions), np.nan)
        for row, position in enumerate(positions):
            values[row, list(position.values)] = list(position.values.values())
        return cls(state, values, tuple(position.group for position in positions))

    def grade(self, player: Player) -> PositionGrade:
        """The grade of `player`, without exploration. Raises NotNowError if it has no policy."""
        policy = policy_of(player, self.state).numpy()
        best = np.nanmax(self.values, axis=1, keepdims=True)
        # Illegal actions have a probability of 0.
        mistakes = policy * (np.sign(np.nan_to_num(self.values)) < np.sign(best))
        perfect = policy * (self.values == best)
        lost = policy * np.nan_to_num(best - self.values)
        rates = np.stack([table.sum(axis=1) for table in (mistakes, perfect, lost)], axis=1)
        names = np.array(self.groups)
        by_group = {group: _quality(rates[names == group]) for group in dict.fromkeys(self.groups)}
        return PositionGrade(_quality(rates), by_group)


def _quality(rates: NDArray[np.float64]) -> MoveQuality:
    """`rates`: float64[N, 3], the mistakes, perfect actions and points lost of each position."""
    return MoveQuality(len(rates), *rates.mean(axis=0).tolist())


def grades_in(positions: SolvedPositions | None, players: Mapping[Who, Player]) -> dict[Who, PositionGrade]:
    """The grade of each player that can act outside of a match; third-party programs cannot."""
    grades: dict[Who, PositionGrade] = {}
    if positions is not None:
        for who, player in players.items():
            with suppress(NotNowError):
                grades[who] = positions.grade(player)
    return grades


# ---------------------------------------------------------------------- where positions come from

DEPTH, EPSILON = 2, 0.25


def average_player(game: Game, evaluation: FeatureEvaluation) -> Player:
    """A fast player that avoids immediate blunders and explores; its matches resemble those of people."""
    player = SearchPlayer(Searcher(game, evaluation), DEPTH)
    return EpsilonGreedyPlayer(game, player, [EPSILON])


def average_player_name(evaluation: FeatureEvaluation) -> str:
    """What records call the `average_player` with this evaluation."""
    return f"search:negascout?depth={DEPTH}&evaluation={evaluation.name}&epsilon={EPSILON}"


# ---------------------------------------------------------------------- endgame positions

Choose = Callable[[MatchRecord], Iterable[int | None]]
"""A record to the ply of the position that each of its matches gives, in order; None if it gives none."""


def one_of_each_match(game: Game, evaluation: FeatureEvaluation, series: Series, choose: Choose) -> Iterator[State]:
    """A position of each match of the `average_player` against itself, each different one once, in their order."""
    player, seen = average_player(game, evaluation), set[tuple[int, ...]]()
    for record in series.records(game, (player, player)):
        for row, ply in enumerate(choose(record)):
            if ply is None:
                continue
            state = record.states[ply].select(torch.tensor([row]))
            if (position := tuple(state.position[0].tolist())) not in seen:
                seen.add(position)
                yield state


MAX_EMPTIES = 14
"""Empty squares of the earliest positions; on a small board a third of all squares."""
DIFFERENT_EMPTY = 3
"""Number of different counts of empty squares: 12, 13 and 14."""
MAX_MATCHES_PER_POSITION = 20
"""Largest number of matches per requested position that are played to find the positions."""


def endgame_positions(
    game: Game,
    count: int,
    seed: int,
    evaluation: FeatureEvaluation = RESULT_ONLY,
    keep: Keep = made_anew,
    progress: ProgressBar = NoProgress,
) -> SolvedPositions | None:
    """Up to `count` endgame positions in which the choice matters, with their values.

    None if the game has no board of squares that fills, or if no positions are found. Raises what `keep` raises.

    Args:
        evaluation: of the `average_player` whose matches give the positions.
        keep: keeps the positions under the name "endgames".
    """
    if count == 0 or not has_endgames(game):
        return None
    record = {"game": game.name, "endgames": count, "seed": seed}
    key = stream_key(seed, 0, Activity.LATE_POSITIONS)
    solved = keep("endgames", record, lambda: _solved_endgames(game, count, evaluation, key, progress))
    chosen = [position for position in solved if len(set(position.values.values())) > 1]
    return SolvedPositions.of(game, chosen) if chosen else None


def has_endgames(game: Game) -> bool:
    """Whether few empty squares mean a near end: no square becomes empty again in ten random matches."""
    if not game.has_stones:
        return False
    player = RandomPlayer(game)
    (record,) = Series(range(10), key=0).records(game, (player, player))
    is_full = torch.stack([game.squares(state) != 0 for state in record.states])
    return not bool((is_full[:-1] & ~is_full[1:]).any())


def empty_squares(game: Game, state: State) -> Tensor:
    """int64[B]: the empty squares of each position of a game with boards."""
    return (game.squares(state) == 0).sum(dim=1)


def _solved_endgames(
    game: Game, count: int, evaluation: FeatureEvaluation, key: int, progress: ProgressBar
) -> list[ValuedPosition]:
    """At most `count` different positions from matches of an average player, in the order of the matches.

    Each match gives the first position with a choice in which the number of empty squares is the one that follows from
    the number of the match. `key`: the stream of random numbers of the matches.
    """
    series = Series(range(MAX_MATCHES_PER_POSITION * count), key, batch_size=count)
    solve, positions = action_values_to_the_end(game), []
    with closing(progress(total=count, desc="solving endgames")) as bar:
        for state in islice(one_of_each_match(game, evaluation, series, partial(_endgames_in, game)), count):
            positions.append(ValuedPosition(state, solve(state)))
            bar.update(1)
    return positions


def _endgames_in(game: Game, record: MatchRecord) -> list[int | None]:
    """The ply of the endgame position of each match; None if it has none."""
    assert game.num_squares is not None, "only called for games with boards"
    wanted = min(MAX_EMPTIES, game.num_squares // 3) - record.match % DIFFERENT_EMPTY
    ply = torch.full_like(record.match, -1)
    for number, state in enumerate(record.states):
        has_choice = game.legal_action_mask(state).sum(dim=1) > 1
        ply[(empty_squares(game, state) == wanted) & has_choice & (ply < 0)] = number
    return [None if number < 0 else number for number in ply.tolist()]


def action_values_to_the_end(game: Game) -> Callable[[State], dict[int, int]]:
    """A function from the position of one match to the exact values of its legal actions, in ascending order."""
    if game.exact_solver is not None:
        solver = make_exact_solver(game)
        if solver.counts_points:
            return solver.action_values
        return lambda state: {action: int(np.sign(value)) for action, value in solver.action_values(state).items()}
    searcher = Searcher(game, RESULT_ONLY, parameters=SearchParameters(table_bits=20))

    def solve(state: State) -> dict[int, int]:
        values = searcher.action_values(state, min(game.max_game_length, MAX_DEPTH))[0]
        return {action: round(value) for action, value in enumerate(values.tolist()) if value == value}

    return solve


# ---------------------------------------------------------------------- the measure


class Endgames(Measure):
    """How levels and references act in endgame positions, where no exact solver solves matches from their start."""

    columns: ClassVar[Columns] = {"endgame_optimal_rate": SHARE, "endgame_mean_loss": SHARE}
    measures_references = True
    shown = (
        Shown("optimal", ["endgame_optimal_rate"], "{:.3f}".format, "optimal: best actions"),
        Shown("loss", ["endgame_mean_loss"], "{:.2f}".format, "loss: points per action"),
    )

    def __init__(self, compared: Compared) -> None:
        super().__init__(compared)
        game, count = compared.game, compared.parameters.endgames
        self.positions = endgame_positions(
            game, count, compared.seed, compared.evaluation, compared.keep, compared.progress
        )
        self.grades = grades_in(self.positions, compared.players)
        self.counts_points = game.exact_solver is not None and solver_class(game).counts_points

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        if compared.grader is not None or whole_game_solver_player(compared.game) is not None:
            return None
        return cls(compared)

    def fields(self, who: Who) -> Row:
        grade = self.grades.get(who)
        return {
            "endgame_optimal_rate": None if grade is None else grade.overall.perfect,
            "endgame_mean_loss": None if grade is None or not self.counts_points else grade.overall.points_lost,
        }

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """How the newest level, the best reference and the random player act, a line each."""
        if self.positions is None:
            return []
        compared, state = self.compared, self.positions.state
        empties = empty_squares(compared.game, state)
        fewest, most, count = int(empties.min()), int(empties.max()), state.batch_size
        squares = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        opponents: list[Who] = [0, *compared.references]
        best = max((who for who in opponents if who in self.grades), key=lambda who: self.grades[who].overall.perfect)
        where = f"In {count} solved positions with {squares} empty squares, in which the choice matters,"
        lines = [f"{where} a best action is chosen by"]
        for who in dict.fromkeys((compared.newest, best, 0)):
            _, _, optimal, lost = self.grades[who].overall
            given_away = f"; it gives away {lost:.2f} points per move" if self.counts_points else ""
            lines.append(f"  {name_of(who)} in {optimal:.3f} of them{given_away}")
        return lines
