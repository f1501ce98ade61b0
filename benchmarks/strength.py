"""Measure the strength of Othello players in matches against a ladder of opponents, as a Markdown table.

    python benchmarks/strength.py 'search:negascout?depth=4&evaluation=article'
    python benchmarks/strength.py random greedy_discs --matches 20 --opponents 'gtp:gtp-rhino -l 1'
    python benchmarks/strength.py perfect --game othello_4x4 --opponents random 'search:negascout?depth=2'

The ladder is gtp-rhino from level 1 to level 5, a third-party program from the Debian package grhino. Each opening is
played from both seats, one match after another, because tree searches share evaluations among matches of a batch. A
draw is half a point; intervals are Wilson's at 95 %. Seconds are the time of a match, milliseconds the processor time
of this process for a move; both depend on the load of the computer. The matches do not, if the players are
deterministic and have no time limit.
"""

import project_environment

import argparse
import logging
import platform
import sys
from statistics import mean
from time import perf_counter

import torch
from probcut import Timed
from search import machine

from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game, make_game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import wilson_interval
from selfplay.matches.series import CountedMatches, PairResult, Series
from selfplay.named_players.make import make_player
from selfplay.protocols.process import command_words
from selfplay.runs.folders import PROJECT_FOLDER

log = logging.getLogger(__name__)

RHINO = "gtp-rhino"
LADDER = [f"gtp:{RHINO} -l {level}?time_limit=600" for level in range(1, 6)]
"""The time limit is long because level 5 thinks for more than a minute about some moves."""


def ladder() -> list[str]:
    """The default opponents. Raises SettingError if they are not installed."""
    try:
        command_words(RHINO, RHINO)
    except SettingError as error:
        raise SettingError(
            f"{RHINO} is not installed; run apt-get install grhino, or name opponents with --opponents"
        ) from error
    return LADDER


def play(game: Game, players: tuple[Timed, Timed], options: argparse.Namespace) -> PairResult:
    """The matches of one pair, which do not depend on the other pairs. The log has the results after every tenth."""
    key = stream_key(options.seed, 0, Activity.TOURNAMENT)
    series = Series(range(options.matches), key, opening_plies=options.opening_plies, batch_size=1)
    so_far = CountedMatches(options.opening_plies)

    def watch(record: MatchRecord) -> None:
        so_far.add(record)
        played = so_far.results.matches
        if played % 10 == 0 and played < options.matches:
            log.info("%d of %d matches: %s", played, options.matches, so_far.results.by_player)

    return series.play(game, players, watch)


def row(names: tuple[str, str], players: tuple[Timed, Timed], result: PairResult, seconds: float) -> str:
    low, high = wilson_interval(result.evidence.points, result.evidence.matches)
    cells = (
        *names,
        str(result.results),
        f"{result.results.score:.3f}",
        f"{low:.3f}..{high:.3f}",
        f"{result.forfeits}, {result.opponent_forfeits}",
        f"{seconds / result.results.matches:.2f}",
        # The first move may compile.
        ", ".join(f"{1000 * mean(player.seconds[1:]):.1f}" for player in players),
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+", metavar="player", help="names, as in selfplay tournament --help")
    parser.add_argument("--opponents", nargs="+", metavar="PLAYER", help="instead of the ladder")
    parser.add_argument("--game", default="othello")
    parser.add_argument("--matches", type=int, default=40, help="of each pair")
    parser.add_argument("--opening-plies", type=int, default=4, help="random plies at the start")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run-dir", default=PROJECT_FOLDER / "outputs" / "othello", help="the run of level:L")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # The log also says why a match was forfeited.
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    game, opponents = make_game(options.game), options.opponents or ladder()
    print(f"{machine()}; Python {platform.python_version()}; {options.opening_plies} random plies, seed {options.seed}")
    print("\n| player | opponent | won-drawn-lost | score | 95 % | forfeits: own, other | s per match | ms per move |")
    print("|---|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for player in options.players:
        for opponent in opponents:
            one, other = (Timed(make_player(name, game, options.run_dir)) for name in (player, opponent))
            start = perf_counter()
            result = play(game, (one, other), options)
            print(row((player, opponent), (one, other), result, perf_counter() - start), flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
