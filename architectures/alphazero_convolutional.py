"""A residual network whose weights do not depend on the size of the board, with a value head and a policy head."""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor, nn

from selfplay.architectures import Output, require_board, require_positive_integers
from selfplay.architectures.action_logits import ActionLogits, action_policy
from selfplay.architectures.alphazero_mlp import TwoHeads
from selfplay.architectures.board_pool import BoardPool, Joined, starting_at_0
from selfplay.architectures.mlp import hidden_layers
from selfplay.architectures.residual import residual_trunk
from selfplay.checks import require
from selfplay.errors import SettingError
from selfplay.games.touched_squares import TouchedSquares


class AlphaZeroConvolutional(TwoHeads):
    """The trunk of `AlphaZeroResidual`, with heads that are the same on boards of every size, as in KataGo (Wu,
    "Accelerating self-play learning in Go", 2019). An agent of one board can play and continue to learn on another.

    Value: a 1x1 convolution to `value_channels` planes, of each of which the mean and the largest number are taken;
    linear layers as in `MLP`, and the hyperbolic tangent.
    Policy where actions are squares: two 1x1 convolutions, to `policy_channels` planes and to the logit of each square.
    The logits of actions beyond the squares, such as a pass, are linear in the means and largest numbers of the planes.
    Policy where actions are not squares: see `action_policy`, of width `policy_channels`. Logits start at 0.

    Args:
        num_actions: the number of policy logits.
        board_blocks: the numbers of the blocks, from 1, with a `BoardBias`, through which each square learns of the
            whole board.
        touched: the squares that each action touches; None: action i is on square i, and fewer further ones than
            squares may follow.

    Raises SettingError if the observation is not a board (planes, rows, columns), if the actions are not its squares
    and it is not known which squares they touch, or if an option is out of range.
    """

    fits_other_boards = True
    policy_head: nn.Sequential

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        num_actions: int,
        channels: int = 32,
        blocks: int = 3,
        value_channels: int = 16,
        policy_channels: int = 16,
        hidden_sizes: Sequence[int] = (32,),
        dropout: float = 0.0,
        board_blocks: Sequence[int] = (),
        touched: TouchedSquares | None = None,
    ) -> None:
        super().__init__()
        require_board("alphazero_convolutional", observation_shape, "alphazero_mlp")
        require_positive_integers(
            channels=channels, value_channels=value_channels, policy_channels=policy_channels, blocks=blocks
        )
        numbers = range(1, blocks + 1)
        are_blocks = isinstance(board_blocks, Collection) and all(number in numbers for number in board_blocks)
        require("board_blocks", board_blocks, are_blocks, f"a list of numbers of blocks, from 1 to {blocks}")
        planes, rows, columns = observation_shape
        others = num_actions - rows * columns
        if touched is None and not 0 <= others < rows * columns:
            raise SettingError(
                f"architecture=alphazero_convolutional needs an action for each of the {rows * columns} squares and "
                f"few others, and this game has {num_actions}; set architecture=alphazero_residual"
            )
        sizes = [2 * value_channels, *hidden_sizes]
        self.trunk = residual_trunk(planes, channels, blocks, board_blocks)
        self.value_head = nn.Sequential(
            nn.Conv2d(channels, value_channels, kernel_size=1),
            nn.ReLU(),
            BoardPool(),
            *hidden_layers(sizes, dropout),
            nn.Linear(sizes[-1], 1),
        )
        self.policy_head = (
            square_policy(others, channels, policy_channels)
            if touched is None
            else action_policy(touched, rows * columns, channels, policy_channels)
        )

    def output_of(self, observations: Tensor, actions: Tensor) -> Output:
        """See `ScoresActions`."""
        features = self.trunk(observations)
        numbers, last = self.policy_head[:-1](features), self.policy_head[-1]
        if isinstance(last, ActionLogits):
            logits = last.of_actions(numbers, actions)
        else:
            logits = last(numbers).gather(1, actions)
        return Output(torch.tanh(self.value_head(features)).squeeze(1), logits)


def square_policy(others: int, channels: int, width: int) -> nn.Sequential:
    """The policy head for an action on each square and others, from planes of these channels to the logits."""
    logits: list[nn.Module] = [starting_at_0(nn.Conv2d(width, 1, kernel_size=1))]
    if others:
        logits.append(nn.Sequential(BoardPool(), starting_at_0(nn.Linear(2 * width, others))))
    return nn.Sequential(nn.Conv2d(channels, width, kernel_size=1), nn.ReLU(), Joined(*logits))
