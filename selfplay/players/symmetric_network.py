"""A network whose outputs are means over the images of a position under the symmetries of its game."""

import torch
from torch import Tensor, nn

from selfplay.architectures.output import Output
from selfplay.games.game import Game


class SymmetricNetwork(nn.Module):
    """The means of what a network says of all images of each position.

    A network trained on all images still values them a little differently. The mean is nearer to the truth (Silver et
    al., "Mastering the game of Go with deep neural networks and tree search", 2016, use it for all eight images) and
    takes as many forward passes as the game has symmetries.
    """

    def __init__(self, network: nn.Module, game: Game) -> None:
        super().__init__()
        self.network = network
        self.observations: Tensor
        self.actions: Tensor
        for name, images in game.symmetries._asdict().items():
            self.register_buffer(name, torch.from_numpy(images), persistent=False)

    def forward(self, observations: Tensor) -> Output:
        outputs = [self.network(self._image(observations, entries)) for entries in self.observations]
        value = torch.stack([output.value for output in outputs]).mean(dim=0)
        if outputs[0].policy_logits is None:
            return Output(value)
        # Entry a of a row of `actions` is where action a goes in this image.
        logits = [output.policy_logits[:, places] for output, places in zip(outputs, self.actions, strict=True)]
        return Output(value, torch.stack(logits).mean(dim=0))

    def _image(self, observations: Tensor, entries: Tensor) -> Tensor:
        return observations.flatten(1)[:, entries].reshape(observations.shape)
