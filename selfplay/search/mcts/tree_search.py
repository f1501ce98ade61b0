"""Tree search of a batch of positions."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words
from selfplay.compute.random_numbers import Draws, Purpose, fold
from selfplay.games.game import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.search.interruption import run_interruptibly
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator, PositionValues
from selfplay.search.mcts.kernels import Leaves, compile_lockstep, compile_whole_search
from selfplay.search.mcts.results import Plan, Results, make_results
from selfplay.search.mcts.rule import Rule
from selfplay.search.mcts.tree import NOT_ADDED, Trees, make_trees, tree_bytes
from selfplay.settings.checks import require

MOST_SIMULATIONS = 1_000_000
LARGEST_TREE = 2 << 30
"""Bytes of one tree; in games with many actions, this allows fewer simulations."""
BYTES_AT_ONCE = 256 << 20
"""Memory of the trees that grow in lockstep."""

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

    The result for a position depends only on the position, the arguments and the position's random words, not on the
    other positions of the batch.

    Args:
        evaluator: values positions, in batches or compiled.
        rule: how actions are selected; see `selfplay.search.mcts.rule.make_rule`.
        simulations: per position; fewer if it is proved before.
        proves: whether to prove exact values (MCTS-solver) and never search a proved position again.

    Raises SettingError if the number of simulations is out of range, or the evaluator does not fit the game.
    """

    def __init__(
        self,
        game: Game,
        evaluator: BatchEvaluator | CompiledEvaluator,
        rule: Rule,
        simulations: int,
        *,
        proves: bool = True,
    ) -> None:
        most = min(MOST_SIMULATIONS, LARGEST_TREE // tree_bytes(1, game.num_distinct_actions) - 1)
        require("simulations", simulations, 1 <= simulations <= most, f"1 to {most:,}")
        self._tree_bytes = tree_bytes(simulations + 1, game.num_distinct_actions)
        self.game, self.evaluator, self.rule, self.simulations = game, evaluator, rule, simulations
        self._plan = Plan(simulations, proves, np.array(evaluator.ends, dtype=np.float64))
        self._constants = rule.constants(simulations, game.num_distinct_actions)
        self._kind = (game.rules, game.pass_action, rule.functions)
        if isinstance(evaluator, CompiledEvaluator):
            evaluator.parameters(game)

    @property
    def is_random(self) -> bool:
        """Whether the result for a position depends on random words."""
        return self.rule.is_random or (isinstance(self.evaluator, CompiledEvaluator) and self.evaluator.is_random)

    def search(self, state: State, draws: Draws | None = None) -> TreeSearchResult:
        """Search a batch of positions.

        Args:
            draws: the random numbers of this ply; None: random words that depend on the position alone.
        """
        device = state.own.device
        own, opp = state.own.cpu(), state.opp.cpu()
        words = _words_of_positions(own, opp) if draws is None else _words_of_draws(draws)
        if self.is_random:
            results = self._search(own.numpy(), opp.numpy(), words)[0]
            return TreeSearchResult(*(tensor.to(device) for tensor in _as_tensors(results)))
        rows, inverse = distinct_positions(state._replace(own=own, opp=opp))
        results = self._search(own[rows].numpy(), opp[rows].numpy(), words[:, rows.numpy()])[0]
        return TreeSearchResult(*(tensor[inverse].to(device) for tensor in _as_tensors(results)))

    def grow(self, state: State, draws: Draws | None = None) -> Trees:
        """The tree of the search of one match (B = 1), for inspection."""
        words = _words_of_positions(state.own, state.opp) if draws is None else _words_of_draws(draws)
        return self._search(state.own.numpy(), state.opp.numpy(), words)[1]

    def _search(self, own: Words, opp: Words, words: Words) -> tuple[Results, Trees]:
        """The results of positions, and the last tree or trees."""
        if isinstance(self.evaluator, CompiledEvaluator):
            return self._search_compiled(self.evaluator, own, opp, words)
        rows = max(1, BYTES_AT_ONCE // self._tree_bytes)
        parts = []
        for start in range(0, max(1, len(own)), rows):
            chunk = slice(start, start + rows)
            found, trees = self._search_in_lockstep(self.evaluator, own[chunk], opp[chunk], words[0, chunk])
            parts.append(found)
        return Results(*map(np.concatenate, zip(*parts, strict=True))), trees

    def _search_compiled(
        self, evaluator: CompiledEvaluator, own: Words, opp: Words, words: Words
    ) -> tuple[Results, Trees]:
        search = compile_whole_search(*self._kind, evaluator.position_value(self.game))
        trees, results = self._memory(1), make_results(len(own), self.game.num_distinct_actions)
        how = self._plan, self._constants, evaluator.parameters(self.game)
        run_interruptibly(lambda stop: search(own, opp, *words, *how, trees, stop, results))
        return results, trees

    def _search_in_lockstep(
        self, evaluator: BatchEvaluator, own: Words, opp: Words, root_words: Words
    ) -> tuple[Results, Trees]:
        plant, descend, receive, conclude = compile_lockstep(*self._kind)
        trees, leaves = self._memory(len(own)), np.empty(len(own), dtype=np.int64)
        plant(own, opp, self._plan, trees, leaves)
        for simulation in range(self.simulations + 1):
            if simulation > 0:
                descend(self._plan, self._constants, trees, leaves)
            if (leaves != NOT_ADDED).any():
                values, logits = self._evaluated(evaluator, trees, leaves)
                receive(values, logits, root_words, self._plan, self._constants, trees, leaves)
        results = make_results(len(own), self.game.num_distinct_actions)
        conclude(self._constants, trees, results)
        return results, trees

    def _evaluated(self, evaluator: BatchEvaluator, trees: Trees, leaves: Leaves) -> tuple[Numbers, Numbers]:
        """The values (float64[B]) and logits (float64[B, A]) of the leaves, equal ones evaluated once."""
        rows = np.flatnonzero(leaves != NOT_ADDED)
        nodes = trees.nodes[rows, leaves[rows]]
        state = self._unfinished(*(torch.from_numpy(np.ascontiguousarray(nodes[word])) for word in ("own", "opp")))
        first, inverse = distinct_positions(state)
        found: PositionValues = evaluator.evaluate(state.select(first))
        values, logits = np.zeros(len(leaves)), np.zeros((len(leaves), self.game.num_distinct_actions))
        values[rows], logits[rows] = (part.cpu().double()[inverse].numpy() for part in found)
        return values, logits

    @staticmethod
    def _unfinished(own: Tensor, opp: Tensor) -> State:
        """Unfinished positions as a state with player 0 to move."""
        zeros = torch.zeros_like(own)
        return State(own, opp, zeros.to(torch.int8), zeros.bool(), zeros.float())

    def _memory(self, batch_size: int) -> Trees:
        return make_trees(batch_size, self.simulations + 1, self.game.num_distinct_actions)


def _words_of_draws(draws: Draws) -> Words:
    """int64[2, B]: the random words of the root and of the leaves of each tree."""
    return np.stack([draws.words(purpose).cpu().numpy() for purpose in (Purpose.ROOT_NOISE, Purpose.LEAF)])


def _words_of_positions(own: Tensor, opp: Tensor) -> Words:
    """int64[2, B]: random words that depend on the positions alone."""
    purposes = np.array([[Purpose.ROOT_NOISE], [Purpose.LEAF]], dtype=np.int64)
    words: Words = fold(fold(own.numpy(), opp.numpy()), purposes)
    return words


def _as_tensors(results: Results) -> tuple[Tensor, ...]:
    """The fields of a `TreeSearchResult`."""
    fields = (results.actions, results.policy, results.visits, results.values, results.value, results.is_proved)
    return tuple(map(torch.from_numpy, fields))
