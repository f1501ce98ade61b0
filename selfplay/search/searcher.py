"""Look-ahead search for any game: the value of a position and the best action there."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor

from selfplay.compute import devices
from selfplay.errors import SettingError, TimeLimitError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.search.evaluation import Evaluation
from selfplay.search.negamax import Algorithm, BatchResult, Search, compile_search, make_memory, negamax_of, search_of
from selfplay.search.probcut import ProbCut
from selfplay.search.threads import (
    StopFlag,
    Threads,
    make_stop_flag,
    make_threads,
    run_interruptibly,
    search_together,
)
from selfplay.search.trace import Trace
from selfplay.search.transposition_table import Table, make_table, stores_nothing

MIN_SCOUT_DEPTH, MIN_SCOUT_DEPTH_UNORDERED, MIN_SCOUT_DEPTH_WITHOUT_TABLE = 4, 5, 8
"""The smallest numbers of remaining plies at which NegaScout uses null windows: with ordering and a table, without
ordering, and with ordering but no table. Closer to the leaves, null windows save fewer positions than the repeated
searches add."""
ALGORITHMS = {algorithm.name.lower(): algorithm for algorithm in Algorithm}
MAX_DEPTH = 120
MAX_TABLE_BITS = 28
THREADS_FROM = 6
"""At a smaller depth, starting threads takes longer than it saves."""
MOST_SHARED = 64
"""Larger batches are searched in one thread."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search of one position."""

    value: float
    """To the player to move, on the scale of the evaluation."""
    action: int
    """The lowest of the best actions; -1 where the match is over. In games that do not count points, the soonest win
    is best, and the latest loss."""
    principal_variation: tuple[int, ...]
    """The actions that both players would take, from the position to the leaf that gives it its value."""
    visited: int
    """Number of positions visited, including the searched one; with several threads, by the one that finished."""
    depth: int


class Searcher:
    """Searches positions of one game with one algorithm and one evaluation.

    Values and actions depend only on the position and the depth. Algorithm, ordering, table size and number of threads
    change only the number of positions visited, and which of several variations with the same value is found. With
    `probcut` values are approximate, and all of these change them too.

    Attributes:
        num_threads: the number of threads that search a position, from depth 6 on, if there is a table, and batches are
            of 64 positions at most. With `probcut` only searches with a time limit use several, because only these
            do not promise the same result again.

    Args:
        algorithm: minimax, alpha_beta or negascout. Minimax uses neither ordering nor table.
        ordered: first try the action that was best in an earlier search, then those that leave the fewest replies.
        table_bits: the transposition table has 2**table_bits entries of 32 bytes; 0: no table.
        min_scout_depth: the smallest number of remaining plies at which NegaScout uses null windows: 2 as published;
            None: the number from which this saves positions (MIN_SCOUT_DEPTH).
        probcut: cut where a shallow search predicts the result; None: search exactly.

    Raises:
        SettingError: an unknown algorithm, a table size out of range, or `probcut` with minimax, or with a threshold
            that is not above 0.
    """

    def __init__(
        self,
        game: Game,
        evaluation: Evaluation,
        algorithm: str = "negascout",
        *,
        ordered: bool = True,
        table_bits: int = 16,
        min_scout_depth: int | None = None,
        probcut: ProbCut | None = None,
    ) -> None:
        if algorithm not in ALGORITHMS:
            raise SettingError(f"unknown search {algorithm!r}; choose from {', '.join(ALGORITHMS)}")
        if min_scout_depth is not None and min_scout_depth < 1:
            raise SettingError(f"min_scout_depth={min_scout_depth}: must be 1 or more, or null")
        if not 0 <= table_bits <= MAX_TABLE_BITS:
            raise SettingError(f"table_bits={table_bits}: must be from 0 to {MAX_TABLE_BITS}")
        self.game, self.evaluation, self.algorithm = game, evaluation, ALGORITHMS[algorithm]
        self.num_threads = devices.search_threads
        self.ordered = ordered and self.algorithm != Algorithm.MINIMAX
        evaluation.parameters(game)  # raises if the evaluation does not fit the game
        self._table_bits = 0 if self.algorithm == Algorithm.MINIMAX else table_bits
        least = MIN_SCOUT_DEPTH if self._table_bits > 0 else MIN_SCOUT_DEPTH_WITHOUT_TABLE
        least = least if self.ordered else MIN_SCOUT_DEPTH_UNORDERED
        self._min_scout_depth = least if min_scout_depth is None else min_scout_depth
        if probcut is not None and self.algorithm == Algorithm.MINIMAX:
            raise SettingError("probcut: minimax searches every position; use negascout or alpha_beta")
        if probcut is not None and not probcut.threshold > 0:
            raise SettingError(f"probcut={probcut.threshold}: must be a number of standard deviations above 0")
        self.probcut = probcut

    @cached_property
    def _search(self) -> Callable[..., bool]:
        value = self.evaluation.unfinished_value(self.game)
        return compile_search(self.game.rules, value, self.game.pass_action, self.probcut is not None)

    @cached_property
    def _table(self) -> Table:
        """Made with the first search."""
        return make_table(self._table_bits)

    def search(self, state: State, depth: int, *, time_limit: float | None = None) -> SearchResult:
        """Search the position of one match (B = 1) `depth` plies ahead.

        Args:
            time_limit: seconds. The search then deepens ply by ply and returns the result of the deepest search that
                finished in time; the search to depth 1 always finishes. It stops where a deeper search would find the
                same.

        Raises SettingError if the depth or the limit is out of range.
        """
        check_depth(depth)
        if time_limit is None:
            return self._result([self.search_batch(state, depth)], depth)
        found = self._deepening(state, 1, depth, time_limit)
        return self._result(found, len(found))

    def search_batch(self, state: State, depth: int) -> BatchResult:
        """Search a batch of B positions; depth 0 evaluates the positions themselves.

        Raises SettingError if the depth is out of range.
        """
        if depth != 0:
            check_depth(depth)
        found = run_interruptibly(lambda stop: self._found(state, depth, stop))
        assert found is not None, "only an interrupt stops the search early, and that raises an error"
        return found

    def action_values(self, state: State, depth: int, *, time_limit: float | None = None) -> Tensor:
        """float64[B, A]: the value of each action to the player to move, `depth` plies ahead; nan where illegal.

        Args:
            time_limit: seconds for the whole batch, as for `search`.

        Raises SettingError as `search`.
        """
        check_depth(depth)
        mask = self.game.legal_action_mask(state)
        rows, actions = mask.nonzero(as_tuple=True)
        following = self.game.step_unchecked(state.select(rows), actions)
        values = torch.full(mask.shape, torch.nan, dtype=torch.float64)
        if time_limit is None:
            found = self.search_batch(following, depth - 1)
        else:
            found = self._deepening(following, 0, depth - 1, time_limit)[-1]
        values[rows, actions] = 0.0 - torch.from_numpy(found.values)
        return values

    def _deepening(self, state: State, first: int, depth: int, time_limit: float) -> list[BatchResult]:
        """The results of the searches to the depths from `first` to `depth` that finish in time, at least of the first.

        They end where a deeper search would find the same.
        """
        results = [self.search_batch(state, first)]

        def deepen(stop: StopFlag) -> None:
            for further in range(first + 1, depth + 1):
                found = None if results[-1].final.all() else self._found(state, further, stop, deepens=True)
                if found is None:
                    return
                results.append(found)

        with suppress(TimeLimitError):
            run_interruptibly(deepen, time_limit)
        return results

    def trace(self, state: State, depth: int) -> tuple[SearchResult, Trace]:
        """Search the position of one match without compiled code and without ProbCut, recording every position visited.

        This is the same search, a thousand times slower. Raises SettingError if the depth is out of range.
        """
        check_depth(depth)
        trace, rules, pass_action = Trace(self.game), self.game.rules, self.game.pass_action
        value = self.evaluation.unfinished_value(self.game)
        search = search_of(rules, negamax_of(rules, value, pass_action, part=trace.recording), pass_action)
        with np.errstate(over="ignore"):  # numpy warns where numbers wrap around, as compiled ones do
            found = self._run(search, state, depth, make_stop_flag(), make_threads(1))
        assert found is not None
        return self._result([found], depth), trace

    def _found(self, state: State, depth: int, stop: StopFlag, deepens: bool = False) -> BatchResult | None:
        """The result of a search; None if it was stopped."""
        if not self._shares(state, depth, deepens):
            return self._run(self._search, state, depth, stop, make_threads(1), deepens)
        rows = []
        for row in range(state.batch_size):
            one, threads = state.select(torch.tensor([row])), make_threads(self.num_threads)
            run = partial(self._run, self._search, one, depth, stop, threads, deepens)
            found = search_together([run] * self.num_threads)
            if found is None:
                return None
            rows.append(found)
        return BatchResult(*map(np.concatenate, zip(*rows, strict=True)))

    def _shares(self, state: State, depth: int, deepens: bool) -> bool:
        """Whether several threads search each position."""
        is_long = depth >= THREADS_FROM and 0 < state.batch_size <= MOST_SHARED
        is_allowed = not stores_nothing(self._table) and (self.probcut is None or deepens)
        return self.num_threads > 1 and is_long and is_allowed

    def _run(
        self,
        search_batch: Callable[..., bool],
        state: State,
        depth: int,
        stop: StopFlag,
        threads: Threads,
        deepens: bool = False,
    ) -> BatchResult | None:
        size = state.batch_size
        values, (actions, visited) = np.empty(size), np.empty((2, size), dtype=np.int64)
        variations, final = np.empty((size, depth), dtype=np.int64), np.empty(size, dtype=np.bool_)
        found = BatchResult(values, actions, visited, variations, final)
        probing = 0 if self.probcut is None else self.probcut.probing()
        search = Search(
            depth,
            int(self.algorithm),
            self._min_scout_depth,
            self.ordered,
            self.evaluation.reply_value,
            # A search that deepens ply by ply uses what it has found before; with a time limit it is not repeatable.
            self.probcut is not None and not deepens,
            self.evaluation.parameters(self.game),
            self._table,
            probing,
            stop,
            threads,
            make_memory(depth),
        )
        return found if search_batch(state.own.numpy(), state.opp.numpy(), search, found) else None

    @staticmethod
    def _result(searches: list[BatchResult], depth: int) -> SearchResult:
        """The result of the last of these searches of one position, to `depth`, with the positions that all visited."""
        values, actions, _, variations, _ = searches[-1]
        line = tuple(action for action in variations[0].tolist() if action >= 0)
        visited = sum(int(found.visited[0]) for found in searches)
        return SearchResult(float(values[0]), int(actions[0]), line, visited, depth)


def check_depth(depth: int, time_limit: float | None = None) -> None:
    """Raise SettingError if the depth or the time limit is out of range."""
    if not 1 <= depth <= MAX_DEPTH:
        raise SettingError(f"depth={depth}: must be from 1 to {MAX_DEPTH}")
    if time_limit is not None and not time_limit > 0:
        raise SettingError(f"time_limit={time_limit}: must be seconds above 0")
