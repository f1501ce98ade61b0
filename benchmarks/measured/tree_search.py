"""Simulations of tree search with random matches per second, beside OpenSpiel where it is installed."""

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

import torch

from measured.positions import random_positions
from selfplay.games import Game, State, make_game
from selfplay.search.mcts.evaluator import RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch

OPEN_SPIEL_NAMES = {"tictactoe": "tic_tac_toe", "connect_four": "connect_four"}
"""The games that both have, with the same actions."""
SIMULATIONS, POSITIONS, OPENING_PLIES, C = 1000, 64, 4, 1.4
SLOW_POSITIONS = 4
"""Positions that OpenSpiel's search in Python is measured with."""
MEMORY_MB = 1000

Search = Callable[[], int]
"""Searches positions; returns the number of simulations."""


def rollouts_per_second(options: Namespace) -> None:
    """Print the simulations per second of processor time of UCT with one random match each, by program."""
    print(f"\nSimulations per second: UCT, {SIMULATIONS:,} simulations of one random match for a position, no proofs")
    if not find_spec("pyspiel"):
        print("\nOpenSpiel is not installed and left out: pip install open_spiel")
    names = [name for name in options.games if name in OPEN_SPIEL_NAMES]
    rates = {name: _rates(make_game(name), max(3, options.repeats)) for name in names}
    print(f"\n| search | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for search in next(iter(rates.values()), {}):
        print(f"| {search} | {' | '.join(f'{rates[name][search]:,.0f}' for name in names)} |")


def _rates(game: Game, repeats: int) -> dict[str, float]:
    """The median of the rates of each search, measured in turn."""
    state, played = random_positions(game, POSITIONS, OPENING_PLIES, key=1)
    searches: dict[str, Search] = {
        "one position at a time": partial(_one_at_a_time, game, state),
        f"{POSITIONS} positions at a time": partial(_together, game, state),
    }
    if find_spec("pyspiel"):
        searches["OpenSpiel, pyspiel.MCTSBot (C++)"] = partial(_open_spiel, game, played, _compiled_bot)
        searches["OpenSpiel, mcts.MCTSBot (Python)"] = partial(_open_spiel, game, played[:SLOW_POSITIONS], _python_bot)
    measured: dict[str, list[float]] = {name: [] for name in searches}
    _together(game, state)
    for _ in range(repeats):
        for name, search in searches.items():
            start = process_time()
            simulations = search()
            measured[name].append(simulations / (process_time() - start))
    return {name: median(rates) for name, rates in measured.items()}


def _tree_search(game: Game) -> TreeSearch:
    return TreeSearch(game, RolloutEvaluator(), make_rule("uct", {"c": C}), SIMULATIONS, proves=False)


def _together(game: Game, state: State) -> int:
    return int(_tree_search(game).search(state).visits.sum())


def _one_at_a_time(game: Game, state: State) -> int:
    search = _tree_search(game)
    rows = torch.arange(state.batch_size).split(1)
    return sum(int(search.search(state.select(row)).visits.sum()) for row in rows)


def _open_spiel(game: Game, played: list[list[int]], bot_of: Callable[[Any], Any]) -> int:
    """The same search by OpenSpiel."""
    import pyspiel

    theirs, simulations = pyspiel.load_game(OPEN_SPIEL_NAMES[game.name]), 0
    bot = bot_of(theirs)
    for actions in played:
        state = theirs.new_initial_state()
        for action in actions:
            state.apply_action(action)
        simulations += bot.mcts_search(state).explore_count
    return simulations


def _compiled_bot(game: Any) -> Any:
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    return pyspiel.MCTSBot(game, evaluator, C, SIMULATIONS, MEMORY_MB, False, 0, False)


def _python_bot(game: Any) -> Any:
    from open_spiel.python.algorithms import mcts

    return mcts.MCTSBot(game, C, SIMULATIONS, mcts.RandomRolloutEvaluator(1), solve=False)
