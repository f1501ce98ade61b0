"""Tree search of a batch of positions."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.checks import Range, require
from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_words import load, position_hash, stored_rows, word_rows
from selfplay.compute.random_numbers import Draws, Purpose, fold
from selfplay.errors import SettingError, TimeLimitError
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.games.tiers import Tier
from selfplay.pickling import MadeAgain
from selfplay.search.deadline import StoppedError, current_deadline
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator, checked_values, parts_of_evaluator
from selfplay.search.mcts.general_evaluator import general_parameters, general_position_value
from selfplay.search.mcts.kept_trees import KeptTrees
from selfplay.search.mcts.lockstep import Frontier, compile_lockstep, make_frontier
from selfplay.search.mcts.rule import Rule
from selfplay.search.mcts.tree import CompiledTreeSearch, Trees, TreeSearchResult, make_results, make_trees, tree_bytes
from selfplay.search.mcts.watching import show
from selfplay.search.mcts.whole_search import IN_ALL, compile_whole_search
from selfplay.search.threads import StopFlag, make_stop_flag, run_interruptibly
from selfplay.search.tiers import Calls, tiers_of

MOST_SIMULATIONS = 1_000_000
MOST_PARALLEL = 1024
LARGEST_TREE = 2 << 30
"""Bytes of one tree; in games with many actions, this allows fewer simulations."""
BYTES_AT_ONCE = 256 << 20
"""Memory of the trees that grow in lockstep."""
QUICK_SECONDS, FEWEST_QUICK = 0.02, 16
"""About how long a compiled search works in the calling thread, and the fewest simulations that it does there."""
STEPS_OF_EVALUATION = 20
"""A simulation with a compiled evaluator counts as so many steps of a search (`selfplay.search.tiers`)."""
FEWEST_AFTER_DEADLINE = 16
"""Number of simulations in each tree of a search that begins after its deadline."""

ROOT_NOISE, LEAF = int(Purpose.ROOT_NOISE), int(Purpose.LEAF)

Numbers = NDArray[np.float64]


def most_simulations(game: Game, *, reuse: bool = False) -> int:
    """The largest number of simulations of a search, whose tree must fit into memory."""
    nodes = LARGEST_TREE // tree_bytes(1, game.num_distinct_actions, game.rules.position.num_words)
    return min(MOST_SIMULATIONS, nodes // (2 if reuse else 1) - 1)


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
        most = most_simulations(game, reuse=reuse)
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
        # As many simulations as the previous search could run in QUICK_SECONDS.
        self._quick_simulations = FEWEST_QUICK
        if self._position_value is not None:
            self.parts.parameters(game)

    def _ask(self) -> None:
        """Ask the evaluator for its parts: once, because looking for methods takes as long as several simulations."""
        self.parts = parts_of_evaluator(self.evaluator)
        self._ends = np.array(self.parts.ends, dtype=np.float64)
        position_value, game = self.parts.position_value, self.game
        self._position_value = None if position_value is None else position_value(game)
        self._tiers = tiers_of(game.compiled_rules, game.pass_action, self.rule.functions, self._position_value)

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

    def search(self, state: State, draws: Draws | None = None, known: Tensor | None = None) -> TreeSearchResult:
        """Search a batch of positions.

        Args:
            draws: the random numbers of this ply; None: random bits that depend on the position alone.
            known: float64[B, A], exact values of actions to the player to move, with which trees begin; nan: unknown.
        """
        positions, inverse = state.position, None
        if not self.is_random:
            rows, inverse = distinct_positions(positions)
            positions, draws = positions[rows], None
            known = None if known is None else known[rows]
        values = np.full((len(positions), self.game.num_distinct_actions), np.nan) if known is None else known.numpy()
        found = self._search(word_rows(positions), values, draws)
        tensors = map(torch.from_numpy, found)
        return TreeSearchResult(*(one if inverse is None else one[inverse] for one in tensors))

    def _search(self, positions: Words, known: Numbers, draws: Draws | None) -> TreeSearchResult:
        bits, kept, num_actions, parts = _random_bits(positions, draws), self._kept, self.game.num_distinct_actions, []
        if draws is None or kept is None:
            kept = draws = None
        else:
            draws = draws._replace(match=draws.match.cpu())
            kept.forget(draws)
        # A compiled search grows one tree after another in the memory of one, if none is kept.
        is_one, num_words = self._position_value is not None and kept is None, self.game.rules.position.num_words
        size = max(
            1, len(positions) if is_one else BYTES_AT_ONCE // tree_bytes(self._num_nodes, num_actions, num_words)
        )
        tier = self._tiers.tier(self._calls_in)
        for start in range(0, max(1, len(positions)), size):
            chunk = slice(start, start + size)
            trees = make_trees(1 if is_one else len(positions[chunk]), self._num_nodes, num_actions, tier.word)
            if kept is not None and draws is not None:
                of_chunk = draws._replace(match=draws.match[chunk])
                kept.take_over(of_chunk, tier, positions[chunk], trees)
            show(trees)
            search = self._search_in(tier, trees, continues=kept is not None)
            parts.append(self._grow(tier, positions[chunk], bits[:, chunk], known[chunk], search))
            if kept is not None and draws is not None:
                kept.keep(of_chunk, trees)
        steps = sum(int(part.visits.sum()) for part in parts)
        steps *= STEPS_OF_EVALUATION if self._position_value is not None else 1
        self._tiers.worked(tier, steps, self._calls_in)
        joined: Any = map(np.concatenate, zip(*parts, strict=True))
        return parts[0] if len(parts) == 1 else TreeSearchResult(*joined)

    def _search_in(self, tier: Tier, trees: Trees, *, continues: bool) -> CompiledTreeSearch:
        """What is the same for these trees in a tier."""
        parameters = self.parts.parameters(self.game) if self._position_value is not None else 0
        if self._position_value is not None and tier.table is not None:
            rules, value = self.game.compiled_rules, self._position_value
            if self.parts.position_value_by is not None:
                rules, value = tier.rules, self.parts.position_value_by(tier.rules, tier.pass_action)
            parameters = general_parameters(rules, value, tier.table.size, parameters)
        flags = self.simulations, self.proves, continues, self.parallel
        return CompiledTreeSearch(*flags, self._ends, self._constants, parameters, trees)

    def _calls_in(self, tier: Tier) -> Calls:
        """What a search calls in a tier, with arguments of their types."""
        num_actions, num_words = self.game.num_distinct_actions, self.game.rules.position.num_words
        search = self._search_in(tier, make_trees(0, 1, num_actions, tier.word), continues=False)
        positions = tier.rows(np.zeros((0, num_words), dtype=np.int64))
        results = make_results(np.zeros((0, num_actions)))
        bits, rows = np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
        if self._position_value is not None:
            progress, stop = np.zeros(3, dtype=np.int64), make_stop_flag()
            return [(self._whole_search(tier), (positions, *bits, search, progress, stop, results))]
        plant, advance, conclude = compile_lockstep(tier.rules, tier.pass_action, self.rule.functions)
        frontier, logits = make_frontier(0, num_actions, tier.word, 1), np.zeros((0, num_actions))
        return [
            (plant, (positions, bits[0], results.action_values, search, frontier)),
            (advance, (0, np.zeros(0), logits, rows, bits[0], search, frontier)),
            (conclude, (search, results)),
        ]

    def _whole_search(self, tier: Tier) -> Callable[..., bool]:
        value = self._position_value if tier.table is None else general_position_value(tier.table.size)
        assert value is not None, "only called for compiled evaluators"
        return compile_whole_search(tier.rules, tier.pass_action, self.rule.functions, value)

    def _grow(
        self, tier: Tier, packed: Words, bits: NDArray[np.int64], known: Numbers, search: CompiledTreeSearch
    ) -> TreeSearchResult:
        """Search these positions in the memory of `search.trees`."""
        results, positions = make_results(known), tier.rows(stored_rows(packed))
        if self._position_value is None:
            self._grow_in_lockstep(tier, positions, bits[0], search, results)
            return results
        search_batch = self._whole_search(tier)
        progress, start = np.zeros(3, dtype=np.int64), perf_counter()

        def grow(stop: StopFlag) -> None:
            if not search_batch(positions, *bits, search, progress, stop, results):
                raise StoppedError

        try:
            run_interruptibly(grow, quick_steps=self._quick_simulations_in(current_deadline().left))
        except TimeLimitError:
            # No tree grows further, except that each has this number of simulations.
            fewest = search._replace(simulations=min(self.simulations, FEWEST_AFTER_DEADLINE))
            search_batch(positions, *bits, fewest, progress, make_stop_flag(), results)
        self._quick_simulations = max(FEWEST_QUICK, int(QUICK_SECONDS * progress[IN_ALL] / (perf_counter() - start)))
        return results

    def _quick_simulations_in(self, seconds: float) -> int:
        """The simulations in the calling thread, before the deadline in so many seconds is heeded."""
        return max(FEWEST_QUICK, int(self._quick_simulations * min(1.0, seconds / QUICK_SECONDS)))

    def _grow_in_lockstep(
        self,
        tier: Tier,
        positions: Words,
        bits: NDArray[np.int64],
        search: CompiledTreeSearch,
        results: TreeSearchResult,
    ) -> None:
        plant, advance, conclude = compile_lockstep(tier.rules, tier.pass_action, self.rule.functions)
        frontier = make_frontier(len(positions), self.game.num_distinct_actions, tier.word, self.parallel)
        count, deadline = plant(positions, bits, results.action_values, search, frontier), current_deadline()
        while count > 0:
            deadline.check()
            if frontier.left.max() <= self.simulations - FEWEST_AFTER_DEADLINE and deadline.is_over:
                # The trees only receive the evaluations for which they wait.
                frontier.left[:] = 0
            count = advance(count, *self._evaluated(frontier, count), bits, search, frontier)
        conclude(search, results)

    def _evaluated(self, frontier: Frontier, count: int) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """The evaluations of the distinct positions of the frontier, and the number of that of each tree."""
        num_words = self.game.rules.position.num_words
        positions = torch.from_numpy(stored_rows(frontier.positions[:count])[:, :num_words])
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
