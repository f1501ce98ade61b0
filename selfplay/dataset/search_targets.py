"""The targets of the rule `search`: policies of tree search, and outcomes of matches or values of the search."""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.dataset.exact_values import exact_values_of
from selfplay.dataset.targets import PlayedMatches, PositionTargets, is_move
from selfplay.games.match_outcome import outcome_of_first
from selfplay.games.state import MATCH_OVER
from selfplay.players.capabilities import SearchedPolicies, SearchesPolicies, policy_of


def search_targets(played: PlayedMatches) -> PositionTargets:
    """The targets of every position in which the player searched, or chose an action if it does not search.

    Both players of the matches must be the same.
    """
    record = played.record
    found = [_searched(played, ply) for ply in range(len(record.actions))]
    policy = torch.stack([part.policy for part in found]).to(torch.float32)
    # The search's value is that of the player to move.
    mixed = torch.stack([-part.value for part in found])
    exact = exact_values_of(played)
    outcome, mix = position_outcomes(played, exact), played.value_mix
    is_outcome = mixed.isnan() if exact is None else mixed.isnan() | ~torch.stack(exact).isnan()
    value = outcome if mix == 0 else torch.where(is_outcome, outcome, (1 - mix) * outcome + mix * mixed)
    is_row = (torch.stack(record.actions) != MATCH_OVER) & (policy.sum(dim=2) > 0)
    return PositionTargets(value.to(torch.float32) + 0.0, policy, is_row)


def _searched(played: PlayedMatches, ply: int) -> SearchedPolicies:
    record, (player, _) = played.record, played.players
    state = record.states[ply]
    if (searching := player.as_a(SearchesPolicies)) is not None:
        return searching.searched(state, Draws(played.key, record.match, ply))
    policy = policy_of(player, state)
    return SearchedPolicies(policy, torch.full(state.own.shape, torch.nan, dtype=torch.float64))


def position_outcomes(played: PlayedMatches, exact: Sequence[Tensor] | None = None) -> Tensor:
    """float64[T, B]: z * gamma**k of the position before each ply, for the player not to move.

    z is this player's outcome, and k the number of moves that it makes from there on. From ply 1 on these are the
    targets of the rule `full` for the afterstates of the plies before.

    Args:
        exact: float32[B] for each ply, as from `exact_values`. Where it is not nan, the match ends with this value for
            the player to move.
    """
    game, record = played.game, played.record
    of_first = outcome_of_first(game, record.states[-1], played.outcome).to(torch.float64)
    powers = torch.tensor([played.gamma**k for k in range(len(record.actions) + 1)], dtype=torch.float64)
    moves_later = torch.zeros(len(record.match), 2, dtype=torch.int64)
    outcomes = torch.empty(len(record.actions), len(record.match), dtype=torch.float64)
    for ply in reversed(range(len(record.actions))):
        mover = record.states[ply].current_player.long()[:, None]
        moves_later.scatter_add_(1, mover, is_move(game, record.actions[ply]).long()[:, None])
        if exact is not None:
            ends = ~exact[ply].isnan()
            of_first[ends] = torch.where(mover[:, 0] == 0, exact[ply], -exact[ply])[ends].to(torch.float64)
            moves_later[ends] = 0
        k = moves_later.gather(1, 1 - mover)[:, 0]
        outcomes[ply] = torch.where(mover[:, 0] == 1, of_first, -of_first) * powers[k] + 0.0
    return outcomes
