"""Target rules: from the matches of a batch to the target of each afterstate.

A rule has a name in `TARGET_RULES`. To add one, write a `TargetRule` anywhere and name it `my_module:my_rule`, or
offer it as an entry point in the group `selfplay.targets`. Below the rules is what they are made of: discounted
returns, and the values of the best action where a player explored.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from selfplay.compute.elementary import power
from selfplay.compute.random_numbers import Draws
from selfplay.dataset.exact_values import exact_values
from selfplay.games.game import Game
from selfplay.games.outcomes import Outcome, match_return, outcome_of_first
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.players.player import Player
from selfplay.registry import Registry


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

    def exact_values(self) -> list[Tensor] | None:
        """As `selfplay.dataset.exact_values.exact_values`; None: rules use none."""
        if self.exact_from is None:
            return None
        return exact_values(self.game, self.record, self.outcome, self.exact_from)


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


TARGET_RULES: Registry[Any] = Registry(
    "target rule",
    {name: f"selfplay.dataset.target_rules:{name}" for name in ("full", "watkins", "best_response")},
    group="selfplay.targets",
    arguments=("played",),
    result=(Tensor, PositionTargets),
)
"""The rules for values by name; each is a `TargetRule`."""

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
    return _outcomes(played, played.exact_values())


@marked("uses_exact_values")
def watkins(played: PlayedMatches) -> Tensor:
    """As `full`, but an exploring action ends the match for the plies before it, as if the best action had been played.

    The rest of the match then does not affect the targets of earlier plies (Watkins's Q(lambda) with lambda = 1; Sutton
    & Barto, section 12.10), and z is the value of the best action to the player. `exact_from` as for `full`.
    """
    bootstrap, exact = bootstrap_values(played), played.exact_values()
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
    return _outcomes(played, played.exact_values(), own=best)


# ---------------------------------------------------------------------- what rules are made of


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
