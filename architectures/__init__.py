"""The networks, one per file, by name: torch modules from observations to the expected return.

Each maps float32[B, *observation_shape] to float32[B, 1]. To add one, write it in a file of its own, name it in
ARCHITECTURES, and add conf/architecture/NAME.yaml with its options.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn

from selfplay.architectures.conv import Conv
from selfplay.architectures.mlp import MLP
from selfplay.architectures.ntuple import NTuple
from selfplay.architectures.othello_features import OthelloFeatures
from selfplay.architectures.residual import Residual
from selfplay.errors import SettingError

ARCHITECTURES: dict[str, Callable[..., nn.Module]] = {
    "mlp": MLP,
    "conv": Conv,
    "residual": Residual,
    "othello_features": OthelloFeatures,
    "ntuple": NTuple,
}


def build_network(architecture: Mapping[str, Any], observation_shape: Sequence[int]) -> nn.Module:
    """The network that `architecture` describes: its `name` and its options, as in conf/architecture/.

    The initial weights come from torch's global generator. Raises SettingError for a name, an option or a value that
    the architecture does not have.
    """
    options = dict(architecture)
    name = options.pop("name", None)
    if not isinstance(name, str) or name not in ARCHITECTURES:
        raise SettingError(f"unknown architecture {name!r}; there are {', '.join(sorted(ARCHITECTURES))}")
    build = ARCHITECTURES[name]
    known = list(inspect.signature(build).parameters)[1:]
    if foreign := sorted(set(options) - set(known)):
        raise SettingError(f"architecture {name} has no option {foreign[0]!r}; it has {', '.join(known) or 'none'}")
    try:
        return build(tuple(observation_shape), **options)
    except TypeError as error:
        raise SettingError(f"architecture={dict(architecture)} has a value of the wrong kind: {error}") from error
