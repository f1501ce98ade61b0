"""Target rules: from the matches of a batch to the target of each afterstate.

A rule is chosen by name (the setting `targets`, `selfplay.settings.choices.TARGET_RULES`). To add one, write a
`TargetRule` anywhere and set `targets=my_module:my_rule`, or offer it as an entry point in the group
`selfplay.targets`.

A stage that is skipped asks only for attributes of a rule, so torch is imported when targets are computed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

    from selfplay.dataset.targets import PlayedMatches, PositionTargets

Rule = TypeVar("Rule", bound=Callable[..., Any])


def marked(*marks: str) -> Callable[[Rule], Rule]:
    """Declare properties of a rule:

    gives_policies: it returns `PositionTargets`. Levels then play with tree search, and need a policy head.
    is_full_without_exploration: for matches without exploration, such as those of level 0, it gives the targets of
    `full`. Level 0 is then not generated again when the rule is replaced by another rule with this property.
    uses_exact_values: it uses the exact values of late positions, so that the setting `exact_from` may be set.
    searches_ahead: it uses searches of `rootstrap_depth` plies, whose values are not discounted.
    """

    def mark(rule: Rule) -> Rule:
        vars(rule).update(dict.fromkeys(marks, True))
        return rule

    return mark


@marked("is_full_without_exploration", "uses_exact_values")
def full(played: "PlayedMatches") -> "Tensor":
    """Discounted outcomes of whole matches: z * gamma**k (Sutton & Barto, section 3.3, with one return at the end).

    z is the player's outcome, and k is the number of moves that this player makes later in the match. With `exact_from`
    the match ends at the first position with at most this number of empty squares, with its exact value.
    """
    from selfplay.dataset.targets import discounted_outcomes, exact_values

    return discounted_outcomes(played, exact_values(played))


@marked("is_full_without_exploration", "uses_exact_values")
def watkins(played: "PlayedMatches") -> "Tensor":
    """As `full`, but an exploring action ends the match for the plies before it, as if the best action had been played.

    The rest of the match then does not affect the targets of earlier plies (Watkins's Q(lambda) with lambda = 1; Sutton
    & Barto, section 12.10), and z is the value of the best action to the player. `exact_from` as for `full`.
    """
    from selfplay.dataset.targets import exact_values, watkins_targets

    return watkins_targets(played, exact_values(played))


@marked("is_full_without_exploration", "uses_exact_values")
def best_response(played: "PlayedMatches") -> "Tensor":
    """As `watkins`, but an exploring action ends the match only for the player who took it.

    The opponent's exploration is a part of the environment, as in Q-learning. So z is the outcome for a player who no
    longer explores, against an opponent who does. Drawn positions then differ in value by the chance that the opponent
    makes a mistake. `exact_from` as for `full`.
    """
    from selfplay.dataset.targets import bootstrap_values, discounted_outcomes, exact_values

    best = bootstrap_values(played)
    return discounted_outcomes(played, exact_values(played), own=best)


@marked("is_full_without_exploration", "uses_exact_values", "searches_ahead")
def rootstrap(played: "PlayedMatches") -> "Tensor":
    """The value that the level finds by a search `rootstrap_depth` plies deep (Veness et al., "Bootstrapping from game
    tree search", 2009, with minimax searches that start from each afterstate).

    With a `rootstrap_share` below 1, the rest of the target is that of `watkins`. With it, the ends of matches affect
    early positions after fewer levels. It is not used in matches against other players. With `exact_from`, positions
    with at most this number of empty squares have their exact values. Level 0, the random player, does not value
    positions; its targets are those of `full`.
    """
    from selfplay.dataset.targets import rootstrap_targets

    return rootstrap_targets(played)


@marked("gives_policies", "uses_exact_values")
def search(played: "PlayedMatches") -> "PositionTargets":
    """The policy that the player's tree search finds in each position, and the discounted outcome of the whole match.

    A share `value_mix` of the target is the value that the search finds. (Silver et al., Science 362, 2018, use the
    outcome alone.) Level 0, the random player, has the policy that it plays: all actions equally probable.

    With `exact_from`, positions with at most this number of empty squares have their exact values, and for earlier
    positions the match ends with the first of these values.
    """
    from selfplay.dataset.targets import search_targets

    return search_targets(played)
