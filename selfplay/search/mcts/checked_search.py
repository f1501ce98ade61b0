"""Tree search whose choice is checked by proofs, because a tree rarely visits what its network considers unlikely.

A search of proof numbers (`selfplay.search.prover`) looks for a win of the player to move, and for one of the opponent
after the action that the tree search has chosen. If that action is proved to lose, so are others, the most visited
first, until some are found that may not lose. Then the position is searched again with all that is proved.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.search.mcts.tree import TreeSearchResult
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.search.prover import Prover

TABLE_BITS = 14
"""The size of the table of a proof, which visits too few positions for a larger one."""
MOST_SEARCHES = 8
"""Of a position: the choice of the last one is not checked."""
LIKELY = 3
"""Actions with at least the most visits divided by this are checked too, because players draw them by their visits."""
OPEN_CHOICES = 2
"""The number of actions not proved to lose with which a position is searched again."""


class CheckedSearch(NamedTuple):
    """Searches positions as `trees` does, and does not choose an action that a proof shows to lose.

    Args:
        most_visited: the positions that a proof visits at most.
    """

    trees: TreeSearch
    most_visited: int

    def search(self, state: State, draws: Draws | None = None) -> TreeSearchResult:
        """See `TreeSearch.search`; actions that are proved to be worse than others have no visits and no priors."""
        found = self.trees.search(state, draws)
        rows, checks = torch.arange(state.batch_size), dict[int, _Checks]()
        for _ in range(MOST_SEARCHES - 1):
            is_open = ~(state.terminated[rows].cpu() | found.is_proved[rows])
            for row in rows[is_open].tolist():
                if row not in checks:
                    checks[row] = _Checks(self.trees.game, state.select(torch.tensor([row])), self.most_visited)
            known = {row: checks[row].known(found, row) for row in rows[is_open].tolist()}
            again = {row: values for row, values in known.items() if values is not None}
            if not again:
                break
            rows = torch.tensor(list(again))
            same = None if draws is None else draws._replace(match=draws.match[rows])
            searched = self.trees.search(state.select(rows), same, torch.stack(list(again.values())))
            for part, new in zip(found, searched, strict=True):
                part[rows] = new
        for row, check in checks.items():
            worse = check.worse()
            found.visits[row, worse] = 0
            found.priors[row, worse] = 0.0
        return found


class _Checks:
    """What is proved about the actions of a position (B = 1)."""

    def __init__(self, game: Game, state: State, most_visited: int) -> None:
        self._proofs, self._most_visited = Prover(game, TABLE_BITS).proofs(state), most_visited
        self._checked = set[int]()
        self._proofs.prove_best(most_visited)

    def known(self, found: TreeSearchResult, row: int) -> Tensor | None:
        """float64[A]: the exact values with which the position is to be searched again; None if it need not be."""
        results, actions = self._proofs.results, self._proofs.actions
        if not (results == 1).any():
            visits = found.visits[row]
            likely = (visits * LIKELY >= visits.max()).nonzero()[:, 0].tolist()
            if not any(self._loses(action) for action in {*likely, int(found.actions[row])}):
                return None
            left = OPEN_CHOICES
            preference = list(zip(visits.tolist(), found.priors[row].tolist(), strict=True))
            for action in sorted(actions, key=preference.__getitem__, reverse=True):
                left -= not self._loses(action)
                if left == 0:
                    break
        is_lost = (results[actions] == -1).all()
        return None if is_lost else torch.from_numpy(results).double()

    def worse(self) -> Tensor:
        """bool[A]: the actions that are proved to be worse than others, so that nobody draws them."""
        results, actions = self._proofs.results, self._proofs.actions
        if (results == 1).any():
            return torch.from_numpy(results != 1)
        return torch.from_numpy((results == -1) & ~(results[actions] == -1).all())

    def _loses(self, action: int) -> bool:
        if action not in self._checked:
            self._checked.add(action)
            self._proofs.prove([action], self._most_visited)
        return bool(self._proofs.results[action] == -1)
