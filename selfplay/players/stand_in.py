"""The player that plays while another one is being loaded: nothing has to be compiled for it."""

import torch
from torch import Tensor

from selfplay.compute.compilation import in_plain_python
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player

MOST_REPLIES = 600
"""How many replies are tried at a ply, which takes 0.1 to 1 ms for each."""


class StandIn(Player):
    """Wins at once if it can, takes no action after which the other can, if there is one, and else acts at random.

    Actions that the rules do not call sensible are left out. On large boards it does not try all replies
    (`MOST_REPLIES`).
    """

    name = "stand-in"

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, state: State, draws: Draws) -> Tensor:
        with in_plain_python():
            numbers = draws.uniforms(Purpose.RANDOM_ACTION).tolist()
            chosen = [self._action(state.select(torch.tensor([row])), one) for row, one in enumerate(numbers)]
        return torch.tensor(chosen)

    def _action(self, state: State, number: float) -> int:
        """The action in one match. `number`, in [0, 1), says which of equally good actions it is."""
        actions = self.game.sensible_action_mask(state)[0].nonzero()[:, 0]
        if len(actions) <= 1:
            return int(actions[0]) if len(actions) else 0
        actions = actions.roll(int(number * len(actions)))
        after, results = self._after(state, actions)
        if (results == 1).any():
            return int(actions[int((results == 1).nonzero()[0])])
        replies, left = list[int](), MOST_REPLIES
        for row in (results != -1).nonzero()[:, 0]:
            following = after.select(row[None])
            if bool(following.terminated) or following.current_player == state.current_player or left <= 0:
                return int(actions[row])
            tried, refutation = self._refutation(following, replies)
            left -= tried
            if refutation is None:
                return int(actions[row])
            replies = [refutation, *(one for one in replies if one != refutation)]
        return int(actions[0])

    def _after(self, state: State, actions: Tensor) -> tuple[State, Tensor]:
        """The states after each action in one match, and float32[N], their returns to its player; 0 if they go on."""
        after = self.game.kernels.step(state.select(torch.zeros_like(actions)), actions)
        return after, after.returns_to(state.current_player)

    def _refutation(self, state: State, likely: list[int]) -> tuple[int, int | None]:
        """The number of replies tried, and the first that wins at once; None if none does. `likely`: tried first."""
        legal = self.game.legal_action_mask(state)[0]
        first = [reply for reply in likely if legal[reply]]
        others = [reply for reply in legal.nonzero()[:, 0].tolist() if reply not in first]
        for count, replies in enumerate((first, others)):
            if replies:
                wins = (self._after(state, torch.tensor(replies))[1] == 1).nonzero()[:, 0]
                if len(wins):
                    return len(first) + count * len(others), replies[int(wins[0])]
        return len(first) + len(others), None
