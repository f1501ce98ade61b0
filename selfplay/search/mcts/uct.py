"""The rule UCT (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006), the classical one for rollouts.

In a node s, a simulation follows an action that has not been visited, if there is one, and otherwise the action with
the largest Q(s, a) + c sqrt(log N(s) / N(s, a)), with the sum of N(s, a) as N(s). Priors are not used. The policy and
the action to play are those of PUCT.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled
from selfplay.search.mcts.puct import most_visited, visits_as_policy
from selfplay.search.mcts.rule import Rule, RuleFunctions
from selfplay.search.mcts.tree import LOST, Edges
from selfplay.settings.checks import require_number


class UctConstants(NamedTuple):
    """The constants of UCT; see `uct`."""

    c: float


def uct(c: float = 1.4) -> Rule:
    """UCT with this weight of the exploration term; values are from -1 to 1. Raises SettingError if it is negative."""
    require_number("c", c, 0)
    functions = RuleFunctions(begin, select_at_root, select, most_visited, visits_as_policy)
    return Rule("uct", functions, lambda _simulations, _actions: UctConstants(float(c)), False)


@part_of_compiled
def begin(edges: Edges, noise: NDArray[np.float64], word: int, constants: UctConstants) -> None:
    """Do nothing: the root is a node like any other."""


@part_of_compiled
def select_at_root(edges: Edges, value: float, noise: NDArray[np.float64], constants: UctConstants) -> int:
    """As in any other node."""
    return select(edges, value, constants)


@part_of_compiled
def select(edges: Edges, value: float, constants: UctConstants) -> int:
    """The first edge that has not been visited, or else the one with the largest upper bound."""
    total = 0
    for i in range(len(edges)):
        total += edges[i].visits
    log_total = np.log(max(total, 1))
    best, chosen = -np.inf, 0
    for i in range(len(edges)):
        edge = edges[i]
        if edge.status == LOST:
            continue
        if edge.visits == 0:
            return i
        score = edge.value + constants.c * np.sqrt(log_total / edge.visits)
        if score > best:
            best, chosen = score, i
    return chosen
