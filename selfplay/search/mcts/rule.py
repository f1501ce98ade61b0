"""What a rule of tree search is: how actions are selected, at the root and below, and what the search concludes.

A rule is chosen by name (`selfplay.settings.choices.SEARCH_RULES`: puct, gumbel, uct). To add one, write a function
that takes the rule's constants, each with a default, and returns a `Rule`; add a line to the registry, offer it as an
entry point in the group `selfplay.search_rules`, or name it `module:function`.

The functions of a rule are compiled into the search. They are pure functions of the edges of one node (see
`selfplay.search.mcts.tree.Edge`) and of the rule's constants, and never choose an edge whose status is LOST while there
are others.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from selfplay.errors import SettingError
from selfplay.settings.choices import SEARCH_RULES

Constants = Any
"""The constants of a rule in a form that compiled code accepts: a NamedTuple of numbers and arrays."""


class RuleFunctions(NamedTuple):
    """The compiled part of a rule; see the functions of `selfplay.search.mcts.puct` for examples.

    `edges` are the edges of one node, `value` the evaluator's value of the node, and `noise` (float64, one for each
    edge of the root) is memory for random numbers that `begin` draws.
    """

    begin: Callable[..., None]
    """(edges, noise, word, constants): prepare the root once its priors are known; `word` is a random int64."""
    select_at_root: Callable[..., int]
    """(edges, value, noise, constants) to the number of the edge that a simulation follows from the root."""
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
    """Whether `begin` uses its random word."""
    continues: bool = True
    """Whether a search may begin with a root that earlier simulations have visited."""


def make_rule(name: str, constants: Mapping[str, float] | None = None) -> Rule:
    """The rule with this name and these constants; those not given have their defaults.

    Raises SettingError if the name or a constant is unknown, or a constant is out of range.
    """
    build, given = SEARCH_RULES[name], dict(constants or {})
    known = list(inspect.signature(build).parameters)
    if foreign := sorted(set(given) - set(known)):
        raise SettingError(f"rule={name} has no constant {foreign[0]!r}; it has {', '.join(known) or 'none'}")
    rule: Rule = build(**given)
    return rule
