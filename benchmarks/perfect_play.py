"""Measure Connect Four players against perfect play, as a Markdown table.

    python benchmarks/perfect_play.py pretrained level:15
    python benchmarks/perfect_play.py level:5 level:15 'search:negascout?depth=6&evaluation=level:15' --matches 200
    python benchmarks/perfect_play.py level:15 --blocks

Mistakes: the share of the published positions (tests/data/connect_four.json, 50 in each group) in which the action
gives a win or a draw away, as AlphaZero.jl counts them: lost positions, where no action can, count as well. Then won,
drawn and lost matches against a player that takes any of the best actions, from the start. With --blocks players take
wins and avoid actions after which the opponent can win at once.
"""

import project_environment

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import Game, State, make_game
from selfplay.grading.measures import play_against_perfect
from selfplay.matches.series import Series
from selfplay.named_players.make import make_player
from selfplay.players.best_value import BestValuePlayer
from selfplay.players.perfect import SolverPlayer
from selfplay.players.player import Player
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.search.exact_solver import make_exact_solver

POSITIONS = PROJECT_FOLDER / "tests" / "data" / "connect_four.json"


class Blocking(BestValuePlayer):
    """Takes the best action of `player`, but prefers wins, and actions after which the opponent cannot win at once."""

    def __init__(self, game: Game, player: Player, run_dir: Path) -> None:
        super().__init__("lowest")
        self.game, self.player, self.name = game, player, f"{player.name}, blocks"
        self._threats = make_player("search:negascout?depth=2&evaluation=none", game, run_dir)

    def _values(self, state: State) -> np.ndarray:
        return (self.player.action_values(state) + 3 * self._threats.action_values(state).sign()).double().numpy()


def published() -> dict[str, State]:
    """The published positions by group."""
    game, groups = make_game("connect_four"), defaultdict(list)
    for position in json.loads(POSITIONS.read_text())["positions"]:
        groups[position["group"]].append(game.state_after(position["columns"]))
    return {name: State(*map(torch.cat, zip(*states, strict=True))) for name, states in groups.items()}


def exact_results(perfect: SolverPlayer, state: State) -> Tensor:
    """float32[B, A]: the exact result of each action, -1, 0 or 1; -2 where illegal."""
    values = perfect.action_values(state)
    return values.sign().masked_fill(values.isnan(), -2)


def mistakes(player: Player, groups: dict[str, State], results: dict[str, Tensor]) -> list[float]:
    """The share of mistakes in each group, in percent; `results`: as from `exact_results`."""
    shares = []
    for name, state in groups.items():
        draws = Draws(0, torch.arange(state.batch_size), 0)
        taken = results[name].gather(1, player.act(state, draws)[:, None])[:, 0]
        shares.append(100 * float((taken < results[name].amax(dim=1)).double().mean()))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+", help="names of players, such as level:15")
    parser.add_argument("--run-dir", type=Path, default=Path("outputs/connect_four"))
    parser.add_argument("--matches", type=int, default=50, help="in each seat")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--blocks", action="store_true", help="players take wins and avoid immediate losses")
    options = parser.parse_args()
    torch.set_num_threads(1)
    game, groups = make_game("connect_four"), published()
    perfect = SolverPlayer(make_exact_solver(game))
    results = {name: exact_results(perfect, state) for name, state in groups.items()}
    print(f"| player | mistakes, %: {' / '.join(groups)} | moving first | moving second |\n|---|---|---|---|")
    for name in options.players:
        player = make_player(name, game, options.run_dir)
        player = Blocking(game, player, options.run_dir) if options.blocks else player
        shares = " / ".join(f"{share:.0f}" for share in mistakes(player, groups, results))
        key = stream_key(options.seed, 0, Activity.VERSUS_PERFECT)
        seats = play_against_perfect(perfect, {0: player}, Series(range(options.matches), key, alternate=False))[0]
        first, second = ("-".join(map(str, seat)) for seat in seats)
        print(f"| `{name}` | {shares} | {first} | {second} |", flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
