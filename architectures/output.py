"""The output of every network, the check that a network returns it, and checks of options that several share."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from selfplay.errors import SettingError

PROBE_ROWS = 3
"""Number of observations in the check of a network. Not 1, so that the shape shows whether each has a value."""


class Output(NamedTuple):
    """The output of a network for N observations, each seen by the player who has just moved."""

    value: Tensor
    """float32[N]: the expected outcome for the player who has just moved."""
    policy_logits: Tensor | None = None
    """float32[N, A]: how promising each action of the player to move is; None if the network has no policy head."""


def check_output(network: nn.Module, observation_shape: Sequence[int], num_actions: int, name: str) -> Output:
    """Call `network` with a few observations of zeros, in evaluation mode, and check its output.

    Args:
        name: what error messages call the network, such as "architecture=mlp".

    Returns:
        Its output, with N = PROBE_ROWS.

    Raises:
        SettingError: the network fails, or does not return an `Output` with float32 tensors of the right shapes.
    """
    try:
        output: object = probe(network, observation_shape)
    except (RuntimeError, TypeError, ValueError) as error:
        problem = " ".join(str(error).split())
        raise SettingError(f"{name} fails on observations of shape {list(observation_shape)}: {problem}") from error
    if not isinstance(output, Output):
        found = f"a tensor of shape {list(output.shape)}" if isinstance(output, Tensor) else type(output).__name__
        raise SettingError(
            f"{name} returns {found} for {PROBE_ROWS} observations; expected Output with a value of shape "
            f"[{PROBE_ROWS}], and policy_logits None or of shape [{PROBE_ROWS}, {num_actions}]"
        )
    _check_tensor(f"{name} returns a value", output.value, [PROBE_ROWS])
    if output.policy_logits is not None:
        _check_tensor(f"{name} returns policy_logits", output.policy_logits, [PROBE_ROWS, num_actions])
    return output


def probe(network: nn.Module, observation_shape: Sequence[int]) -> Output:
    """The output for PROBE_ROWS observations of zeros in evaluation mode. Does not change the mode of the network."""
    modes = [(module, module.training) for module in network.modules()]
    device = next((parameter.device for parameter in network.parameters()), None)
    try:
        with torch.no_grad():
            return cast(Output, network.eval()(torch.zeros(PROBE_ROWS, *observation_shape, device=device)))
    finally:
        for module, mode in modes:
            module.training = mode


def _check_tensor(what: str, tensor: object, shape: list[int]) -> None:
    if not isinstance(tensor, Tensor):
        raise SettingError(f"{what} of type {type(tensor).__name__}; expected a float32 tensor of shape {shape}")
    if list(tensor.shape) != shape:
        raise SettingError(f"{what} of shape {list(tensor.shape)} for {PROBE_ROWS} observations; expected {shape}")
    if tensor.dtype != torch.float32:
        raise SettingError(f"{what} of {tensor.dtype}; expected torch.float32")


def require_board(name: str, observation_shape: Sequence[int]) -> None:
    """Raise SettingError unless observations of this shape are boards: (planes, rows, columns)."""
    if len(observation_shape) != 3:
        shape = tuple(observation_shape)
        raise SettingError(f"architecture={name} needs a board; this game's observation is {shape}")


def require_positive_integer(option: str, number: object) -> None:
    """Raise SettingError unless the value of this option is an integer of at least 1."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise SettingError(f"architecture.{option}={number}: must be an integer of at least 1")
