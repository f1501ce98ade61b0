"""Bootstrap values of Watkins's Q(lambda): the value of the best action in each ply in which a player explored."""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.dataset.targets import PlayedMatches, discounted_outcomes
from selfplay.games.state import MATCH_OVER, MatchRecord, State
from selfplay.players.capabilities import Explores, ValuesActions
from selfplay.players.player import Player


def watkins_targets(played: PlayedMatches, exact: Sequence[Tensor] | None) -> Tensor:
    """float32[T, B]: the targets of the rule `watkins`; `exact` as from `exact_values`."""
    bootstrap = bootstrap_values(played.record, played.players, played.key)
    if exact is not None:
        bootstrap = [known.where(~known.isnan(), best) for known, best in zip(exact, bootstrap, strict=True)]
    return discounted_outcomes(played, bootstrap)


def bootstrap_values(record: MatchRecord, players: tuple[Player, Player], key: int) -> list[Tensor]:
    """float32[B] for each ply: the value of the best action to the player to move, if it explored and took another.

    nan in all other plies, and in those of players that do not value actions.

    Args:
        players, key: the players and the stream of random numbers that the matches were played with.
    """
    return [
        _bootstrap_values_of_ply(record.states[ply], action, record, players, Draws(key, record.match, ply))
        for ply, action in enumerate(record.actions)
    ]


def _bootstrap_values_of_ply(
    state: State, action: Tensor, record: MatchRecord, players: tuple[Player, Player], draws: Draws
) -> Tensor:
    found = torch.full(action.shape, torch.nan)
    to_move = record.seats ^ state.current_player
    for number, player in enumerate(dict.fromkeys(players)):
        exploring, valuing = player.as_a(Explores), player.as_a(ValuesActions)
        if exploring is None or valuing is None:
            continue
        explored = exploring.explores(draws)
        if players[0] is not players[1]:
            explored &= to_move == number
        rows = (explored & (action != MATCH_OVER)).nonzero()[:, 0]
        if not len(rows):
            continue
        values = valuing.action_values(state.select(rows))
        best, best_action = values.nan_to_num(nan=-torch.inf).max(dim=1)
        differs = best_action != action[rows]
        found[rows[differs]] = best[differs]
    return found
