"""Values of searches as targets of the afterstates that they start from."""

from torch import Tensor

from selfplay.dataset.bootstrap_values import watkins_targets
from selfplay.dataset.exact_values import exact_values_of
from selfplay.dataset.targets import PlayedMatches, is_move
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.players.capabilities import LooksAhead


def rootstrap_targets(played: PlayedMatches) -> Tensor:
    """float32[T, B]: the targets of the rule `rootstrap`."""
    record, exact = played.record, exact_values_of(played)
    # The replies of another player would teach how that player is beaten, and not what positions are worth.
    share = played.rootstrap_share if played.players[0] is played.players[1] else 1.0
    looking = played.players[0].as_a(LooksAhead)
    targets = watkins_targets(played, exact)
    if looking is None:
        return targets
    for ply, action in enumerate(record.actions):
        is_searched = is_move(played.game, action)
        # The position before the next ply is the afterstate of this one.
        if exact is not None and ply + 1 < len(exact):
            is_searched &= exact[ply + 1].isnan()
        rows = is_searched.nonzero()[:, 0]
        found = -_searched(looking, record.states[ply + 1].select(rows), played.rootstrap_depth).clamp(-1, 1)
        targets[ply, rows] = share * found + (1 - share) * targets[ply, rows]
    return targets + 0.0  # no -0.0


def _searched(looking: LooksAhead, state: State, depth: int) -> Tensor:
    first_rows, inverse = distinct_positions(state)
    return looking.values_ahead(state.select(first_rows), depth)[inverse]
