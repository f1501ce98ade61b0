"""Measure what ProbCut saves in searches of Othello, and what it is worth in matches, as Markdown tables.

    python benchmarks/probcut.py searches --depths 8 10
    python benchmarks/probcut.py matches --pairs 9:1.5,8 --matches 200

Searches: the processor time and the positions visited, with each threshold in turn for each position, as shares of the
exact search; medians. Matches: DEPTH:THRESHOLD against an exact search to DEPTH (or another DEPTH:THRESHOLD), after
eight random plies, each opening from both seats, with the processor time of each player.
"""

import project_environment

import argparse
from statistics import mean, median
from time import process_time

import torch
from measured.positions import random_positions
from torch import Tensor

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import Game, State, make_game
from selfplay.matches.series import Series
from selfplay.named_players.make import make_player
from selfplay.players.player import Player, PlayerWrapper
from selfplay.players.search import SearchPlayer

OPENING_PLIES = 8
POSITION_PLIES = (8, 14, 20)
THRESHOLDS = (1.0, 1.5, 2.0)
WARM_UP_DEPTH = 3


class Timed(PlayerWrapper):
    """Keeps the processor time that a player takes for its actions, in one match or a batch."""

    def __init__(self, player: Player) -> None:
        super().__init__(player)
        self.seconds: list[float] = []

    def act(self, state: State, draws: Draws) -> Tensor:
        start = process_time()
        actions = self.player.act(state, draws)
        self.seconds.append(process_time() - start)
        return actions


def search_player(game: Game, depth: int, threshold: float | None, evaluation: str) -> SearchPlayer:
    option = "" if threshold is None else f"&probcut={threshold}"
    player = make_player(f"search:negascout?depth={depth}&evaluation={evaluation}{option}", game, "")
    assert isinstance(player, SearchPlayer)
    return player


def measure_searches(game: Game, options: argparse.Namespace) -> None:
    """Time, positions visited, and how often the exact action is found, by depth and threshold."""
    key, count = stream_key(0, 0, Activity.MEASUREMENT), options.positions // 3
    batches = [random_positions(game, count, plies, key)[0] for plies in POSITION_PLIES]
    positions = [state.select(torch.tensor([row])) for state in batches for row in range(count)]
    print(f"\n{len(positions)} positions after {POSITION_PLIES} random plies")
    print("\n| depth | probcut | milliseconds | visited | time | positions | same action |")
    print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for depth in options.depths:
        names = (None, *options.thresholds)
        found = {name: [] for name in names}
        for position in positions:
            for name in names:
                # A new searcher has an empty table.
                searcher = search_player(game, depth, name, options.evaluation).searcher
                searcher.search_batch(position, WARM_UP_DEPTH - 1)
                start = process_time()
                result = searcher.search_batch(position, depth)
                found[name].append((process_time() - start, int(result.visited[0]), int(result.actions[0])))
        for name in names:
            pairs = list(zip(found[name], found[None], strict=True))
            cells = (
                str(depth),
                "none" if name is None else str(name),
                f"{1000 * median(one[0] for one in found[name]):.1f}",
                f"{mean(one[1] for one in found[name]):,.0f}",
                f"{median(one[0] / exact[0] for one, exact in pairs):.2f}",
                f"{median(one[1] / exact[1] for one, exact in pairs):.2f}",
                f"{mean(one[2] == exact[2] for one, exact in pairs):.2f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


def measure_matches(game: Game, options: argparse.Namespace) -> None:
    """Matches, with the processor time of each player."""
    print("\n| player | opponent | won-drawn-lost | score | seconds per match: own | the opponent's |")
    print("|---|---|---:|---:|---:|---:|", flush=True)
    for pair in options.pairs:
        players = [Timed(player_of(game, text, options.evaluation)) for text in pair.split(",")]
        one, other = players
        key = stream_key(options.seed, 0, Activity.TOURNAMENT)
        Series(range(2), key, opening_plies=40).play(game, (one, other))  # compiles the searches
        one.seconds.clear()
        other.seconds.clear()
        series = Series(range(options.matches), key, opening_plies=OPENING_PLIES)
        results = series.play(game, (one, other)).results
        seconds = [f"{sum(player.seconds) / options.matches:.3f}" for player in players]
        cells = (*(player.name for player in players), str(results), f"{results.score:.3f}", *seconds)
        print(f"| {' | '.join(cells)} |", flush=True)


def player_of(game: Game, text: str, evaluation: str) -> Player:
    depth, _, threshold = text.partition(":")
    return search_player(game, int(depth), float(threshold) if threshold else None, evaluation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", choices=("searches", "matches"))
    parser.add_argument("--depths", nargs="+", type=int, default=[8, 10])
    parser.add_argument("--thresholds", nargs="+", type=float, default=list(THRESHOLDS))
    parser.add_argument("--positions", type=int, default=30)
    parser.add_argument("--pairs", nargs="+", metavar="DEPTH:THRESHOLD,DEPTH", default=["9:1.5,8"])
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evaluation", default="pretrained")
    parser.add_argument("--game", default="othello")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measure = {"searches": measure_searches, "matches": measure_matches}[options.section]
    measure(make_game(options.game), options)


if __name__ == "__main__":
    main()
