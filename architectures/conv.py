"""A 3x3 convolution over the whole board, then linear layers."""

from collections.abc import Sequence

from torch import Tensor, nn

from selfplay.architectures import Output, require_board, require_positive_integers
from selfplay.architectures.capabilities import LayerLists
from selfplay.architectures.mlp import hidden_layers


class Conv(nn.Module):
    """One 3x3 convolution that keeps the size of the board, ReLU, then linear layers as in `MLP`.

    Raises SettingError if the observation is not a board (planes, rows, columns), or a size is out of range.
    """

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        channels: int = 64,
        hidden_sizes: Sequence[int] = (128,),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_board("conv", observation_shape, "mlp")
        require_positive_integers(channels=channels)
        planes, rows, columns = observation_shape
        sizes = [channels * rows * columns, *hidden_sizes]
        self.layers = nn.Sequential(
            nn.Conv2d(planes, channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            *hidden_layers(sizes, dropout),
            nn.Linear(sizes[-1], 1),
        )

    def forward(self, observations: Tensor) -> Output:
        return Output(self.layers(observations).squeeze(1))

    def listed_layers(self) -> LayerLists:
        """See `ListedLayers`."""
        return LayerLists(value=self.layers)
