"""Tree search of a batch of positions."""

from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.checks import Range, require
from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_words import load, position_hash, word_rows
from selfplay.compute.random_numbers import Draws, Purpose, fold
from selfplay.errors import SettingError, TimeLimitError
from selfplay.games.game import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.pickling import MadeAgain
from selfplay.search.deadline import StoppedError, current_deadline
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator, checked_values, parts_of
from selfplay.search.mcts.kept_trees import KeptTrees
from selfplay.search.mcts.lockstep import Frontier, compile_lockstep, make_frontier
from selfplay.search.mcts.rule import Rule
from selfplay.search.mcts.simulations import IN_ALL, compile_whole_search
from selfplay.search.mcts.tree import CompiledTreeSearch, TreeSearchResult, make_results, make_trees, tree_bytes
from selfplay.search.mcts.watching import show
from selfplay.search.threads import StopFlag, make_stop_flag, run_interruptibly

MOST_SIMULATIONS = 1_000_000
MOST_PARALLEL = 1024
LARGEST_TREE = 2 << 30
"""Bytes of one tree; in games with many actions, this allows fewer simulations."""
BYTES_AT_ONCE = 256 << 20
"""Memory of the trees that grow in lockstep."""
QUICK_SECONDS, FEWEST_QUICK = 0.02, 16
"""About how long a compiled search works in the calling thread, and the fewest simulations that it does there."""
FEWEST_AFTER_DEADLINE = 16
"""Number of simulations in each tree of a search that begins after its deadline."""

ROOT_NOISE, LEAF = int(Purpose.ROOT_NOISE), int(Purpose.LEAF)

Numbers = NDArray[np.float64]


class TreeSearch(MadeAgain):
    """Searches positions of one game.

    The result for a position depends only on the position, the arguments and the position's random bits, not on the
    other positions of the batch. A deadline of the context (`selfplay.search.deadline`) ends the search earlier, with
    fewer simulations.

    Args:
        evaluator: values positions, in batches or compiled.
        rule: how actions are selected; see `selfplay.search.mcts.rule.make_rule`.
        simulations: per position; fewer if it is proved before.
        proves: whether to prove exact values (MCTS-solver) and never search a proved position again.
        reuse: whether a search continues the tree of the last search of the match, with the part below the position, up
            to `simulations` positions of it. The new simulations are added to those of this part. The plies of a match
            must be searched in their order.
        parallel: how many positions of a tree an evaluator of batches evaluates together; see
            `selfplay.search.mcts.lockstep`. Compiled evaluators evaluate one at a time, whatever it is.

    Raises SettingError if the number of simulations or `parallel` is out of range, the evaluator does not fit the game,
    or the rule does not allow `reuse`.
    """

    def __init__(
        self,
        game: Game,
        evaluator: BatchEvaluator | CompiledEvaluator,
        rule: Rule,
        simulations: int,
        *,
        proves: bool = True,
        reuse: bool = False,
        parallel: int = 1,
    ) -> None:
        self._num_words = game.rules.position.num_words
        most_nodes = LARGEST_TREE // tree_bytes(1, game.num_distinct_actions, self._num_words) // (2 if reuse else 1)
        most = min(MOST_SIMULATIONS, most_nodes - 1)
        require("simulations", simulations, 1 <= simulations <= most, f"1 to {most:,}")
        Range(1, MOST_PARALLEL).check("parallel", parallel)
        if reuse and not rule.continues:
            raise SettingError(
                f"reuse=true: rule={rule.name} divides its simulations from an unvisited position; set rule=puct or uct"
            )
        self.game, self.evaluator, self.rule, self.simulations, self.proves = game, evaluator, rule, simulations, proves
        self.parallel = parallel
        self._num_nodes = simulations + 1 + (simulations if reuse else 0)
        self._kept = KeptTrees(simulations) if reuse else None
        self._ask()
        self._constants = rule.constants(simulations, game.num_distinct_actions)
        self._kind = (game.rules, game.pass_action, rule.functions)
        # As many simulations as the previous search could run in QUICK_SECONDS.
        self._quick_simulations = FEWEST_QUICK
        if self._is_compiled:
            self.parts.parameters(game)

    def _ask(self) -> None:
        """Ask the evaluator for its parts: once, because looking for methods takes as long as several simulations."""
        self.parts = parts_of(self.evaluator)
        self._ends = np.array(self.parts.ends, dtype=np.float64)
        self._is_compiled = self.parts.position_value is not None

    def move_to(self, device: str) -> None:
        """Evaluate positions on this device, if the evaluator can."""
        move = getattr(self.evaluator, "move_to", None)
        if move is not None:
            move(device)
            self._ask()

    @property
    def is_random(self) -> bool:
        """Whether the result for a position depends on random bits, or on earlier plies of its match."""
        return self._kept is not None or self.rule.is_random or self.parts.is_random

    def search(self, state: State, draws: Draws | None = None) -> TreeSearchResult:
        """Search a batch of positions.

        Args:
            draws: the random numbers of this ply; None: random bits that depend on the position alone.
        """
        positions, inverse = state.position, None
        if not self.is_random:
            rows, inverse = distinct_positions(positions)
            positions, draws = positions[rows], None
        found = self._search(word_rows(positions), draws)
        tensors = map(torch.from_numpy, found)
        return TreeSearchResult(*(one if inverse is None else one[inverse] for one in tensors))

    def _search(self, positions: Words, draws: Draws | None) -> TreeSearchResult:
        bits, kept, num_actions, parts = _random_bits(positions, draws), self._kept, self.game.num_distinct_actions, []
        if draws is None or kept is None:
            kept = draws = None
        else:
            draws = draws._replace(match=draws.match.cpu())
            kept.forget(draws)
        # A compiled search grows one tree after another in the memory of one, if none is kept.
        is_one = self._is_compiled and kept is None
        size = max(
            1, len(positions) if is_one else BYTES_AT_ONCE // tree_bytes(self._num_nodes, num_actions, self._num_words)
        )
        for start in range(0, max(1, len(positions)), size):
            chunk = slice(start, start + size)
            trees = make_trees(1 if is_one else len(positions[chunk]), self._num_nodes, num_actions, self._num_words)
            if kept is not None and draws is not None:
                of_chunk = draws._replace(match=draws.match[chunk])
                kept.take_over(of_chunk, positions[chunk], trees)
            show(trees)
            parameters = self.parts.parameters(self.game) if self._is_compiled else 0
            flags = self.simulations, self.proves, kept is not None, self.parallel
            search = CompiledTreeSearch(*flags, self._ends, self._constants, parameters, trees)
            parts.append(self._grow(positions[chunk], bits[:, chunk], search))
            if kept is not None and draws is not None:
                kept.keep(of_chunk, trees)
        joined: Any = map(np.concatenate, zip(*parts, strict=True))
        return parts[0] if len(parts) == 1 else TreeSearchResult(*joined)

    def _grow(self, positions: Words, bits: NDArray[np.int64], search: CompiledTreeSearch) -> TreeSearchResult:
        """Search these positions in the memory of `search.trees`."""
        results = make_results(len(positions), self.game.num_distinct_actions)
        if self.parts.position_value is None:
            self._grow_in_lockstep(positions, bits[0], search, results)
            return results
        search_batch = compile_whole_search(*self._kind, self.parts.position_value(self.game))
        progress, start = np.zeros(3, dtype=np.int64), perf_counter()

        def grow(stop: StopFlag) -> None:
            if not search_batch(positions, *bits, search, progress, stop, results):
                raise StoppedError

        try:
            run_interruptibly(grow, quick_steps=self._quick_simulations)
        except TimeLimitError:
            # No tree grows further, except that each has this number of simulations.
            fewest = search._replace(simulations=min(self.simulations, FEWEST_AFTER_DEADLINE))
            search_batch(positions, *bits, fewest, progress, make_stop_flag(), results)
        self._quick_simulations = max(FEWEST_QUICK, int(QUICK_SECONDS * progress[IN_ALL] / (perf_counter() - start)))
        return results

    def _grow_in_lockstep(
        self, positions: Words, bits: NDArray[np.int64], search: CompiledTreeSearch, results: TreeSearchResult
    ) -> None:
        plant, advance, conclude = compile_lockstep(*self._kind)
        sizes = len(positions), self.game.num_distinct_actions, self._num_words
        frontier = make_frontier(*sizes, self.parallel)
        count, deadline = plant(positions, bits, search, frontier), current_deadline()
        while count > 0:
            deadline.check()
            if frontier.left.max() <= self.simulations - FEWEST_AFTER_DEADLINE and deadline.is_over:
                # The trees only receive the evaluations for which they wait.
                frontier.left[:] = 0
            count = advance(count, *self._evaluated(frontier, count), bits, search, frontier)
        conclude(search, results)

    def _evaluated(self, frontier: Frontier, count: int) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """The evaluations of the distinct positions of the frontier, and the number of that of each tree."""
        positions = torch.from_numpy(frontier.positions[:count]["parts"])
        first, rows = distinct_positions(positions)
        assert self.parts.evaluate is not None, "only called for evaluators of batches"
        found = self.parts.evaluate(_unfinished(positions[first]))
        values, logits = checked_values(found, self.parts.name, len(first), self.game.num_distinct_actions)
        return values.numpy(), logits.numpy(), rows.numpy()


def _unfinished(positions: Tensor) -> State:
    """Unfinished positions as a state with player 0 to move."""
    zeros = [torch.zeros(len(positions), dtype=dtype) for dtype in (torch.int8, torch.bool, torch.float32)]
    return State(positions, *zeros)


def _random_bits(positions: Words, draws: Draws | None) -> NDArray[np.int64]:
    """int64[2, B]: the random bits of the root and of the leaves of each tree; without draws, from positions alone."""
    bits = np.empty((2, len(positions)), dtype=np.int64)
    key, match, ply = (0, bits[0], 0) if draws is None else (draws.key, draws.match.cpu().numpy(), draws.ply)
    _write_bits(positions, draws is None, key, match, ply, bits)
    return bits


@compiled
def _write_bits(
    positions: Words,
    from_positions: bool,
    key: int,
    match: NDArray[np.int64],
    ply: int,
    bits: NDArray[np.int64],
) -> None:
    for i in range(len(positions)):
        word = position_hash(load(positions, i)) if from_positions else fold(fold(key, match[i]), ply)
        bits[0, i], bits[1, i] = fold(word, ROOT_NOISE), fold(word, LEAF)
