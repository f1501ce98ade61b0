"""What target rules are made of: discounted returns, values of the best action where a player explored, exact values of
late positions."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.elementary import power
from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.outcomes import Outcome, match_return, outcome_of_first
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.players.player import Player
from selfplay.search.exact_outcomes import exact_outcomes, require_exact_outcomes
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver


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
    value_share: float = 0.0
    """How much of a target is the value that a search finds in the position, from 0 to 1. The searches are those by
    which the players chose their actions."""
    exact_from: int | None = None
    """The largest number of empty squares at which rules use exact values, if they use them at all; None: nowhere."""
    opening_plies: int = 0
    """The largest number of random plies at the start of these matches, see `selfplay.players.exploring`."""
    outcomes: Tensor | None = None
    """float[B] in [-1, 1]: the outcomes for player 0, as records have them; None: those of the last states."""


class PositionTargets(NamedTuple):
    """The targets of the positions before each of the T plies of B matches, for rules with policies."""

    value: Tensor
    """float32[T, B] in [-1, 1]: the value to the player who is not to move."""
    policy: Tensor
    """float[T, B, A]: the probability of each action of the player to move."""
    is_row: Tensor
    """bool[T, B]: the positions that become rows; the others are ignored."""


TargetRule = Callable[[PlayedMatches], Any]
"""Returns float32[T, B] in [-1, 1]: the target of the afterstate of each ply of each match.

It is the value to the player who is not to move there: the one who has just moved, unless it moves again. Plies that
are not moves (see `is_move`) do not become rows, and their targets are ignored. A rule that `gives_policies` returns
`PositionTargets` instead.
"""


def is_move(game: Game, actions: Tensor) -> Tensor:
    """bool, of the shape of `actions`: False for passes and for the filler after the end of a match."""
    moved = actions != MATCH_OVER
    return moved if game.pass_action is None else moved & (actions != game.pass_action)


def discounted_returns(
    game: Game,
    record: MatchRecord,
    gamma: float,
    outcome: Outcome,
    players: Tensor,
    *,
    bootstrap: Sequence[Tensor] | None = None,
    own: Sequence[Tensor] | None = None,
    exact: Sequence[Tensor] | None = None,
    known: Tensor | None = None,
) -> Tensor:
    """float64[T + 1, B]: z * gamma**k of a player from each position on, the first and the last included.

    z is the outcome for the player, and k is the number of moves that it makes from there on.

    Args:
        players: int64[T + 1, B]: the player at each position, 0 or 1.
        bootstrap: float32[B] for each ply, as from `bootstrap_values`. Where it is not nan, the match ends after the
            move of this ply for the positions up to it, with this value (at most 1) for the player to move.
        own: the same, but the match ends only for the player to move. If both are given, `bootstrap` is used.
        exact: the same as `bootstrap`, but the match ends before the move of this ply.
        known: float[B], the outcomes for player 0; None: those of the last states.
    """
    of_first = (outcome_of_first(game, record.states[-1], outcome(game)) if known is None else known).double()
    outcomes, moves_later = torch.stack([of_first, -of_first], dim=1), torch.zeros(len(of_first), 2, dtype=torch.int64)
    powers = torch.tensor([power(gamma, k) for k in range(len(record.actions) + 1)], dtype=torch.float64)

    def end(values: Tensor, mover: Tensor, *, for_both: bool = True) -> None:
        """End the matches whose value is not nan."""
        cut = (~values.isnan()).nonzero()[:, 0]
        value, player = values[cut].clamp(-1, 1).double(), mover[cut, 0]
        outcomes[cut, player], moves_later[cut, player] = value, 0
        if for_both:
            outcomes[cut, 1 - player], moves_later[cut, 1 - player] = -value, 0

    returns = torch.empty(players.shape, dtype=torch.float64)

    def write(position: int) -> None:
        player = players[position][:, None]
        # 0 is added so that draws are not -0.0.
        returns[position] = (outcomes.gather(1, player) * powers[moves_later.gather(1, player)])[:, 0] + 0.0

    write(len(record.actions))
    for ply in reversed(range(len(record.actions))):
        mover = record.states[ply].current_player.long()[:, None]
        if own is not None:
            end(own[ply], mover, for_both=False)
        if bootstrap is not None:
            end(bootstrap[ply], mover)
        moves_later.scatter_add_(1, mover, is_move(game, record.actions[ply]).long()[:, None])
        if exact is not None:
            end(exact[ply], mover)
        write(ply)
    return returns


def players_to_move(record: MatchRecord) -> Tensor:
    """int64[T + 1, B]: the player to move at each position, 0 or 1."""
    return torch.stack([state.current_player for state in record.states]).long()


def discounted_outcomes(
    game: Game,
    record: MatchRecord,
    gamma: float = 1.0,
    outcome: Outcome = match_return,
    bootstrap: Sequence[Tensor] | None = None,
    own: Sequence[Tensor] | None = None,
    known: Tensor | None = None,
) -> Tensor:
    """float32[T, B]: the discounted return, from the afterstate of each ply on, of the player who is not to move there.

    `bootstrap`, `own` and `known` are as for `discounted_returns`.
    """
    others = 1 - players_to_move(record)
    returns = discounted_returns(game, record, gamma, outcome, others, bootstrap=bootstrap, own=own, known=known)
    return returns[1:].float()


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


TABLE_BITS = 20


@lru_cache(maxsize=1)
def solver_of(game: Game) -> ExactSolver:
    """The solver of a game. Its table is kept from batch to batch, which does not change any value.

    Only the last solver is kept: a table has 32 MB, and every shard of a run makes a new game.
    """
    return make_exact_solver(game, TABLE_BITS)


def has_exact_value(played: PlayedMatches, ply: int) -> Tensor:
    """bool[B]: whether `exact_values` knows the value of the position before this ply; all False at the end."""
    record = played.record
    if played.exact_from is None or ply == len(record.actions):
        return torch.zeros_like(record.match, dtype=torch.bool)
    return (record.actions[ply] != MATCH_OVER) & (empties(played.game, record.states[ply]) <= played.exact_from)


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
        rows = has_exact_value(played, ply).nonzero()[:, 0].numpy()
        if len(rows):
            late = state.select(torch.from_numpy(rows))
            expected[rows], outcomes = exact_outcomes(solver, late, -expected[rows], outcome)
            found[ply][rows] = torch.from_numpy(outcomes).to(torch.float32)
    return found
