"""What a target rule makes the targets of, and the discounted outcomes that the rules of this package share."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from selfplay.games.game import Game
from selfplay.games.match_outcome import Outcome, match_return, outcome_of_first
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.players.player import Player


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
    """The value of the end of a match."""
    value_mix: float = 0.0
    """Share of the value of searches in the targets of rules that use it."""
    exact_from: int | None = None
    """The number of empty squares from which on rules that use exact values take them; None: nowhere."""
    rootstrap_depth: int = 3
    """The depth of the searches whose values are targets of the rule `rootstrap`, in plies."""
    rootstrap_share: float = 1.0
    """The share of these values in the targets."""


class PositionTargets(NamedTuple):
    """The targets of the positions before each of the T plies of B matches, for rules with policies."""

    value: Tensor
    """float32[T, B] in [-1, 1]: the value to the player who has just moved; at the start, to the player not to move."""
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
        own: the same, but the match ends only for the plies of the player to move. Where both are given, `bootstrap`
            counts.
    """
    game, record = played.game, played.record
    moves_later = torch.zeros(len(record.match), 2, dtype=torch.int64)
    powers = torch.tensor([played.gamma**k for k in range(len(record.actions) + 1)], dtype=torch.float64)
    of_first = outcome_of_first(game, record.states[-1], played.outcome)
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
