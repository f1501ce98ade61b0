"""Compiled: the values of many positions near the end of a match, each narrowed down by null-window searches."""

from collections.abc import Callable
from functools import cache

from selfplay.compute.compilation import Words, compiled, register_rules
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.crew import Crew
from selfplay.search.endgame.kernel import ALL_MOVES, Work, compile_null_window_search
from selfplay.search.endgame.learned_values import LearnedValues
from selfplay.search.endgame.table import Table
from selfplay.search.interruption import StopFlag

ValuesWithin = Callable[
    [Words, Words, Words, Words, Words, int, Table, LearnedValues, Crew, Work, StopFlag, Words], None
]
"""(own, opp, lowest, highest, expected, search, table, learned, crew, work, stop, values): write the value of each
position (own, opp), clipped to lowest..highest, to `values`; the nearer `expected`, the faster. `search` is the number
of the search. `crew` is for one thread. Returns at once when `stop[0]` is not 0; the values are then meaningless."""


@cache
def compile_values_within(rules: Rules, turning: TurningRules) -> ValuesWithin:
    """Compile the narrowing for a game with these rules."""
    register_rules()
    null_window_search = compile_null_window_search(rules, turning)

    @compiled
    def values_within(
        own: Words,
        opp: Words,
        lowest: Words,
        highest: Words,
        expected: Words,
        search: int,
        table: Table,
        learned: LearnedValues,
        crew: Crew,
        work: Work,
        stop: StopFlag,
        values: Words,
    ) -> None:
        for i in range(len(own)):
            lower, upper, guess = lowest[i], highest[i], expected[i]
            while lower < upper:
                # A guess that is right is confirmed by one search below it and one above it.
                bound = min(max(guess - 1, lower), upper - 1)
                crew.finished[0] = 0
                guess = null_window_search(
                    own[i], opp[i], bound, search, ALL_MOVES, 0, table, learned, crew, work, stop
                )
                if stop[0] != 0:
                    return
                if guess > bound:
                    lower = min(guess, upper)
                else:
                    upper = max(guess, lower)
            values[i] = lower

    return values_within
