"""Tree search of a batch of positions."""

from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words
from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.kernels import distinct_bitboards, distinct_positions
from selfplay.games.state import State
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator
from selfplay.search.mcts.kept_trees import KeptTrees
from selfplay.search.mcts.lockstep import Frontier, compile_lockstep, make_frontier
from selfplay.search.mcts.random_draws import write_bits_of_draws, write_bits_of_positions
from selfplay.search.mcts.rule import Rule
from selfplay.search.mcts.simulations import IN_ALL, compile_whole_search
from selfplay.search.mcts.tree import Plan, Results, Trees, make_results, make_trees, tree_bytes
from selfplay.search.threads import StopFlag, StoppedError, run_interruptibly
from selfplay.settings.fields import require

MOST_SIMULATIONS = 1_000_000
LARGEST_TREE = 2 << 30
"""Bytes of one tree; in games with many actions, this allows fewer simulations."""
BYTES_AT_ONCE = 256 << 20
"""Memory of the trees that grow in lockstep."""
QUICK_SECONDS, FEWEST_QUICK = 0.02, 16
"""About how long a compiled search works in the calling thread, and the fewest simulations that it does there."""

Numbers = NDArray[np.float64]


class TreeSearchResult(NamedTuple):
    """The result of tree searches of B positions, on the device of the positions."""

    actions: Tensor
    """int64[B]: the action to play; 0 where the match is over."""
    policy: Tensor
    """float64[B, A]: the improved policy, which sums to 1 and is 0 where illegal; 0 where the match is over."""
    visits: Tensor
    """int64[B, A]: the number of simulations through each action."""
    action_values: Tensor
    """float64[B, A]: the value of each action to the player to move; nan where unknown or illegal."""
    value: Tensor
    """float64[B]: the value of the position to the player to move."""
    is_proved: Tensor
    """bool[B]: whether `value` is proved."""


class TreeSearch:
    """Searches positions of one game.

    The result for a position depends only on the position, the arguments and the position's random bits, not on the
    other positions of the batch.

    Args:
        evaluator: values positions, in batches or compiled.
        rule: how actions are selected; see `selfplay.search.mcts.rule.make_rule`.
        simulations: per position; fewer if it is proved before.
        proves: whether to prove exact values (MCTS-solver) and never search a proved position again.
        reuse: whether the search of a ply of a match continues with the part of the tree of its last search that is
            below the position, up to `simulations` positions of it. The simulations are then in addition to those that
            this part has had. The plies of a match must be searched in their order.

    Raises SettingError if the number of simulations is out of range, the evaluator does not fit the game, or the rule
    does not allow `reuse`.
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
    ) -> None:
        most_nodes = LARGEST_TREE // tree_bytes(1, game.num_distinct_actions) // (2 if reuse else 1)
        most = min(MOST_SIMULATIONS, most_nodes - 1)
        require("simulations", simulations, 1 <= simulations <= most, f"1 to {most:,}")
        if reuse and not rule.continues:
            raise SettingError(
                f"reuse=true: rule={rule.name} divides its simulations from an unvisited position; set rule=puct or uct"
            )
        self._num_nodes = simulations + 1 + (simulations if reuse else 0)
        self._tree_bytes = tree_bytes(self._num_nodes, game.num_distinct_actions)
        self._kept = KeptTrees(simulations) if reuse else None
        self.game, self.evaluator, self.rule, self.simulations = game, evaluator, rule, simulations
        self._plan = Plan(simulations, proves, np.array(evaluator.ends, dtype=np.float64), False)
        self._constants = rule.constants(simulations, game.num_distinct_actions)
        self._kind = (game.rules, game.pass_action, rule.functions)
        # As many as the search before could run in QUICK_SECONDS.
        self._quick_simulations = FEWEST_QUICK
        # Asked once: looking for the methods of a protocol takes as long as several simulations.
        self._compiled: CompiledEvaluator | None = None
        if isinstance(evaluator, CompiledEvaluator):
            self._compiled = evaluator
            evaluator.parameters(game)
        else:
            self._batches = evaluator

    @property
    def is_random(self) -> bool:
        """Whether the result for a position depends on random bits, or on earlier plies of its match."""
        return self._kept is not None or self._uses_random_bits

    @property
    def _uses_random_bits(self) -> bool:
        return self.rule.is_random or (self._compiled is not None and self._compiled.is_random)

    def search(self, state: State, draws: Draws | None = None) -> TreeSearchResult:
        """Search a batch of positions.

        Args:
            draws: the random numbers of this ply; None: random bits that depend on the position alone.
        """
        device = state.own.device
        own, opp = state.own.cpu(), state.opp.cpu()
        bits = _bits_of_positions(own, opp) if draws is None else _bits_of_draws(draws)
        if self.is_random:
            results = self._search(own.numpy(), opp.numpy(), bits, draws)[0]
            return TreeSearchResult(*(tensor.to(device) for tensor in _as_tensors(results)))
        rows, inverse = distinct_positions(state._replace(own=own, opp=opp))
        # Contiguous bits, because numba compiles the whole search again for others.
        bits = np.ascontiguousarray(bits[:, rows.numpy()])
        results = self._search(own[rows].numpy(), opp[rows].numpy(), bits)[0]
        return TreeSearchResult(*(tensor[inverse].to(device) for tensor in _as_tensors(results)))

    def grow(self, state: State, draws: Draws | None = None) -> Trees:
        """The tree of the search of one match (B = 1), for inspection."""
        bits = _bits_of_positions(state.own, state.opp) if draws is None else _bits_of_draws(draws)
        return self._search(state.own.numpy(), state.opp.numpy(), bits, draws)[1]

    def _search(self, own: Words, opp: Words, bits: Words, draws: Draws | None = None) -> tuple[Results, Trees]:
        """The results of positions, and the last tree or trees."""
        if draws is not None and self._kept is not None:
            return self._search_with_kept(self._kept, own, opp, bits, draws._replace(match=draws.match.cpu()))
        parts = []
        for chunk in self._chunks(len(own), len(own) if self._compiled is not None else self._trees_at_once):
            trees = self._memory(1 if self._compiled is not None else len(own[chunk]))
            parts.append(self._grow(own[chunk], opp[chunk], bits[:, chunk], self._plan, trees))
        return _joined(parts), trees

    def _search_with_kept(
        self, kept: KeptTrees, own: Words, opp: Words, bits: Words, draws: Draws
    ) -> tuple[Results, Trees]:
        """As `_search`, with the trees that are kept of the matches."""
        kept.forget(draws)
        parts, plan = [], self._plan._replace(has_kept=True)
        for chunk in self._chunks(len(own), self._trees_at_once):
            trees, of_chunk = self._memory(len(own[chunk])), draws._replace(match=draws.match[chunk])
            kept.take_over(of_chunk, own[chunk], opp[chunk], trees)
            parts.append(self._grow(own[chunk], opp[chunk], bits[:, chunk], plan, trees))
            kept.keep(of_chunk, trees)
        return _joined(parts), trees

    @property
    def _trees_at_once(self) -> int:
        return max(1, BYTES_AT_ONCE // self._tree_bytes)

    @staticmethod
    def _chunks(count: int, size: int) -> list[slice]:
        """The rows 0 to `count` in chunks of `size`; one empty chunk if there are none."""
        return [slice(start, start + size) for start in range(0, max(1, count), max(1, size))]

    def _grow(self, own: Words, opp: Words, bits: Words, plan: Plan, trees: Trees) -> Results:
        """Search these positions in the memory of `trees`."""
        results = make_results(len(own), self.game.num_distinct_actions)
        if self._compiled is None:
            self._grow_in_lockstep(own, opp, bits[0], plan, trees)
            compile_lockstep(*self._kind).conclude(self._constants, trees, results)
            return results
        search = compile_whole_search(*self._kind, self._compiled.position_value(self.game))
        how = plan, self._constants, self._compiled.parameters(self.game)
        progress, start = np.zeros(3, dtype=np.int64), perf_counter()

        def grow(stop: StopFlag) -> None:
            if not search(own, opp, *bits, *how, trees, progress, stop, results):
                raise StoppedError

        run_interruptibly(grow, quick_steps=self._quick_simulations)
        self._quick_simulations = max(FEWEST_QUICK, int(QUICK_SECONDS * progress[IN_ALL] / (perf_counter() - start)))
        return results

    def _grow_in_lockstep(self, own: Words, opp: Words, root_bits: Words, plan: Plan, trees: Trees) -> None:
        plant, advance, _ = compile_lockstep(*self._kind)
        frontier = make_frontier(len(own))
        count = plant(own, opp, root_bits, plan, self._constants, trees, frontier)
        while count > 0:
            evaluated = self._evaluated(frontier, count)
            count = advance(count, *evaluated, root_bits, plan, self._constants, trees, frontier)

    def _evaluated(self, frontier: Frontier, count: int) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """The evaluations of the distinct positions of the frontier, and the number of that of each tree."""
        own, opp = torch.from_numpy(frontier.own[:count]), torch.from_numpy(frontier.opp[:count])
        first, rows = distinct_bitboards(own, opp)
        values, logits = self._batches.evaluate(_unfinished(own[first], opp[first]))
        return values.cpu().double().numpy(), logits.cpu().double().numpy(), rows.numpy()

    def _memory(self, batch_size: int) -> Trees:
        return make_trees(batch_size, self._num_nodes, self.game.num_distinct_actions)


def _unfinished(own: Tensor, opp: Tensor) -> State:
    """Unfinished positions as a state with player 0 to move."""
    zeros = [torch.zeros(len(own), dtype=dtype) for dtype in (torch.int8, torch.bool, torch.float32)]
    return State(own, opp, *zeros)


def _bits_of_draws(draws: Draws) -> Words:
    """int64[2, B]: the random bits of the root and of the leaves of each tree."""
    bits = np.empty((2, len(draws.match)), dtype=np.int64)
    write_bits_of_draws(draws.key, draws.match.cpu().numpy(), draws.ply, bits)
    return bits


def _bits_of_positions(own: Tensor, opp: Tensor) -> Words:
    """int64[2, B]: random bits that depend on the positions alone."""
    bits = np.empty((2, len(own)), dtype=np.int64)
    write_bits_of_positions(own.numpy(), opp.numpy(), bits)
    return bits


def _joined(parts: list[Results]) -> Results:
    return parts[0] if len(parts) == 1 else Results(*map(np.concatenate, zip(*parts, strict=True)))


def _as_tensors(results: Results) -> tuple[Tensor, ...]:
    """The fields of a `TreeSearchResult`."""
    fields = (results.actions, results.policy, results.visits, results.values, results.value, results.is_proved)
    return tuple(map(torch.from_numpy, fields))
