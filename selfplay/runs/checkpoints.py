"""agent.safetensors: the weights of a level, with the metadata needed to use them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pydantic_core import core_schema as cs
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from selfplay.architectures import ARCHITECTURES, build_network, meta_tensors
from selfplay.errors import InvalidFileError, SettingError, shortened
from selfplay.files import MEGABYTE, WEIGHTS_LIMIT, FileFormat, require_regular_file
from selfplay.games import GAMES, Game
from selfplay.runs.manifest import check_against_manifest
from selfplay.settings.choices import OUTCOMES

METADATA_KEY = "selfplay"
"""The one key of all metadata, because the file format does not fix the order of several keys."""

FORMAT = 2

LARGEST_WEIGHT = 1e9

METADATA = FileFormat(
    "a checkpoint of this program",
    cs.typed_dict_schema(
        {
            name: cs.typed_dict_field(schema)
            for name, schema in {
                "format": cs.literal_schema([FORMAT]),
                "game": cs.str_schema(),
                "level": cs.int_schema(ge=0),
                "architecture": cs.dict_schema(cs.str_schema()),
                "training": cs.dict_schema(cs.str_schema()),
                "outcome": cs.str_schema(),
                "versions": cs.dict_schema(cs.str_schema(), cs.str_schema()),
            }.items()
        },
        extra_behavior="forbid",
    ),
    limit=MEGABYTE // 4,
)


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
    """Write the weights of `network` to `path`; equal weights and metadata give equal bytes. Raises OSError.

    Weights may be float16 numbers, which take half of the file; `load_checkpoint` makes them float32.
    """
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
    """The metadata of the checkpoint at `path`.

    Raises InvalidFileError if it is missing or not a valid checkpoint, or names code that the user has not named.
    """
    with _opened(path) as (metadata, _):
        _check_names(path, metadata)
        return metadata


def load_checkpoint(path: Path, game: Game) -> Checkpoint:
    """Read the network at `path`.

    Raises InvalidFileError if the file is missing, truncated or not a checkpoint, if its network is for another game,
    if its outcome or architecture is unknown or is code that the user has not named (see `selfplay.registry`), if the
    weights do not fit it or are not reasonable numbers, or if the manifest beside it describes another file.
    """
    require_regular_file(path, WEIGHTS_LIMIT)
    check_against_manifest(path)
    with _opened(path) as (metadata, file):
        if metadata["game"] != game.name:
            raise InvalidFileError(path, f"is for {shortened(metadata['game'])}, not for {game.name}")
        _check_names(path, metadata)
        architecture, sizes = metadata["architecture"], (game.observation_shape, game.num_distinct_actions)
        try:
            tensors = _tensors(path, file, architecture, *sizes)
            network = build_network(architecture, *sizes)
        except (SettingError, TypeError, ValueError) as error:
            if isinstance(error, InvalidFileError):
                raise
            raise InvalidFileError(path, f"has an unusable architecture: {' '.join(str(error).split())}") from error
    network.load_state_dict(tensors)
    return Checkpoint(network.eval(), metadata)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    """The metadata and the open file, whose errors are reported as InvalidFileErrors."""
    require_regular_file(path, WEIGHTS_LIMIT)
    try:
        with safe_open(path, framework="pt") as file:
            yield METADATA.parse_json(path, (file.metadata() or {}).get(METADATA_KEY, "")), file
    except (SafetensorError, OSError) as error:
        raise InvalidFileError(path, f"cannot be read: {shortened(error)}") from error


def _check_names(path: Path, metadata: Mapping[str, Any]) -> None:
    """Raise InvalidFileError if the outcome is unknown, or a name is code that the user has not named."""
    try:
        GAMES.check_recorded(metadata["game"])
        OUTCOMES.check_recorded(metadata["outcome"])
        OUTCOMES[metadata["outcome"]]
        ARCHITECTURES.check_recorded(str(metadata["architecture"].get("name")))
    except SettingError as error:
        raise InvalidFileError(path, str(error)) from error


def _tensors(
    path: Path, file: Any, architecture: Mapping[str, Any], observation_shape: Sequence[int], num_actions: int
) -> dict[str, Tensor]:
    """The weights of a network with this architecture, checked. Allocates no memory for weights that do not fit it."""
    shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - not a mapping
    expected = meta_tensors(architecture, observation_shape, num_actions)
    if shapes != {name: list(tensor.shape) for name, tensor in expected.items()}:
        raise InvalidFileError(path, f"its weights do not fit its architecture {shortened(architecture)}")
    tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in shapes}
    for name, tensor in tensors.items():
        if tensor.dtype not in (torch.float16, expected[name].dtype) or not _all_reasonable(tensor):
            reason = f"weights {name} are not all numbers from -{LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
            raise InvalidFileError(path, f"{reason}; train the level again with force=true")
    return tensors


def _all_reasonable(tensor: Tensor) -> bool:
    """Whether the entries of a tensor of numbers are finite, and sums of them cannot overflow."""
    if not tensor.numel():
        return True
    smallest, largest = tensor.aminmax()
    return bool(smallest >= -LARGEST_WEIGHT and largest <= LARGEST_WEIGHT)
