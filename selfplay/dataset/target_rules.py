"""Target rules: from the matches of a batch to the target of each afterstate.

A rule has a name in `TARGET_RULES`. To add one, write a `TargetRule` anywhere and name it `my_module:my_rule`, or
offer it as an entry point in the group `selfplay.targets`.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.dataset.targets import (
    PlayedMatches,
    PositionTargets,
    bootstrap_values,
    discounted_outcomes,
    discounted_returns,
    exact_values,
    has_exact_value,
    is_move,
    players_to_move,
)
from selfplay.games.state import MATCH_OVER
from selfplay.players.capabilities import Searches
from selfplay.players.player import SearchedPolicies, policy_of
from selfplay.registry import Registry

TARGET_RULES: Registry[Any] = Registry(
    "target rule",
    {name: f"selfplay.dataset.target_rules:{name}" for name in ("full", "watkins", "best_response")},
    group="selfplay.targets",
    arguments=("played",),
    result=(Tensor, PositionTargets),
)
"""The rules for values by name; each is a `selfplay.dataset.targets.TargetRule`. `search` is that of learner=policy."""

Rule = TypeVar("Rule", bound=Callable[..., Any])


def marked(*marks: str) -> Callable[[Rule], Rule]:
    """Declare properties of a rule:

    gives_policies: it returns `PositionTargets`. Levels then play with tree search, and need a policy head.
    uses_exact_values: it uses the exact values of late positions, so that `exact_from` may be given.
    """

    def mark(rule: Rule) -> Rule:
        vars(rule).update(dict.fromkeys(marks, True))
        return rule

    return mark


def _outcomes(played: PlayedMatches, bootstrap: Sequence[Tensor] | None, own: Sequence[Tensor] | None = None) -> Tensor:
    known = played.outcomes
    return discounted_outcomes(played.game, played.record, played.gamma, played.outcome, bootstrap, own, known)


@marked("uses_exact_values")
def full(played: PlayedMatches) -> Tensor:
    """Discounted outcomes of whole matches: z * gamma**k (Sutton & Barto, section 3.3, with one return at the end).

    z is the player's outcome, and k is the number of moves that this player makes later in the match. With `exact_from`
    the match ends at the first position with at most this number of empty squares, with its exact value.
    """
    return _outcomes(played, exact_values(played))


@marked("uses_exact_values")
def watkins(played: PlayedMatches) -> Tensor:
    """As `full`, but an exploring action ends the match for the plies before it, as if the best action had been played.

    The rest of the match then does not affect the targets of earlier plies (Watkins's Q(lambda) with lambda = 1; Sutton
    & Barto, section 12.10), and z is the value of the best action to the player. `exact_from` as for `full`.
    """
    bootstrap, exact = bootstrap_values(played), exact_values(played)
    if exact is not None:
        bootstrap = [known.where(~known.isnan(), best) for known, best in zip(exact, bootstrap, strict=True)]
    return _outcomes(played, bootstrap)


@marked("uses_exact_values")
def best_response(played: PlayedMatches) -> Tensor:
    """As `watkins`, but an exploring action ends the match only for the player who took it.

    The opponent's exploration is a part of the environment, as in Q-learning. So z is the outcome for a player who no
    longer explores, against an opponent who does. Drawn positions then differ in value by the chance that the opponent
    makes a mistake. `exact_from` as for `full`.
    """
    best = bootstrap_values(played)
    return _outcomes(played, exact_values(played), own=best)


@marked("gives_policies", "uses_exact_values")
def search_targets(played: PlayedMatches) -> PositionTargets:
    """The policy that the player's tree search finds in each position, and the discounted outcome of the whole match.

    A share `value_share` of the target is the value that the search finds. (Silver et al., Science 362, 2018, use the
    outcome alone.) Level 0, the random player, has the policy that it plays: all actions equally probable. Both players
    of the matches must be the same.

    With `exact_from`, positions with at most this number of empty squares have their exact values, and for earlier
    positions the match ends with the first of these values.
    """
    record = played.record
    found = [_searched(played, ply) for ply in range(len(record.actions))]
    policy = torch.stack([part.policy for part in found]).to(torch.float32)
    # The search's value is that of the player to move.
    mixed = torch.stack([-part.value for part in found])
    exact = exact_values(played)
    outcome, mix = _outcomes_before(played, exact), played.value_share
    is_outcome = mixed.isnan() if exact is None else mixed.isnan() | ~torch.stack(exact).isnan()
    value = outcome if mix == 0 else torch.where(is_outcome, outcome, (1 - mix) * outcome + mix * mixed)
    is_row = (torch.stack(record.actions) != MATCH_OVER) & (policy.sum(dim=2) > 0)
    return PositionTargets(value.to(torch.float32) + 0.0, policy, is_row)


@marked("gives_policies", "uses_exact_values")
def chosen_actions(played: PlayedMatches) -> PositionTargets:
    """The action that was chosen in each position as its policy, and the discounted outcome; `exact_from` as for
    `search`."""
    actions = torch.stack(played.record.actions)
    is_row = actions != MATCH_OVER
    policy = torch.zeros(*actions.shape, played.game.num_distinct_actions)
    policy.scatter_(2, torch.where(is_row, actions, 0)[:, :, None], 1)
    return PositionTargets(_outcomes_before(played, exact_values(played)).float() + 0.0, policy, is_row)


def _outcomes_before(played: PlayedMatches, exact: Sequence[Tensor] | None) -> Tensor:
    """float64[T, B]: the discounted outcomes, of the player not to move, from the position before each ply on."""
    record, known = played.record, played.outcomes
    others = 1 - players_to_move(record)
    returns = discounted_returns(played.game, record, played.gamma, played.outcome, others, exact=exact, known=known)
    return returns[:-1]


def _searched(played: PlayedMatches, ply: int) -> SearchedPolicies:
    record, (player, _) = played.record, played.players
    state = record.states[ply]
    searched = player.searched(state, Draws(played.key, record.match, ply))
    if searched is not None:
        return searched
    policy = policy_of(player, state)
    return SearchedPolicies(policy, torch.full(state.terminated.shape, torch.nan, dtype=torch.float64))


# ---------------------------------------------------------------------- values of searches


def with_values(played: PlayedMatches, targets: Tensor) -> Tensor:
    """The targets of afterstates (float32[T, B]), of which `value_share` is the value that a search finds there.

    It is the value by which the next action was chosen. Such values have other errors than outcomes (Veness et al.,
    "Bootstrapping from game tree search", 2009), and the ends of matches affect early positions after fewer levels.
    Exact values remain, and where nothing was searched, the whole target. Both players of the matches must be the
    same. Level 0, the random player, does not search.
    """
    if played.value_share == 0 or not isinstance(played.players[0].unwrapped, Searches):
        return targets
    share = played.value_share
    for ply, action in enumerate(played.record.actions):
        # The position before the next ply is the afterstate of this one.
        rows = (is_move(played.game, action) & ~has_exact_value(played, ply + 1)).nonzero()[:, 0]
        values = _values_of_play(played, ply + 1, rows).clamp(-1, 1)
        mixed = share * values + (1 - share) * targets[ply, rows]
        targets[ply, rows] = mixed.where(~values.isnan(), targets[ply, rows])
    return targets + 0.0  # no -0.0


def _values_of_play(played: PlayedMatches, position: int, rows: Tensor) -> Tensor:
    """float32[N]: the values of positions to the player who is not to move, by the searches of the next actions.

    nan where there were none.
    """
    record = played.record
    if position == len(record.actions):
        return torch.full(rows.shape, torch.nan)
    found = played.players[0].searched(record.states[position], Draws(played.key, record.match, position))
    assert found is not None, "a player that searches"
    return -found.value[rows].float()
