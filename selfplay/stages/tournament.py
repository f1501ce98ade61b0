"""A round robin: every player plays against every other, and all are rated on one scale.

RUN_DIR/tournament/pairs.csv     a row per pair: sampled counts, and exact probabilities where the game is small
RUN_DIR/tournament/players.csv   a row per player: rating with interval, results, exact grade
RUN_DIR/tournament/scores.png    the score of each player against each other
"""

import logging
from functools import cache
from itertools import combinations

import numpy as np

from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.errors import GameTooLargeError
from selfplay.executors import open_executor
from selfplay.figures.style import save_figure, write_source
from selfplay.figures.tournament import score_map
from selfplay.games import Game, make_game
from selfplay.games.position_graph import positions_of
from selfplay.games.win_draw_loss import WinDrawLoss, mean_of_seats
from selfplay.grading.proof import FIRST, SECOND, Grade, Grader, Policy
from selfplay.grading.tables import write_csv
from selfplay.grading.tournament_tables import Pair, Tournament
from selfplay.matches.series import PairMatches, PairResult, play_pairs
from selfplay.players.capabilities import HasPolicy
from selfplay.players.player import Player
from selfplay.players.player_names import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunContext, prepare_process
from selfplay.settings.matches import TournamentSettings

log = logging.getLogger(__name__)


def play_tournament(settings: TournamentSettings, progress: ProgressBar = NoProgress) -> Tournament:
    """Play the tournament, and write the tables and the figure. The players do not learn from the matches.

    Raises as `selfplay.players.player_names.make_player`, and StageError if a file cannot be written.
    """
    context = prepare_process(settings)
    players = [make_player(name, context.game, settings.run_dir) for name in settings.players]
    results = _play_pairs(context, progress)
    tournament = Tournament(list(settings.players), results, *_exact_figures(context.game, players))
    folder = context.run.tournament
    write_csv(tournament.pairs_table(), folder / "pairs.csv")
    write_csv(tournament.players_table(), folder / "players.csv")
    figure = score_map(tournament.names, tournament.scores())
    write_source(figure, f"{context.game.presentation.title}, tournament, {settings.matches} matches per pair")
    save_figure(figure, folder / "scores.png")
    return tournament


def _play_pairs(context: RunContext[TournamentSettings], progress: ProgressBar) -> dict[Pair, PairResult]:
    settings = context.settings
    pairs = list(combinations(range(len(settings.players)), 2))
    key = np.array([stream_key(settings.seed, 0, Activity.TOURNAMENT)])
    tasks = [
        PairMatches(
            settings,
            (settings.players[one], settings.players[other]),
            _player_named,
            settings.matches,
            int(fold(key, np.array([number]))[0]),
            settings.opening_plies,
            settings.epsilons,
        )
        for number, (one, other) in enumerate(pairs)
    ]
    _cached_player.cache_clear()
    with open_executor(settings.executor) as executor:
        files = context.run.player_files()
        return dict(zip(pairs, play_pairs(tasks, executor, files, progress, "tournament"), strict=True))


def _player_named(settings: TournamentSettings, game: Game, name: str) -> Player:
    return _cached_player(name, settings.game.name, settings.run_dir)


@cache
def _cached_player(name: str, game_name: str, run_dir: str) -> Player:
    """A player of the tournament, made once in each process, because some build tables or start a program."""
    return make_player(name, make_game(game_name), run_dir)


def _exact_figures(game: Game, players: list[Player]) -> tuple[dict[Pair, WinDrawLoss[float]], list[Grade | None]]:
    """Exact probabilities of pairs and grades of players, without the exploration of the tournament.

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


def _over_both_seats(grader: Grader, one: tuple[Policy, Policy], other: tuple[Policy, Policy]) -> WinDrawLoss[float]:
    return mean_of_seats(
        grader.outcomes(one[FIRST], other[SECOND]), grader.outcomes(other[FIRST], one[SECOND]).reversed()
    )
