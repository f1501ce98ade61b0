"""How the targets of the rules in `selfplay.dataset.target_rules` are computed, with exact values of late positions."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.elementary import power
from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game, Outcome, match_return, outcome_of_first
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.players.player import Player, SearchedPolicies, policy_of
from selfplay.search.exact_solver import (
    ExactSolver,
    empties,
    exact_outcomes,
    make_exact_solver,
    require_exact_outcomes,
)


class PlayedMatches(NamedTuple):
    """A batch of matches with everything that a target rule may need."""

    game: Game
    record: MatchRecord
    players: tuple[Player, Player]
    """The players of all the matches, as in `selfplay.matches.arena.play_batch`."""
    key: int
    """The stream of random numbers that the matches were played with."""
    gamma: float
    """The discount in [0, 1]."""
    outcome: Outcome = match_return
    value_mix: float = 0.0
    """How much of a target is the value of a search, from 0 to 1, in rules that use it."""
    exact_from: int | None = None
    """The largest number of empty squares at which rules use exact values, if they use them at all; None: nowhere."""
    rootstrap_depth: int = 3
    """The depth of the searches whose values are targets of the rule `rootstrap`, in plies."""
    rootstrap_share: float = 1.0


class PositionTargets(NamedTuple):
    """The targets of the positions before each of the T plies of B matches, for rules with policies."""

    value: Tensor
    """float32[T, B] in [-1, 1]: the value to the player who is not to move, who has just moved except at the start."""
    policy: Tensor
    """float[T, B, A]: the probability of each action of the player to move."""
    is_row: Tensor
    """bool[T, B]: the positions that become rows; the others are ignored."""


TargetRule = Callable[[PlayedMatches], Any]
"""Returns float32[T, B] in [-1, 1]: the target of the afterstate of each ply of each match.

It is the value to the player who has just moved. Plies that are not moves (see `is_move`) do not become rows, and their
targets are ignored. A rule that `gives_policies` returns `PositionTargets` instead.
"""


def is_move(game: Game, actions: Tensor) -> Tensor:
    """bool, of the shape of `actions`: False for passes and for the filler after the end of a match."""
    moved = actions != MATCH_OVER
    return moved if game.pass_action is None else moved & (actions != game.pass_action)


def discounted_outcomes(
    played: PlayedMatches, bootstrap: Sequence[Tensor] | None = None, own: Sequence[Tensor] | None = None
) -> Tensor:
    """float32[T, B]: z * gamma**k of each ply, as in `selfplay.dataset.target_rules.full`.

    Args:
        bootstrap: float32[B] for each ply, as from `bootstrap_values`. Where it is not nan, the match ends there for
            the plies before it, with this value (at most 1) for the player to move.
        own: the same, but the match ends only for the plies of the player to move. If both are given, `bootstrap` is
            used.
    """
    game, record = played.game, played.record
    moves_later = torch.zeros(len(record.match), 2, dtype=torch.int64)
    powers = torch.tensor([power(played.gamma, k) for k in range(len(record.actions) + 1)], dtype=torch.float64)
    of_first = outcome_of_first(game, record.states[-1], played.outcome(game))
    outcomes = torch.stack([of_first, -of_first], dim=1)
    targets = torch.empty(len(record.actions), len(record.match))
    for ply in reversed(range(len(record.actions))):
        mover = record.states[ply].current_player.long()[:, None]
        k = moves_later.gather(1, mover)[:, 0]
        # 0 is added so that draws are not -0.0.
        targets[ply] = outcomes.gather(1, mover)[:, 0] * powers[k] + 0.0
        for values, for_both in ((own, False), (bootstrap, True)):
            if values is not None:
                cut = (~values[ply].isnan()).nonzero()[:, 0]
                value, player = values[ply][cut].clamp(-1, 1), mover[cut, 0]
                outcomes[cut, player], moves_later[cut, player] = value, 0
                if for_both:
                    outcomes[cut, 1 - player], moves_later[cut, 1 - player] = -value, 0
        moves_later.scatter_add_(1, mover, is_move(game, record.actions[ply]).long()[:, None])
    return targets


def watkins_targets(played: PlayedMatches, exact: Sequence[Tensor] | None) -> Tensor:
    """float32[T, B]: the targets of the rule `watkins`; `exact` as from `exact_values`."""
    bootstrap = bootstrap_values(played)
    if exact is not None:
        bootstrap = [known.where(~known.isnan(), best) for known, best in zip(exact, bootstrap, strict=True)]
    return discounted_outcomes(played, bootstrap)


def bootstrap_values(played: PlayedMatches) -> list[Tensor]:
    """float32[B] for each ply: the value of the best action to the player to move, if it explored and took another.

    nan in all other plies, and in those of players that do not value actions.
    """
    return [_bootstrap_values_of_ply(played, ply) for ply in range(len(played.record.actions))]


def _bootstrap_values_of_ply(played: PlayedMatches, ply: int) -> Tensor:
    record, players = played.record, played.players
    state, action = record.states[ply], record.actions[ply]
    draws = Draws(played.key, record.match, ply)
    found = torch.full(action.shape, torch.nan)
    to_move = record.seats ^ state.current_player
    for number, player in enumerate(dict.fromkeys(players)):
        explored = player.explores(draws)
        if explored is None:
            continue
        if players[0] is not players[1]:
            explored &= to_move == number
        rows = (explored & (action != MATCH_OVER)).nonzero()[:, 0]
        if not len(rows):
            continue
        values = player.action_values(state.select(rows))
        if values is None:
            continue
        best, best_action = values.nan_to_num(nan=-torch.inf).max(dim=1)
        differs = best_action != action[rows]
        found[rows[differs]] = best[differs]
    return found


def rootstrap_targets(played: PlayedMatches) -> Tensor:
    """float32[T, B]: the targets of the rule `rootstrap`."""
    record, exact = played.record, exact_values(played)
    # From the replies of another player the level would learn how to beat this player, not the values of positions.
    share = played.rootstrap_share if played.players[0] is played.players[1] else 1.0
    player, targets = played.players[0], watkins_targets(played, exact)
    if not player.most_plies_ahead:
        return targets
    for ply, action in enumerate(record.actions):
        is_searched = is_move(played.game, action)
        # The position before the next ply is the afterstate of this one.
        if exact is not None and ply + 1 < len(exact):
            is_searched &= exact[ply + 1].isnan()
        rows = is_searched.nonzero()[:, 0]
        state = record.states[ply + 1].select(rows)
        first_rows, inverse = distinct_positions(state)
        found = -player.values_ahead(state.select(first_rows), played.rootstrap_depth)[inverse].clamp(-1, 1)
        targets[ply, rows] = share * found + (1 - share) * targets[ply, rows]
    return targets + 0.0  # no -0.0


def search_targets(played: PlayedMatches) -> PositionTargets:
    """The targets of every position in which the player searched, or chose an action if it does not search.

    Both players of the matches must be the same.
    """
    record = played.record
    found = [_searched(played, ply) for ply in range(len(record.actions))]
    policy = torch.stack([part.policy for part in found]).to(torch.float32)
    # The search's value is that of the player to move.
    mixed = torch.stack([-part.value for part in found])
    exact = exact_values(played)
    outcome, mix = position_outcomes(played, exact), played.value_mix
    is_outcome = mixed.isnan() if exact is None else mixed.isnan() | ~torch.stack(exact).isnan()
    value = outcome if mix == 0 else torch.where(is_outcome, outcome, (1 - mix) * outcome + mix * mixed)
    is_row = (torch.stack(record.actions) != MATCH_OVER) & (policy.sum(dim=2) > 0)
    return PositionTargets(value.to(torch.float32) + 0.0, policy, is_row)


def _searched(played: PlayedMatches, ply: int) -> SearchedPolicies:
    record, (player, _) = played.record, played.players
    state = record.states[ply]
    searched = player.searched(state, Draws(played.key, record.match, ply))
    if searched is not None:
        return searched
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
    of_first = outcome_of_first(game, record.states[-1], played.outcome(game)).to(torch.float64)
    powers = torch.tensor([power(played.gamma, k) for k in range(len(record.actions) + 1)], dtype=torch.float64)
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


TABLE_BITS = 20


@lru_cache(maxsize=1)
def solver_of(game: Game) -> ExactSolver:
    """The solver of a game. Its table is kept from batch to batch, which does not change any value.

    Only the last solver is kept: a table has 32 MB, and every shard of a run makes a new game.
    """
    return make_exact_solver(game, TABLE_BITS)


def exact_values(played: PlayedMatches) -> list[Tensor] | None:
    """float32[B] for each ply: the exact value of the position before it to the player to move; None: not wanted.

    nan where more than `exact_from` squares are empty, or the match is over.

    Raises SettingError if the game has no exact solver, or its values do not give the outcome.
    """
    game, record, exact_from = played.game, played.record, played.exact_from
    if exact_from is None:
        return None
    require_exact_outcomes(game, played.outcome, exact_from)
    solver, outcome = solver_of(game), played.outcome(game)
    found = [torch.full(action.shape, torch.nan) for action in record.actions]
    expected = np.zeros(len(record.match), dtype=np.int64)
    # The last plies first: their values, which the table keeps, help to solve the earlier ones.
    for ply in reversed(range(len(found))):
        state = record.states[ply]
        is_late = (record.actions[ply] != MATCH_OVER) & (empties(game, state) <= exact_from)
        rows = is_late.nonzero()[:, 0].numpy()
        if len(rows):
            late = state.select(torch.from_numpy(rows))
            expected[rows], outcomes = exact_outcomes(solver, late, -expected[rows], outcome)
            found[ply][rows] = torch.from_numpy(outcomes).to(torch.float32)
    return found
