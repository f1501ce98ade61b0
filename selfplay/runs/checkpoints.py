"""agent.safetensors: the weights of a level, with the metadata needed to use them."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from selfplay.architectures import build_network
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import Game

METADATA_KEY = "selfplay"
"""The one key of all metadata, because the file format does not fix the order of several keys."""

FORMAT = 2


class Checkpoint(NamedTuple):
    """A network with the metadata of its file."""

    network: nn.Module
    """In evaluation mode."""
    metadata: dict[str, Any]
    """format, game, level, architecture, training, outcome, versions"""


def save_checkpoint(
    path: Path,
    network: nn.Module,
    game: Game,
    level: int,
    architecture: Mapping[str, Any],
    training: Mapping[str, Any],
    outcome: str = "return",
) -> None:
    """Write the weights of `network` to `path`; equal weights and metadata give equal bytes. Raises OSError."""
    metadata = {
        "format": FORMAT,
        "game": game.name,
        "level": level,
        "architecture": dict(architecture),
        "training": dict(training),
        "outcome": outcome,
        "versions": {name: version(name) for name in ("selfplay", "torch")},
    }
    tensors = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
    # safetensors.torch.save_file would leave a temporary file behind if the process is killed.
    path.write_bytes(save(tensors, metadata={METADATA_KEY: json.dumps(metadata, sort_keys=True)}))


def read_metadata(path: Path) -> dict[str, Any]:
    """The metadata of the checkpoint at `path`. Raises InvalidFileError if it is missing or not a valid checkpoint."""
    return _read(path)[0]


def load_checkpoint(path: Path, game: Game) -> Checkpoint:
    """Read the network at `path`.

    Raises InvalidFileError if the file is missing, truncated or not a checkpoint, if its network is for another game,
    or if its architecture is unknown or does not fit its weights.
    """
    metadata, tensors = _read(path)
    if metadata["game"] != game.name:
        raise InvalidFileError(path, f"is for {metadata['game']}, not for {game.name}")
    architecture = metadata["architecture"]
    try:
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
        network.load_state_dict(tensors)
    except (SettingError, TypeError, ValueError) as error:
        raise InvalidFileError(path, f"has an unusable architecture: {error}") from error
    except RuntimeError as error:
        raise InvalidFileError(path, f"its weights do not fit its architecture {architecture}") from error
    return Checkpoint(network.eval(), metadata)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = json.loads((file.metadata() or {})[METADATA_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except FileNotFoundError as error:
        raise InvalidFileError(path, "does not exist") from error
    except (SafetensorError, OSError) as error:
        raise InvalidFileError(path, f"cannot be read: {error}") from error
    except (KeyError, ValueError) as error:
        raise InvalidFileError(path, "is not a checkpoint of this program") from error
    expected = {"format", "game", "level", "architecture", "training", "outcome", "versions"}
    if not isinstance(metadata, dict) or set(metadata) != expected or metadata["format"] != FORMAT:
        raise InvalidFileError(path, "is not a checkpoint of this format")
    return metadata, tensors
