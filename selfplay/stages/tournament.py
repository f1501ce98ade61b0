"""A round robin: every player plays against every other, and all are rated on one scale.

RUN_DIR/tournament/pairs.csv     a row per pair: sampled counts, and exact probabilities where the game is small;
                                 written after each pair, so that an interrupted tournament resumes
RUN_DIR/tournament/players.csv   a row per player: rating with interval, results, exact grade
RUN_DIR/tournament/scores.png    the score of each player against each other
"""

import logging
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import combinations, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.errors import GameTooLargeError
from selfplay.figures.style import save_figure, write_source
from selfplay.figures.tournament import score_map
from selfplay.games import Game, make_game
from selfplay.games.position_graph import positions_of
from selfplay.games.win_draw_loss import WinDrawLoss, mean_of_seats, share_text, summed
from selfplay.grading.proof import FIRST, GRADE_COLUMNS, SECOND, Grade, Grader
from selfplay.grading.ratings import PLAYER_COLUMNS, points_won, rate
from selfplay.matches.series import PairResult, PairSeries, Series
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.settings.matches import TournamentSettings
from selfplay.settings.run import Run, opened
from selfplay.stages.pairs import play_pairs, write_match
from selfplay.stages.tournament_pairs import FILE, PLAYERS, SCORES, FinishedPairs, Pair, pairs_table
from selfplay.tables import data_frame, write_csv

log = logging.getLogger(__name__)


class Tournament(NamedTuple):
    """The results of P players."""

    names: list[str]
    results: dict[Pair, PairResult]
    """Counted for the first of each pair."""
    exact: dict[Pair, WinDrawLoss[float]]
    """Exact probabilities for the first of each pair, over both seats; empty if the game is too large to enumerate."""
    grades: list[Grade | None]
    """The grade of each player, None for players that follow their matches; empty if the game is too large."""

    def by_player(self) -> dict[Pair, WinDrawLoss[int]]:
        """The results of each pair, counted for either of the two."""
        counted = {pair: played.results for pair, played in self.results.items()}
        return counted | {(other, one): results.reversed() for (one, other), results in counted.items()}

    def scores(self) -> NDArray[np.float64]:
        """float64[P, P]: the points that each player won against each other, a draw half a point; 0 on the diagonal."""
        return points_won(range(len(self.names)), ((pair, result.results) for pair, result in self.results.items()))

    def pairs_table(self) -> pd.DataFrame:
        """pairs.csv"""
        return pairs_table(self.names, self.results, self.exact)

    def players_table(self) -> pd.DataFrame:
        """players.csv, the highest rating first."""
        numbers = range(len(self.names))
        ratings = rate(numbers, ((pair, result.evidence) for pair, result in self.results.items()))
        rows = [
            {
                "player": name,
                **ratings[number].fields(),
                **summed(results for (one, _), results in self.by_player().items() if one == number)._asdict(),
                **(grade.fields() if grade else {}),
            }
            for number, (name, grade) in enumerate(zip_longest(self.names, self.grades))
        ]
        table = data_frame(PLAYER_COLUMNS | (GRADE_COLUMNS if self.grades else {}), rows)
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)


def play_tournament(settings: TournamentSettings, progress: ProgressBar = NoProgress) -> Tournament:
    """Play the tournament, and write the tables and the figure. The players do not learn from the matches.

    An interrupted tournament resumes after its last finished pair; one whose files are all there writes nothing.

    Raises as `selfplay.named_players.make.make_player`, RunLockedError if another process or thread is using the run,
    StageError if a file cannot be written, or the run has a tournament with other settings, and InvalidFileError if
    pairs.csv is broken.
    """
    with opened(settings, create=True) as run:
        players = [make_player(name, run.game, settings.run_dir) for name in settings.players]
        folder, pairs = run.folder.tournament, list(combinations(range(len(players)), 2))
        finished = FinishedPairs(settings, folder, pairs)
        _play_pairs(run, pairs, finished, progress)
        results = {pair: finished.results[pair] for pair in pairs}
        tournament = Tournament(list(settings.players), results, *_exact_figures(run.game, players))
        if not finished.is_whole:
            write_csv(tournament.pairs_table(), folder / FILE)
            write_csv(tournament.players_table(), folder / PLAYERS)
            figure = score_map(tournament.names, tournament.scores())
            write_source(figure, f"{run.game.presentation.title}, tournament, {settings.matches} matches per pair")
            save_figure(figure, folder / SCORES)
            finished.record_whole()
        return tournament


def _play_pairs(
    run: Run[TournamentSettings], pairs: list[Pair], finished: FinishedPairs, progress: ProgressBar
) -> None:
    """Play the pairs that are not finished."""
    settings, missing = run.settings, finished.missing
    if not missing:
        return
    key = np.array([stream_key(settings.seed, 0, Activity.TOURNAMENT)])
    whole = Series(range(settings.matches), 0, opening_plies=settings.opening_plies, epsilons=settings.epsilons)
    series = [
        PairSeries(
            (settings.players[pairs[number][0]], settings.players[pairs[number][1]]),
            replace(whole, key=int(fold(key, np.array([number]))[0])),
        )
        for number in missing
    ]
    _cached_player.cache_clear()
    keep_matches = settings.sgf is not None
    playing = play_pairs(run, series, _player_named, progress, "tournament", keep_matches=keep_matches)
    with closing(playing) as played:
        for number, (result, matches) in zip(missing, played, strict=True):
            one, other = pairs[number]
            for place, match in enumerate(matches, 1):
                write_match(Path(settings.sgf or "") / f"{one + 1}_{other + 1}", place, match)
            finished.add((one, other), result)


def _player_named(run: Run[TournamentSettings], name: str) -> Player:
    return _cached_player(name, run.settings.game.name, run.settings.run_dir)


@cache
def _cached_player(name: str, game_name: str, run_dir: str) -> Player:
    """A player of the tournament, made once in each process, because some build tables or start a program."""
    return make_player(name, make_game(game_name), run_dir)


def _exact_figures(game: Game, players: list[Player]) -> tuple[dict[Pair, WinDrawLoss[float]], list[Grade | None]]:
    """Exact probabilities of pairs and grades of players, without the exploration of the tournament.

    A player without a policy for arbitrary positions cannot be graded exactly.
    """
    try:
        grader = Grader(positions_of(game))
    except GameTooLargeError:
        return {}, []
    gradable = {number: player for number, player in enumerate(players) if player.policy(game.init()) is not None}
    for number, player in enumerate(players):
        if number not in gradable:
            log.info("%s only plays matches, so it is not graded exactly", player.name)
    policies = {number: grader.policies(player) for number, player in gradable.items()}
    exact = {}
    for one, other in combinations(gradable, 2):
        moving_first = grader.outcomes(policies[one][FIRST], policies[other][SECOND])
        moving_second = grader.outcomes(policies[other][FIRST], policies[one][SECOND]).reversed()
        exact[one, other] = mean_of_seats(moving_first, moving_second)
    return exact, [grader.grade(player) if number in gradable else None for number, player in enumerate(players)]


# ---------------------------------------------------------------------- the report

SHOWN = (
    *("player", "rating", "95 %", "wins", "draws", "losses"),
    *("exact_win_vs_random", "exact_loss_vs_random", "losing_lines_first", "losing_lines_second"),
)
"""The columns of players.csv that are shown, to fit the screen."""


def tournament_report(tournament: Tournament) -> str:
    """The cross-table of wins-draws-losses, counted for the player of the row, and the table of players."""
    names = tournament.names
    cells = [["" for _ in names] for _ in names]
    for (one, other), results in tournament.by_player().items():
        cells[one][other] = str(results)
    numbers = [str(number) for number in range(1, len(names) + 1)]
    index = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
    cross = pd.DataFrame(cells, index=index, columns=numbers).to_string()
    table = tournament.players_table()
    ends = zip(table["rating_low"], table["rating_high"], strict=True)
    table["95 %"] = [f"{low:.0f}..{high:.0f}" for low, high in ends]
    table["rating"] = table["rating"].round().astype(int)
    table = table[[column for column in SHOWN if column in table]]
    shown = table.astype(object).fillna("").to_string(index=False, float_format=share_text)
    return "\n\n".join([cross, shown, *_copies_text(tournament), *_forfeits_text(tournament)])


def _copies_text(tournament: Tournament) -> list[str]:
    """A paragraph about pairs with random openings, and about pairs with copies; empty if there are neither."""
    played = tournament.results.values()
    opened = [result for result in played if result.opening_plies]
    copied = [result for result in played if result.evidence.matches < result.results.matches]
    lines = []
    if opened:
        begun = f"begun with {opened[0].opening_plies} random plies, the same from both sides (opening_plies)"
        lines.append(f"The matches of {len(opened)} of {len(played)} pairs have {begun}.")
    if copied:
        fewest, most = (end(result.distinct for result in copied) for end in (min, max))
        differ = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        of = f"Only {differ} of the {copied[0].results.matches} matches differ in {len(copied)} of {len(played)} pairs"
        lines.append(f"{of}; copies do not count in ratings and intervals.")
    return ["\n".join(lines)] if lines else []


def _forfeits_text(tournament: Tournament) -> list[str]:
    """A paragraph with a line for each pair in which a player forfeited matches; empty if there are none."""
    lines = []
    for (one, other), result in tournament.results.items():
        for loser, winner, count in ((one, other, result.forfeits), (other, one, result.opponent_forfeits)):
            if count:
                name, opponent = tournament.names[loser], tournament.names[winner]
                lines.append(f"{name} forfeited {count} of its losses against {opponent}")
    return ["\n".join(lines)] if lines else []
