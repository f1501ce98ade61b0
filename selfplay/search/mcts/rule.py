"""What a rule of tree search is: how actions are selected, at the root and below, and what the search concludes.

A rule is chosen by name (`SEARCH_RULES`: puct, gumbel, uct). To add one, write a function
that takes the rule's constants, each with a default, and returns a `Rule`; add a line to the registry, offer it as an
entry point in the group `selfplay.search_rules`, or name it `module:function`.

The functions of a rule are compiled into the search. They are pure functions of the edges of one node (see
`selfplay.search.mcts.tree.Edge`) and of the constants of the rule. They do not choose an edge whose status is LOST,
unless all edges are LOST.

UCT is defined here too, as the shortest example.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import Range
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.elementary import logarithm
from selfplay.compute.random_numbers import uniform_bits
from selfplay.errors import SettingError
from selfplay.registry import Registry
from selfplay.search.mcts.tree import LOST, Edges

TWO_TO_53 = float(1 << 53)

Constants = Any
"""The constants of a rule in a form that compiled code accepts: a NamedTuple of numbers and arrays, of which the
functions can read only the attributes (see `by_reference`)."""


class RuleFunctions(NamedTuple):
    """The compiled part of a rule; see the functions of `selfplay.search.mcts.puct` for examples.

    `edges` are the edges of one node, `value` the evaluator's value of the node, and `noise` (float64, one for each
    edge of the root) is memory for random numbers that `begin` draws.
    """

    begin: Callable[..., None]
    """(edges, noise, bits, constants): prepare the root once its priors are known; `bits` is a random int64."""
    select_at_root: Callable[..., int]
    """(edges, value, noise, constants, chosen): write the numbers of the edges that the next simulations follow from
    the root into `chosen` (int64[A]); returns how many, at least one. All are different, so that these simulations end
    in different subtrees, and their positions can be evaluated together."""
    select: Callable[..., int]
    """(edges, value, constants) to the number of the edge that a simulation follows from any other node."""
    final_score: Callable[..., float]
    """(edges, i, noise, constants) to the score of edge i after the search; the largest one is the action to play."""
    policy: Callable[..., None]
    """(edges, value, constants, weights): write the weight of each edge in the improved policy (float64)."""


class Rule(NamedTuple):
    """A rule with its constants."""

    name: str
    functions: RuleFunctions
    constants: Callable[[int, int], Constants]
    """(simulations, number of distinct actions) to the constants of a search."""
    is_random: bool
    """Whether `begin` uses its random bits."""
    continues: bool = True
    """Whether a search may begin with a root that earlier simulations have visited."""


SEARCH_RULES: Registry[Any] = Registry(
    "rule of tree search",
    {
        "puct": "selfplay.search.mcts.puct:puct",
        "gumbel": "selfplay.search.mcts.gumbel:gumbel",
        "uct": "selfplay.search.mcts.rule:uct",
    },
    group="selfplay.search_rules",
    arguments=(),
    result=(Rule,),
)
"""Functions from constants to rules, by name."""


def make_rule(name: str, constants: Mapping[str, float] | None = None) -> Rule:
    """The rule with this name and these constants; those not given have their defaults.

    Raises SettingError if the name or a constant is unknown, or a constant is out of range.
    """
    given, known = dict(constants or {}), constants_of_rule(name)
    if foreign := sorted(set(given) - set(known)):
        raise SettingError(f"rule={name} has no constant {foreign[0]!r}; it has {', '.join(known) or 'none'}")
    rule: Rule = SEARCH_RULES[name](**given)
    return rule


def constants_of_rule(name: str) -> list[str]:
    """The names of the constants of the rule with this name. Raises SettingError if the name is unknown."""
    return list(inspect.signature(SEARCH_RULES[name]).parameters)


@part_of_compiled
def open_uniform(bits: int) -> float:
    """A uniform float64 in (0, 1) from random bits."""
    number: float = (uniform_bits(bits) + 0.5) / TWO_TO_53
    return number


@part_of_compiled
def most_visited(edges: Edges, i: int, noise: NDArray[np.float64], constants: Constants) -> float:
    """The number of visits; if they are equal, the value decides."""
    score: float = edges[i].visits + 0.25 * edges[i].value
    return score


@part_of_compiled
def visits_as_policy(edges: Edges, value: float, constants: Constants, weights: NDArray[np.float64]) -> None:
    """Weights in proportion to the visits."""
    for i in range(len(edges)):
        weights[i] = edges[i].visits


class UctConstants(NamedTuple):
    """The constants of UCT; see `uct`."""

    c: float


def uct(c: float = 1.4) -> Rule:
    """UCT (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006), the classical rule for rollouts.

    In a node s, a simulation follows an action that has not been visited, if there is one, and otherwise the action
    with the largest Q(s, a) + c sqrt(log N(s) / N(s, a)), with the sum of N(s, a) as N(s). Priors are not used. The
    policy and the action to play are those of PUCT.

    Args:
        c: the weight of the exploration term; values are from -1 to 1.

    Raises SettingError if c is negative.
    """
    Range(0).check("c", c)
    functions = RuleFunctions(keep_priors, select_root_by_uct, select_by_uct, most_visited, visits_as_policy)
    return Rule("uct", functions, partial(_constants, float(c)), False)


def _constants(c: float, simulations: int, num_actions: int) -> UctConstants:
    return UctConstants(c)


@part_of_compiled
def keep_priors(edges: Edges, noise: NDArray[np.float64], bits: int, constants: UctConstants) -> None:
    """Do nothing: the root is a node like any other."""


@part_of_compiled
def select_root_by_uct(
    edges: Edges, value: float, noise: NDArray[np.float64], constants: UctConstants, chosen: NDArray[np.int64]
) -> int:
    """One edge, as in any other node."""
    chosen[0] = select_by_uct(edges, value, constants)
    return 1


@part_of_compiled
def select_by_uct(edges: Edges, value: float, constants: UctConstants) -> int:
    """The first edge that has not been visited, or else the one with the largest upper bound."""
    total = 0
    for i in range(len(edges)):
        total += edges[i].visits
    log_total = logarithm(max(total, 1))
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
