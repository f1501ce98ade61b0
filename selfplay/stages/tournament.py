"""A round robin: every player meets every other, and all are rated on one scale.

RUN_DIR/tournament/pairs.csv     a row a pair: sampled counts, and exact probabilities where the game is small
RUN_DIR/tournament/players.csv   a row a player: rating with interval, results, exact figures
RUN_DIR/tournament/scores.png    the score of each player against each other
"""

import logging
from contextlib import closing
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from selfplay.compute.devices import chosen_device
from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.errors import GameTooLargeError
from selfplay.executors import open_executor
from selfplay.figures.style import save_figure
from selfplay.figures.tournament import score_map
from selfplay.games import Game, make_game
from selfplay.games.position_graph import positions_of
from selfplay.grading.comparison import grade_columns
from selfplay.grading.proof import FIRST, SECOND, Grade, Grader, Outcomes, Policy
from selfplay.grading.ratings import bradley_terry_ratings, rating_half_widths
from selfplay.matches.result_counts import Tally, tally_matches
from selfplay.players.capabilities import HasPolicy
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.registry import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import written_whole
from selfplay.settings.matches import TournamentSettings

log = logging.getLogger(__name__)

SHOWN = (
    *("player", "rating", "95 %", "wins", "draws", "losses"),
    *("exact_win_vs_random", "exact_loss_vs_random", "losing_lines_first", "losing_lines_second"),
)
"""The columns of players.csv that fit the screen."""

Pair = tuple[int, int]
"""The numbers of two players, the lower one first."""


class Tournament(NamedTuple):
    """The results of P players."""

    names: list[str]
    tallies: dict[Pair, Tally]
    """Counted for the first of each pair."""
    exact: dict[Pair, Outcomes]
    """What is certain for the first of each pair, over both seats; empty if the game is too large to enumerate."""
    grades: list[Grade | None]
    """Of each player; empty if the game is too large to enumerate. Players that follow their matches have none."""

    def scores(self) -> NDArray[np.float64]:
        """float64[P, P]: the points of each player against each other, a draw half a point; 0 on the diagonal."""
        scores = np.zeros((len(self.names), len(self.names)))
        for (one, other), tally in self.tallies.items():
            scores[one, other] = tally.wins + tally.draws / 2
            scores[other, one] = tally.losses + tally.draws / 2
        return scores

    def pairs_table(self) -> pd.DataFrame:
        """pairs.csv"""
        rows = []
        for pair, tally in self.tallies.items():
            names = {"player": self.names[pair[0]], "opponent": self.names[pair[1]]}
            exact = self.exact[pair]._asdict() if pair in self.exact else dict.fromkeys(Outcomes._fields)
            rows.append(names | tally._asdict() | {f"exact_{name}": value for name, value in exact.items()})
        return pd.DataFrame(rows)

    def players_table(self) -> pd.DataFrame:
        """players.csv, the best rated first."""
        scores = self.scores()
        ratings = bradley_terry_ratings(scores)
        half_widths = rating_half_widths(scores, ratings)
        table = pd.DataFrame({"player": self.names, "rating": ratings})
        table["rating_low"], table["rating_high"] = ratings - half_widths, ratings + half_widths
        for name, count in zip(("wins", "draws", "losses"), self._totals().T, strict=True):
            table[name] = count
        exact = pd.DataFrame([grade_columns(grade) for grade in self.grades])
        table = pd.concat([table, exact], axis=1)
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)

    def _totals(self) -> NDArray[np.int64]:
        totals = np.zeros((len(self.names), 3), dtype=np.int64)
        for (one, other), tally in self.tallies.items():
            counts = tally.wins, tally.draws, tally.losses
            totals[one] += counts
            totals[other] += counts[::-1]
        return totals


def play_tournament(settings: TournamentSettings, progress: ProgressBar = NoProgress) -> Tournament:
    """Let all players meet and write the tables and the figure. No player learns from it.

    Raises as `selfplay.players.registry.make_player`, and StageError if a file cannot be written.
    """
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    players = [make_player(name, game, settings.run_dir) for name in settings.players]
    tallies = _play_pairs(settings, progress)
    tournament = Tournament(list(settings.players), tallies, *_exact_figures(game, players))
    folder = RunFolder(Path(settings.run_dir)).tournament
    _write_table(folder / "pairs.csv", tournament.pairs_table())
    _write_table(folder / "players.csv", tournament.players_table())
    save_figure(score_map(tournament.names, tournament.scores()), folder / "scores.png")
    return tournament


def tournament_report(tournament: Tournament) -> str:
    """The cross-table of wins-draws-losses, the row's player first, and the table of players, for the screen."""
    names = tournament.names
    cells = [["" for _ in names] for _ in names]
    for (one, other), tally in tournament.tallies.items():
        cells[one][other] = f"{tally.wins}-{tally.draws}-{tally.losses}"
        cells[other][one] = f"{tally.losses}-{tally.draws}-{tally.wins}"
    numbers = [str(number) for number in range(1, len(names) + 1)]
    index = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
    cross = pd.DataFrame(cells, index=index, columns=numbers).to_string()
    table = tournament.players_table()
    ends = zip(table["rating_low"], table["rating_high"], strict=True)
    table["95 %"] = [f"{low:.0f}..{high:.0f}" for low, high in ends]
    table["rating"] = table["rating"].round().astype(int)
    table = table[[column for column in SHOWN if column in table]]
    shown = table.to_string(index=False, float_format="{:.4f}".format)
    return "\n\n".join([cross, shown, *_forfeits_told(tournament)])


def _forfeits_told(tournament: Tournament) -> list[str]:
    """A paragraph with a line for each player and opponent against whom it gave up matches; none if nobody did."""
    names = tournament.names
    counts = [
        (player, opponent, count)
        for (one, other), tally in tournament.tallies.items()
        for player, opponent, count in (
            (names[one], names[other], tally.forfeits),
            (names[other], names[one], tally.opponent_forfeits),
        )
    ]
    lines = [f"{player} forfeited {count} of its losses against {other}" for player, other, count in counts if count]
    return ["\n".join(lines)] if lines else []


class Encounter(NamedTuple):
    """The matches of a pair."""

    settings: TournamentSettings
    number: int
    """Of the pair, from 0."""
    pair: Pair


def _play_pairs(settings: TournamentSettings, progress: ProgressBar) -> dict[Pair, Tally]:
    pairs = list(combinations(range(len(settings.players)), 2))
    encounters = [Encounter(settings, number, pair) for number, pair in enumerate(pairs)]
    tallies: dict[Pair, Tally] = {}
    _exploring_player.cache_clear()
    with closing(progress(total=len(pairs), desc="tournament")) as bar, open_executor(settings.executor) as executor:
        results = executor.map(play_encounter, encounters, RunFolder(Path(settings.run_dir)).player_files())
        for pair, tally in zip(pairs, results, strict=True):
            tallies[pair] = tally
            bar.update(1)
    return tallies


def play_encounter(encounter: Encounter) -> Tally:
    """Play the matches of a pair, counted for the first of them."""
    settings, number, pair = encounter
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    names = (settings.players[one] for one in pair)
    one, other = (_exploring_player(name, game.name, settings.run_dir, tuple(settings.epsilons)) for name in names)
    key = stream_key(settings.seed, 0, Activity.TOURNAMENT)
    pair_key = int(fold(np.array([key]), np.array([number]))[0])
    size, plies, device = settings.batch_size, settings.opening_plies, chosen_device(settings.device)
    return tally_matches(game, (one, other), settings.matches, pair_key, size, plies, device)


@cache
def _exploring_player(name: str, game_name: str, run_dir: str, epsilons: tuple[float, ...]) -> Player:
    """A player of the tournament, made once in a process: some search, some start a program."""
    game = make_game(game_name)
    player = make_player(name, game, run_dir)
    return EpsilonGreedyPlayer(game, player, epsilons) if any(epsilons) else player


def _exact_figures(game: Game, players: list[Player]) -> tuple[dict[Pair, Outcomes], list[Grade | None]]:
    """Of the players as they are, without the exploration of the tournament.

    A player without a policy for arbitrary positions cannot be graded exactly.
    """
    try:
        grader = Grader(positions_of(game.name))
    except GameTooLargeError:
        return {}, []
    gradable = {number: player for number, player in enumerate(players) if player.as_a(HasPolicy) is not None}
    for number, player in enumerate(players):
        if number not in gradable:
            log.info("%s only plays matches, so it is not graded exactly", player.name)
    policies = {number: grader.policies(player) for number, player in gradable.items()}
    exact = {
        (one, other): _over_both_seats(grader, policies[one], policies[other])
        for one, other in combinations(gradable, 2)
    }
    return exact, [grader.grade(player) if number in gradable else None for number, player in enumerate(players)]


def _over_both_seats(grader: Grader, one: tuple[Policy, Policy], other: tuple[Policy, Policy]) -> Outcomes:
    first = grader.outcomes(one[FIRST], other[SECOND])
    second = reversed(grader.outcomes(other[FIRST], one[SECOND]))
    return Outcomes(*((a + b) / 2 for a, b in zip(first, second, strict=True)))


def _write_table(path: Path, table: pd.DataFrame) -> None:
    with written_whole(path) as beside:
        table.to_csv(beside, index=False)
    log.info("wrote %s", path)
