"""Look-ahead search for any game: the value of a position and the best action there."""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.checks import check_parameters, count, require, within
from selfplay.compute.compilation import Words
from selfplay.compute.devices import SEARCH_THREADS
from selfplay.errors import SettingError, TimeLimitError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.games.tiers import Tier
from selfplay.pickling import MadeAgain
from selfplay.search.batch_search import LOOK_LESS, MIN_WINDOW_DEPTH, WINDOW, BatchResult, search_in, search_of
from selfplay.search.deadline import current_deadline
from selfplay.search.evaluation import AT_ONCE, CompiledBatchValue, CompiledValue, Evaluation
from selfplay.search.general_values import general_evaluation
from selfplay.search.negamax import ALGORITHMS, SOONER, negamax_of
from selfplay.search.negamax_memory import Ahead, NegamaxSearch
from selfplay.search.probcut import Probing
from selfplay.search.threads import StopFlag, Threads, make_stop_flag, make_threads, run_interruptibly, search_together
from selfplay.search.tiers import Calls, TwoTiers, tiers_of
from selfplay.search.trace import Trace
from selfplay.search.transposition_table import NO_ACTION, make_value_table

MIN_SCOUT_DEPTH, MIN_SCOUT_DEPTH_UNORDERED, MIN_SCOUT_DEPTH_WITHOUT_TABLE = 4, 5, 8
"""The smallest numbers of remaining plies at which null windows save more positions than repeated searches add: with
ordering and a table, without ordering, and with ordering but no table."""
MAX_DEPTH, MAX_TABLE_BITS = 120, 28
THREADS_FROM, MOST_SHARED = 6, 64
"""Several threads search positions from this depth on, in batches of at most this size."""

Values = NDArray[np.float64]


class SearchResult(NamedTuple):
    """The result of a search of one position."""

    value: float
    """To the player to move, on the scale of the evaluation."""
    action: int
    """As in `BatchResult`."""
    principal_variation: tuple[int, ...]
    """The actions that both players would take, from the position to the leaf that gives it its value."""
    visited: int
    """Number of positions visited, including the searched one; with several threads, by the one that finished."""
    depth: int


@dataclass(frozen=True, kw_only=True)
class SearchParameters:
    """How a search goes about it: they only change which positions it visits, see `Searcher`."""

    ordered: bool = True
    """Whether promising actions are tried first; not by minimax."""
    table_bits: int = field(default=16, metadata=within(0, MAX_TABLE_BITS))
    """Size of the transposition table, 2**table_bits entries; 0: no table. Minimax has none."""
    min_scout_depth: int | None = field(default=None, metadata=count(1))
    """The fewest remaining plies at which NegaScout uses null windows: 2 as published; null: where this saves
    positions, 4, 5 or 8."""


class Searcher(MadeAgain):
    """Searches positions of one game with one algorithm and one evaluation.

    Values and actions depend only on the position and the depth. Algorithm, parameters and number of threads only
    change the number of positions visited, and which of several variations with the same value is found. With `probcut`
    values are approximate, and depend on these arguments too.

    Attributes:
        num_threads: the number of threads that search a position. Several are used from depth 6 on, with a table, and
            in batches of at most 64 positions. With `probcut` they are used only with a time limit, because then
            results cannot be repeated in any case.

    Args:
        algorithm: minimax, alpha_beta or negascout.
        parameters: the entries of the table have 32 bytes where a position is two boards of at most 64 squares.
        probcut: cut where a shallow search predicts the result; None: search exactly.

    Raises SettingError for an unknown algorithm, a number out of range, or `probcut` with minimax.
    """

    def __init__(
        self,
        game: Game,
        evaluation: Evaluation,
        algorithm: str = "negascout",
        parameters: SearchParameters = SearchParameters(),
        probcut: Probing | None = None,
    ) -> None:
        if algorithm not in ALGORITHMS:
            raise SettingError(f"unknown search {algorithm!r}; choose from {', '.join(ALGORITHMS)}")
        check_parameters(parameters)
        is_minimax = algorithm == "minimax"
        if probcut is not None and is_minimax:
            raise SettingError("probcut: minimax searches every position; use negascout or alpha_beta")
        evaluation.parameters(game)  # raises if the evaluation does not fit the game
        self.game, self.evaluation, self.algorithm, self.probcut = game, evaluation, algorithm, probcut
        self.num_threads = SEARCH_THREADS.get()
        self.ordered = parameters.ordered and not is_minimax
        self._has_table = parameters.table_bits > 0 and not is_minimax
        bits = parameters.table_bits if self._has_table else None
        self._table = make_value_table(bits, game.rules.position.num_words)
        least = MIN_SCOUT_DEPTH if self._has_table else MIN_SCOUT_DEPTH_WITHOUT_TABLE
        self._min_scout_depth = parameters.min_scout_depth or (least if self.ordered else MIN_SCOUT_DEPTH_UNORDERED)

    @cached_property
    def _kind(self) -> tuple[CompiledValue, CompiledBatchValue | None, bool]:
        evaluation, game = self.evaluation, self.game
        return evaluation.unfinished_value(game), evaluation.unfinished_values(game), self.probcut is not None

    @cached_property
    def _tiers(self) -> TwoTiers:
        # ProbCut reads the fields of positions, so it has only the special tier.
        return tiers_of(self.game.compiled_rules, self.game.pass_action, *self._kind, has_general=self.probcut is None)

    def _calls_in(self, tier: Tier) -> Calls:
        """What a search calls in a tier, with arguments of their types."""
        none = self.game.init(1).select(torch.zeros(0, dtype=torch.int64))
        arguments = self._arguments(tier, none, 1, None, make_threads(1, make_stop_flag()))
        return [(search_in(tier, *self._kind), arguments)]

    def search(self, state: State, depth: int, *, time_limit: float | None = None) -> SearchResult:
        """Search the position of one match (B = 1) `depth` plies ahead.

        Args:
            time_limit: seconds. The search then deepens ply by ply, to depth 1 at least, and returns the last result
                that it found in time. It stops where a deeper search would find the same.

        Raises SettingError if the depth or the limit is out of range.
        """
        check_depth(depth)
        if time_limit is None:
            return _result(self.search_batch(state, depth), depth)
        found = self._deepening(state, 1, depth, time_limit)
        return _result(found[-1], len(found))._replace(visited=sum(int(one.visited[0]) for one in found))

    def search_batch(self, state: State, depth: int) -> BatchResult:
        """Search a batch of B positions; depth 0 evaluates them. Raises SettingError if the depth is out of range.

        If the search does not finish in half the time that the deadline of the context leaves, the result is that of
        the deepest search that does in the other half.
        """
        if depth != 0:
            check_depth(depth)
        with suppress(TimeLimitError):
            tier, seconds = self._tiers.tier(self._calls_in), current_deadline().part(1 / 2)
            return run_interruptibly(lambda stop: self._found(tier, state, depth, stop), seconds)
        return self._deepening(state, min(depth, 1), depth)[-1]

    def action_values(self, state: State, depth: int, *, time_limit: float | None = None) -> Tensor:
        """float64[B, A]: the value of each action to the player to move, `depth` plies ahead; nan where illegal.

        The time limit is that of `search`, for the whole batch. Raises SettingError as `search`.
        """
        check_depth(depth)
        mask = self.game.legal_action_mask(state)
        rows, actions = mask.nonzero(as_tuple=True)
        following = self.game.step_unchecked(state.select(rows), actions)
        limited = None if time_limit is None else self._deepening(following, 0, depth - 1, time_limit)
        found = self.search_batch(following, depth - 1) if limited is None else limited[-1]
        values = torch.full(mask.shape, torch.nan, dtype=torch.float64)
        to_move = torch.from_numpy(found.values)
        is_again = following.current_player == state.current_player[rows]
        values[rows, actions] = torch.where(is_again, to_move, 0.0 - to_move)
        return values

    def _deepening(self, state: State, first: int, depth: int, time_limit: float | None = None) -> list[BatchResult]:
        """The results of the searches from depth `first` on that finish in time; at least of the first."""
        tier = self._tiers.tier(self._calls_in)
        results = [run_interruptibly(lambda stop: self._found(tier, state, first, stop), must_finish=True)]

        def deepen(stop: StopFlag) -> None:
            for further in range(first + 1, depth + 1):
                if results[-1].final.all():
                    return
                earlier = further - LOOK_LESS - first
                predicted = results[earlier].values if earlier >= 0 else _unknown(state)
                results.append(self._found(tier, state, further, stop, predicted))

        with suppress(TimeLimitError):
            run_interruptibly(deepen, time_limit)
        return results

    def trace(self, state: State, depth: int) -> tuple[SearchResult, Trace]:
        """The search of every value, without ProbCut or a first window, uncompiled and a thousand times slower.

        The trace has every visit of a position.

        Raises SettingError if the depth is out of range.
        """
        check_depth(depth)
        trace, rules, value = Trace(self.game), self.game.compiled_rules, self.evaluation.unfinished_value(self.game)
        search = search_of(rules, negamax_of(rules, value, self.game.pass_action, part=trace.recording))
        with np.errstate(over="ignore"):  # numpy warns where numbers wrap around, as compiled ones do
            tier, threads = Tier(rules, self.game.pass_action, None), make_threads(1, make_stop_flag())
            *arguments, found = self._arguments(tier, state, depth, None, threads, has_window=False)
            search(*arguments, found)
        return _result(found, depth), trace

    def _found(
        self, tier: Tier, state: State, depth: int, stop: StopFlag, predicted: Values | None = None
    ) -> BatchResult:
        """The result of a search. Raises StoppedError.

        Args:
            predicted: of a search that deepens ply by ply: the values of an earlier depth, nan where there are none.
        """
        is_long = depth >= THREADS_FROM and 0 < state.batch_size <= MOST_SHARED
        is_allowed = self._has_table and (self.probcut is None or predicted is not None)
        if self.num_threads == 1 or not (is_long and is_allowed):
            result = search_together(partial(self._run, tier, state, depth, predicted), 1, stop)
        else:
            rows = []
            for row in range(state.batch_size):
                of_row = None if predicted is None else predicted[row : row + 1]
                run = partial(self._run, tier, state.select(torch.tensor([row])), depth, of_row)
                rows.append(search_together(run, self.num_threads, stop))
            result = BatchResult(*map(np.concatenate, zip(*rows, strict=True)))
        self._tiers.worked(tier, int(result.visited.sum()), self._calls_in)
        return result

    def _run(
        self, tier: Tier, state: State, depth: int, predicted: Values | None, threads: Threads
    ) -> BatchResult | None:
        """The result of a search in one thread; None if it was stopped."""
        arguments = self._arguments(tier, state, depth, predicted, threads)
        return arguments[-1] if search_in(tier, *self._kind)(*arguments) else None

    def _arguments(
        self,
        tier: Tier,
        state: State,
        depth: int,
        predicted: Values | None,
        threads: Threads,
        has_window: bool = True,
    ) -> tuple[Words, NegamaxSearch, BatchResult]:
        """Those of a search in one thread, which fills the last one."""
        size = state.batch_size
        actions, visited = np.empty((2, size), dtype=np.int64)
        variations, final = np.empty((size, depth), dtype=np.int64), np.empty(size, dtype=np.bool_)
        found = BatchResult(np.empty(size), actions, visited, variations, final)
        parameters, word, num_actions = self.evaluation.parameters(self.game), tier.word, self.game.num_distinct_actions
        if tier.table is not None:
            parameters = general_evaluation(self.game.compiled_rules, self._kind[0], tier.table.size, parameters)
        has_window &= depth >= MIN_WINDOW_DEPTH and self.algorithm != "minimax" and self.evaluation.predicts_outcome
        search = NegamaxSearch(
            depth,
            ALGORITHMS.index(self.algorithm),
            self._min_scout_depth,
            self.ordered,
            # A search that deepens ply by ply uses what it has found before; with a time limit it is not repeatable.
            self.probcut is not None and predicted is None,
            self.evaluation.reply_value,
            SOONER if self.game.rules.margin is None else 0.0,
            WINDOW if has_window else 0.0,
            _unknown(state) if predicted is None else predicted,
            parameters,
            self._table,
            self.probcut or 0,
            threads,
            actions=np.zeros((depth + 1, num_actions), dtype=np.int64),
            following=np.zeros((depth + 1, num_actions), word),
            ranks=np.zeros(num_actions),
            lines=np.full((depth + 1, depth + 2), -1, dtype=np.int64),
            killers=np.full(depth + 1, NO_ACTION, dtype=np.int64),
            ahead=Ahead(np.zeros(AT_ONCE, word), np.zeros(AT_ONCE), np.zeros(2, dtype=np.int64)),
            work=np.zeros(2, dtype=np.int64),
        )
        return tier.rows(state.position.numpy()), search, found


def _unknown(state: State) -> Values:
    """float64[B] of nan."""
    return np.full(state.batch_size, np.nan)


def _result(found: BatchResult, depth: int) -> SearchResult:
    """The result of a search of one position."""
    line = tuple(action for action in found.variations[0].tolist() if action >= 0)
    return SearchResult(float(found.values[0]), int(found.actions[0]), line, int(found.visited[0]), depth)


def check_depth(depth: int) -> None:
    """Raise SettingError if the depth is out of range."""
    require("depth", depth, 1 <= depth <= MAX_DEPTH, f"from 1 to {MAX_DEPTH}")
