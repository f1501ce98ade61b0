"""Measure the results of tabular learning with its default settings, seed by seed, as Markdown tables.

    python benchmarks/tabular_seeds.py
    python benchmarks/tabular_seeds.py --seeds 100

For each seed: the draws in 1,000 matches between the two trained tables with epsilon 0; the exact probabilities against
the random player over both seats; and how many lines it loses in each seat when every reply is tried. At the end the
speed of learning, without compilation.
"""

import project_environment

import argparse
from time import perf_counter

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.position_graph import PositionGraph, positions_of
from selfplay.games.win_draw_loss import mean_of_seats
from selfplay.grading.proof import FIRST, SECOND, Grader
from selfplay.matches.series import Series
from selfplay.players.tabular import TabularPlayer
from selfplay.tabular.learning import (
    BACKWARD_VALUE,
    TEMPORAL_DIFFERENCE,
    UpdateRule,
    initial_values,
    learn_matches,
)

MATCHES_AT_THE_END = 1000
SETTINGS = ((TEMPORAL_DIFFERENCE, 100_000, 0.1, 0.01), (BACKWARD_VALUE, 20_000, 0.5, 0.1))
"""Rule, matches to learn from, step size, epsilon."""


def learn(graph: PositionGraph, rule: UpdateRule, matches: int, step_size: float, epsilon: float, seed: int):
    """The trained player, and the seconds it took."""
    values = initial_values(graph, rule)
    key = stream_key(seed, 0, Activity.TABULAR_TRAINING)
    start = perf_counter()
    for _ in learn_matches(graph, values, rule, matches=matches, step_size=step_size, epsilon=epsilon, key=key):
        pass
    return TabularPlayer(graph, values, rule.ties, rule.name), perf_counter() - start


def print_seed(grader: Grader, player: TabularPlayer, seed: int) -> bool:
    """A row of the table; returns whether the player is proved unbeatable."""
    key = stream_key(seed, 0, Activity.NAMED_PLAYERS)
    played = Series(range(MATCHES_AT_THE_END), key).play(grader.graph.game, (player, player))
    grade = grader.grade(player)
    win, draw, loss = mean_of_seats(*grade.versus_random)
    lost = [f"{grade.lines[seat].lost} of {grade.lines[seat].total}" for seat in (FIRST, SECOND)]
    print(
        f"| {seed} | {played.results.draws} | {win:.4f} | {draw:.4f} | {loss:.4f} | {lost[0]} | {lost[1]} "
        f"| {grade.optimal_action_rate:.4f} |"
    )
    return not (grade.can_lose(FIRST) or grade.can_lose(SECOND))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    graph = positions_of("tictactoe")
    grader = Grader(graph)
    for rule, matches, step_size, epsilon in SETTINGS:
        learn(graph, rule, 500, step_size, epsilon, 0)
        print(f"\n{rule.name}, {matches:,} matches, {rule.step_size_name} {step_size}, epsilon {epsilon}\n")
        print("| seed | drawn of 1,000 | exact win | draw | loss v random | lost lines first | second | optimal |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|")
        unbeatable, seconds = 0, 0.0
        for seed in range(options.seeds):
            player, taken = learn(graph, rule, matches, step_size, epsilon, seed)
            unbeatable, seconds = unbeatable + print_seed(grader, player, seed), seconds + taken
        print(f"\nproved unbeatable: {unbeatable} of {options.seeds}")
        print(f"{options.seeds * matches / seconds:,.0f} matches per second")


if __name__ == "__main__":
    main()
