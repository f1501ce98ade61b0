"""A policy of actions that are not squares: the logit of an action comes from the squares that it touches."""

from typing import cast

import torch
from torch import Tensor, nn

from selfplay.architectures.board_pool import BoardPool, Joined, starting_at_0
from selfplay.games.touched_squares import TouchedSquares


class ActionLogits(nn.Module):
    """The logit of each action: linear in relu(numbers of its kind + the sum of the numbers of its squares).

    Takes float32[N, R * H * S + kinds * H] to [N, A]: H numbers for each role and square, as the planes of a
    convolution, then H for each kind of actions. The logits start at 0.

    Args:
        squares: S.
        width: H.
    """

    def __init__(self, touched: TouchedSquares, squares: int, width: int) -> None:
        super().__init__()
        self.roles, self.squares, self.width, self.num_kinds = touched.num_roles, squares, width, touched.num_kinds
        self.linear = nn.Linear(width, 1)
        starting_at_0(self.linear)
        self.places: Tensor
        """int64[1 + K, A]: rows of numbers: those of the roles and squares, a row of zeros, and those of the kinds."""
        kinds = torch.from_numpy(touched.kinds) + touched.num_roles * squares + 1
        places = torch.cat([kinds[None], torch.from_numpy(touched.places).t()])
        self.register_buffer("places", places.contiguous(), persistent=False)

    def of_actions(self, numbers: Tensor, actions: Tensor) -> Tensor:
        """float32[N, K]: the logits of some actions (int64[N, K]) alone."""
        count, of_squares = len(numbers), self.roles * self.squares
        planes, kinds = numbers.tensor_split([of_squares * self.width], 1)
        planes = planes.reshape(count, self.roles, self.width, self.squares).transpose(2, 3)
        zeros = numbers.new_zeros(count, 1, self.width)
        kinds = kinds.reshape(count, self.num_kinds, self.width)
        rows = torch.cat([planes.reshape(count, of_squares, self.width), zeros, kinds], 1)
        first = torch.arange(count, device=numbers.device)[:, None] * rows.shape[1]
        table, sums = rows.reshape(-1, self.width), None
        for place in self.places:
            one = table.index_select(0, (first + place[actions]).reshape(-1))
            sums = one if sums is None else sums + one
        assert sums is not None
        return cast(Tensor, self.linear(torch.relu(sums))).reshape(actions.shape)

    def forward(self, numbers: Tensor) -> Tensor:
        # Of len(), torch.onnx.export would keep the number.
        count, of_squares = numbers.shape[0], self.roles * self.squares
        planes, kinds = numbers.tensor_split([of_squares * self.width], 1)
        planes = planes.reshape(count, self.roles, self.width, self.squares).permute(1, 3, 0, 2)
        kinds = kinds.reshape(count, self.num_kinds, self.width).transpose(0, 1)
        flat = count * self.width
        rows = torch.cat([planes.reshape(of_squares, flat), numbers.new_zeros(1, flat), kinds.reshape(-1, flat)])
        sums = rows.index_select(0, self.places[0])
        for place in self.places[1:]:
            sums = sums + rows.index_select(0, place)
        hidden = torch.relu(sums).reshape(-1, count, self.width)
        return cast(Tensor, self.linear(hidden)).squeeze(2).t()


def action_policy(touched: TouchedSquares, squares: int, channels: int, width: int) -> nn.Sequential:
    """The policy head for actions that touch these squares, from planes of these channels to the logits.

    A 1x1 convolution makes `width` numbers for each role and square. Another makes as many planes, of whose means and
    largest numbers a linear layer makes those of each kind of actions.
    """
    return nn.Sequential(
        Joined(
            nn.Conv2d(channels, touched.num_roles * width, kernel_size=1),
            nn.Sequential(
                nn.Conv2d(channels, width, kernel_size=1),
                nn.ReLU(),
                BoardPool(),
                nn.Linear(2 * width, touched.num_kinds * width),
            ),
        ),
        ActionLogits(touched, squares, width),
    )
