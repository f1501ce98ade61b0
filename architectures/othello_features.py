"""A weighted sum of the features of Othello positions: linear regression, whose weights a search can use."""

from typing import cast

import torch
from torch import Tensor, nn

from selfplay.errors import SettingError

TYPICAL_SIZES = {
    **{"discs": 8.0, "corners": 1.0, "stable": 8.0, "mobility": 4.0},
    **{"frontier": 4.0, "parity": 2.0, "patterns": 2.0},
}
"""About the standard deviation of each feature in play on 8x8 squares. Divided by it, all features have one size, so
that one step size fits all weights."""


class OthelloFeatures(nn.Module):
    """The value of a position to the player who has just moved: minus the weighted sum of its features, which are seen
    by the player to move.

    There is no bias, so that the sum is an evaluation as it stands; that having the move is worth something shows in
    mobility and parity. The weights begin at 0: the squared error of a sum has one minimum, wherever one begins.

    Features are computed on the CPU; observations elsewhere are copied there, and the features back.

    Raises SettingError if no game with these features has observations of this shape.
    """

    def __init__(self, observation_shape: tuple[int, ...]) -> None:
        # A program that builds another network should not wait for the compiler.
        from selfplay.games import GAMES
        from selfplay.games.feature_kernels import compile_features

        super().__init__()
        boards = (game() for game in GAMES.values())
        found = [game.features for game in boards if game.observation_shape == observation_shape]
        if not found or found[0] is None or not set(found[0].names) <= set(TYPICAL_SIZES):
            raise SettingError(
                f"architecture=othello_features: no features are known of the observation {observation_shape}"
            )
        self.names = found[0].names
        self.compute = compile_features(found[0])
        self.sizes: Tensor
        self.register_buffer("sizes", torch.tensor([TYPICAL_SIZES[name] for name in self.names]), persistent=False)
        self.linear = nn.Linear(len(self.names), 1, bias=False)
        nn.init.zeros_(self.linear.weight)

    def forward(self, observations: Tensor) -> Tensor:
        return -cast(Tensor, self.linear(self.features(observations) / self.sizes))

    def features(self, observations: Tensor) -> Tensor:
        """float32[N, K]: the features of each observation (float32[N, 2, W, W] of 0 and 1)."""
        from selfplay.games.feature_kernels import board_words

        opp, own = board_words(observations.detach().cpu())
        values = torch.empty(len(observations), len(self.names))
        self.compute(own, opp, values.numpy())
        return values.to(observations.device)

    def feature_weights(self) -> dict[str, float]:
        """The weight of each feature as it is counted: the weights of an evaluation to the player to move."""
        weights = self.linear.weight.detach()[0].double() / self.sizes.double()
        return dict(zip(self.names, weights.tolist(), strict=True))
