"""Networks as lists of layers: what they compute one after another."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from selfplay.architectures.capabilities import LayerLists


def computes_the_same(network: nn.Module, listed: LayerLists, shape: tuple[int, ...]) -> bool:
    """Whether the layers have the outputs of the network, for random observations of this shape."""
    device = next(network.parameters()).device
    observations = torch.rand(8, *shape, generator=torch.Generator().manual_seed(0)).to(device)
    with torch.no_grad():
        try:
            expected, features = network(observations), _computed(listed.trunk, observations)
            value = _computed(listed.value, features)
            policy = None if listed.policy is None else _computed(listed.policy, features)
        except (RuntimeError, ValueError):  # shapes that do not fit
            return False
    if (policy is None) != (expected.policy_logits is None) or value.shape != (len(observations), 1):
        return False
    pairs = [(value[:, 0], expected.value), *([] if policy is None else [(policy, expected.policy_logits)])]
    return all(one.shape == other.shape and torch.allclose(one, other, atol=1e-6) for one, other in pairs)


def _computed(layers: Iterable[nn.Module], values: Tensor) -> Tensor:
    """The output of layers. Raises ValueError where a nn.Linear follows planes, which torch computes place by place."""
    for layer in layers:
        if isinstance(layer, nn.Sequential):
            values = _computed(layer, values)
            continue
        if isinstance(layer, nn.Linear) and values.dim() != 2:
            raise ValueError
        values = layer(values)
    return values


def keeps_size(layer: nn.Conv2d) -> bool:
    """Whether it is an ordinary convolution, after which the board has as many rows and columns as before."""
    size = layer.kernel_size[0]
    padding = "same" if layer.padding == "same" else (size // 2, size // 2)
    is_plain = (layer.stride, layer.dilation, layer.groups, layer.padding_mode) == ((1, 1), (1, 1), 1, "zeros")
    return is_plain and layer.kernel_size == (size, size) and size % 2 == 1 and layer.padding == padding
