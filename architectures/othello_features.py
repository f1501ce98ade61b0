"""A weighted sum of the features of Othello positions: linear regression, whose weights a search can use."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from selfplay.architectures import Output
from selfplay.compute.compiled_words import word_rows
from selfplay.errors import SettingError
from selfplay.games import game_names, make_game
from selfplay.games.feature_kernels import board_words
from selfplay.games.number_kernels import compile_numbers
from selfplay.games.othello_features import BASIC_NAMES

TYPICAL_SIZES = {
    **{"discs": 8.0, "corners": 1.0, "stable": 8.0, "mobility": 4.0},
    **{"frontier": 4.0, "parity": 2.0, "patterns": 2.0, "x_squares": 1.0, "c_squares": 1.0},
}
"""Roughly the standard deviation of each feature on an 8x8 board. Features are divided by it, so that one learning
rate suits all weights."""


class OthelloFeatures(nn.Module):
    """Linear regression on the features of the position, which are seen by the player to move.

    The value to the player who has just moved is minus the weighted sum. There is no bias, so that the weights can be
    used as an evaluation. The advantage of having the move is part of mobility and parity. The weights start at 0; any
    start would do, because the squared error of a linear model has a single minimum.

    Features are computed on the CPU; observations on another device are copied to the CPU and the features back.

    Args:
        features: the names of the K features, of `selfplay.games.othello_features.NAMES`; None: BASIC_NAMES.

    Raises:
        SettingError: no game with these features has observations of this shape, or a name is unknown or given twice.
    """

    description = "a weighted sum of features"

    def __init__(self, observation_shape: tuple[int, ...], features: Sequence[str] | None = None) -> None:
        super().__init__()
        boards = (make_game(name) for name in game_names())
        game = next((game for game in boards if game.observation_shape == observation_shape and game.features), None)
        if game is None or game.features is None or not set(game.features.names) <= set(TYPICAL_SIZES):
            raise SettingError(
                f"architecture=othello_features: no features are known for observations of shape {observation_shape}; "
                "set game=othello or another architecture"
            )
        self.names = _checked(BASIC_NAMES if features is None else features, game.features.names)
        basic = game.features.basic
        computed = basic if basic is not None and set(self.names) <= set(basic.names) else game.features
        self.compute, self.num_computed = compile_numbers(computed.values, game.rules.position), len(computed.names)
        self.columns = [computed.names.index(name) for name in self.names]
        self.sizes: Tensor
        self.register_buffer("sizes", torch.tensor([TYPICAL_SIZES[name] for name in self.names]), persistent=False)
        self.linear = nn.Linear(len(self.names), 1, bias=False)
        nn.init.zeros_(self.linear.weight)

    def forward(self, observations: Tensor) -> Output:
        weighted_sum = cast(Tensor, self.linear(self.features(observations) / self.sizes))
        return Output(-weighted_sum.squeeze(1))

    def features(self, observations: Tensor) -> Tensor:
        """float32[N, K]: the features of each observation (float32[N, 2, W, W] of 0 and 1)."""
        opp, own = board_words(observations.detach().cpu())
        values = torch.empty(len(observations), self.num_computed)
        self.compute(word_rows(np.stack([own, opp], axis=1)), values.numpy())
        is_all = self.columns == list(range(self.num_computed))
        return (values if is_all else values[:, self.columns]).to(observations.device)

    def feature_weights(self) -> dict[str, float]:
        """The weight of each unscaled feature by its name, for the value to the player to move."""
        weights = self.linear.weight.detach()[0].double() / self.sizes.double()
        return dict(zip(self.names, weights.tolist(), strict=True))


def _checked(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """`names`, if they are one or more of the known ones, each once. Raises SettingError."""
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    if not is_list or not names or not set(names) <= set(known) or len(set(names)) < len(names):
        raise SettingError(f"features={names}: must be a list of different names of {', '.join(known)}")
    return tuple(names)
