"""Targets that searches find: policies, which learner=policy learns, and values that are mixed with outcomes."""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.dataset.exact_values import has_exact_value
from selfplay.dataset.target_rules import (
    PlayedMatches,
    PositionTargets,
    discounted_returns,
    is_move,
    marked,
    players_to_move,
)
from selfplay.games.state import MATCH_OVER
from selfplay.players.capabilities import Searches, capability
from selfplay.players.player import SearchedPolicies, policy_of


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
    exact = played.exact_values()
    outcome, mix = _outcomes_before(played, exact), played.value_share
    is_outcome = mixed.isnan() if exact is None else mixed.isnan() | ~torch.stack(exact).isnan()
    value = outcome if mix == 0 else torch.where(is_outcome, outcome, (1 - mix) * outcome + mix * mixed)
    is_row = (torch.stack(record.actions) != MATCH_OVER) & (policy.sum(dim=2) > 0)
    return PositionTargets(value.to(torch.float32) + 0.0, policy, is_row)


@marked("gives_policies", "uses_exact_values")
def chosen_actions(played: PlayedMatches) -> PositionTargets:
    """The action that was chosen in each position as its policy, and the discounted outcome; `exact_from` as for
    `search_targets`."""
    actions = torch.stack(played.record.actions)
    is_row = actions != MATCH_OVER
    policy = torch.zeros(*actions.shape, played.game.num_distinct_actions)
    policy.scatter_(2, torch.where(is_row, actions, 0)[:, :, None], 1)
    return PositionTargets(_outcomes_before(played, played.exact_values()).float() + 0.0, policy, is_row)


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
    if capability(played.players[0], Searches) is None:
        return targets
    share = played.value_share
    for ply, action in enumerate(played.record.actions):
        # The position before the next ply is the afterstate of this one.
        rows = (
            is_move(played.game, action) & ~has_exact_value(played.game, played.record, played.exact_from, ply + 1)
        ).nonzero()[:, 0]
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
