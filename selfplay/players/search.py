"""The player that looks ahead."""

import torch
from torch import Tensor

from selfplay.games.game import State
from selfplay.games.kernels import distinct_positions
from selfplay.players.player import Player, one_hot_policy
from selfplay.randomness import Draws
from selfplay.search.searcher import Searcher, check_reach


class SearchPlayer(Player):
    """Takes the action that a search of a fixed depth finds best; of equal ones the lowest.

    Args:
        depth: plies to look ahead, 1 or more.
        time_limit: seconds for each decision; None: as long as the depth takes. With a limit the same seed need not
            give the same match.

    Raises:
        SettingError: a depth or a limit out of range.
    """

    def __init__(
        self, searcher: Searcher, depth: int, *, time_limit: float | None = None, name: str | None = None
    ) -> None:
        check_reach(depth, time_limit)
        self.game, self.searcher, self.depth, self.time_limit = searcher.game, searcher, depth, time_limit
        self.name = name or f"{searcher.algorithm.name.lower()} {depth}"

    def act(self, state: State, draws: Draws) -> Tensor:
        return self._actions(state)

    def policy(self, state: State) -> Tensor:
        return one_hot_policy(self._actions(state).clamp(min=0), self.game.legal_action_mask(state))

    def action_values(self, state: State) -> Tensor:
        """float32[B, A]: the value of each action to the player to move, on the scale of the evaluation."""
        return self.searcher.action_values(state, self.depth, time_limit=self.time_limit).to(torch.float32)

    def _actions(self, state: State) -> Tensor:
        first, inverse = distinct_positions(state)
        distinct = state.select(first)
        if self.time_limit is None:
            actions = torch.from_numpy(self.searcher.search_batch(distinct, self.depth).actions)
        else:
            singles = (distinct.select(torch.tensor([row])) for row in range(distinct.batch_size))
            found = [self.searcher.search(single, self.depth, time_limit=self.time_limit) for single in singles]
            actions = torch.tensor([result.action for result in found])
        return actions[inverse]
