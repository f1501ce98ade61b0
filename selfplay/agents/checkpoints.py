"""agent.safetensors: the weights of a level, with the metadata needed to use them."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import torch
from pydantic import Field, with_config
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from typing_extensions import TypedDict

from selfplay.architectures import ARCHITECTURES, build_network, fits_other_boards, meta_tensors
from selfplay.compute.devices import NATIVE, PORTABLE, cuda_devices_in_use
from selfplay.compute.portable import is_portable, set_numerics
from selfplay.errors import InvalidFileError, SettingError, shortened
from selfplay.files import CHECKED, FileFormat, open_file
from selfplay.games import GAMES, Game, name_of_game
from selfplay.games.outcomes import OUTCOMES
from selfplay.installation import recorded_versions
from selfplay.names_of_games import differ_in_size

log = logging.getLogger(__name__)

METADATA_KEY = "selfplay"
"""The one key of all metadata, because the file format does not fix the order of several keys."""

LARGEST_WEIGHT = 1e9

BLOCK = 1 << 16
"""Entries of a sparse tensor that are counted together; 16 bits are the place of an entry in its block."""
PLACES, COUNTS, BASE = ":places", ":counts", ":base"
"""The names of what is stored of a sparse tensor, besides its entries that differ from its base, end in these."""
BASE_ROWS = 2
"""Rows of a base, because tables of patterns may have weights of their own for each player."""
SPARSE_BELOW = 0.25
"""Tensors of which fewer entries are stored than this share, those of the base included, are stored sparse."""
MOST_SPARSE_ENTRIES = 1 << 28
"""Entries of a sparse tensor, for which a small file can make a program allocate memory."""


@with_config(CHECKED)
class CheckpointMetadata(TypedDict):
    """What a checkpoint says about its weights."""

    format: Literal[2]
    game: str
    level: Annotated[int, Field(ge=0)]
    architecture: dict[str, Any]
    training: dict[str, Any]
    outcome: str
    versions: dict[str, str]
    numerics: NotRequired[Literal["portable", "native"]]
    """Recorded if they are portable."""


Tensors = dict[str, Tensor]
"""Tensors by their names in the file."""

METADATA = FileFormat("a checkpoint of this program", CheckpointMetadata)


class Checkpoint(NamedTuple):
    """A network with the metadata of its file."""

    network: nn.Module
    """In evaluation mode."""
    metadata: Mapping[str, Any]
    """`CheckpointMetadata`; only the outcome if it has no file."""


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

    Weights may be float16 numbers, which take half of the file, or less if most of them are 0; `load_checkpoint` makes
    them float32. Rows of weights that are nearly equal take little more than two of them.
    """
    metadata: CheckpointMetadata = {
        "format": 2,
        "game": name_of_game(game),
        "level": level,
        "architecture": dict(architecture),
        "training": dict(training),
        "outcome": outcome,
        "versions": recorded_versions("torch"),
    }
    if is_portable(network):
        metadata["numerics"] = PORTABLE
    tensors = Tensors()
    for name, tensor in network.state_dict().items():
        tensors |= _stored(name, tensor.detach().clone())
    # safetensors.torch.save_file would leave a temporary file behind if the process is killed.
    path.write_bytes(save(tensors, metadata={METADATA_KEY: json.dumps(metadata, sort_keys=True)}))


def read_metadata(path: Path) -> CheckpointMetadata:
    """The metadata of the checkpoint at `path`.

    Raises InvalidFileError if it is missing or not a valid checkpoint, or names code that the user has not named.
    """
    with _opened(path) as (metadata, _):
        return metadata


def load_checkpoint(path: Path, game: Game) -> Checkpoint:
    """Read the network at `path`.

    A network of an architecture that `fits_other_boards` is also read for another size of the board.

    Raises InvalidFileError if the file is missing, truncated or not a checkpoint, if its network is for another game,
    if its outcome or architecture is unknown or is code that the user has not named (see `selfplay.registry`), or if
    the weights do not fit it or are not reasonable numbers.
    """
    with _opened(path) as (metadata, file):
        _check_game(path, metadata, game)
        architecture, sizes = metadata["architecture"], (game.observation_shape, game.num_distinct_actions, game)
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - not a mapping
        try:
            # The initial weights are not used: torch's global generator, which gives them, is left as it was.
            with torch.random.fork_rng(devices=cuda_devices_in_use()):
                # Compared before memory is allocated for weights that do not fit.
                expected = meta_tensors(architecture, *sizes)
                fits = shapes == _stored_shapes(expected, shapes)
                network = build_network(architecture, *sizes) if fits else None
        except (SettingError, TypeError, ValueError) as error:
            raise InvalidFileError(path, f"has an unusable architecture: {' '.join(str(error).split())}") from error
        if network is None:
            raise InvalidFileError(path, f"its weights do not fit its architecture {shortened(architecture)}")
        stored: Tensors = {name: file.get_tensor(name) for name in shapes}
    try:
        tensors = {name: _dense(name, stored, tensor.shape) for name, tensor in expected.items()}
    except (ValueError, IndexError) as error:
        raise InvalidFileError(path, "places of its weights are not in the tensors that they belong to") from error
    try:
        _check_numbers(tensors, expected)
    except ValueError as error:
        raise InvalidFileError(path, str(error)) from error
    network.load_state_dict(tensors)
    set_numerics(network, metadata.get("numerics", NATIVE))
    return Checkpoint(network.eval(), metadata)


def check_weights(network: nn.Module, architecture: Mapping[str, Any], game: Game) -> None:
    """Raise ValueError, with the reason, unless `load_checkpoint` reads back the weights of `network`, saved with this
    architecture."""
    # The initial weights are not used: torch's global generator, which gives them, is left as it was.
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        expected = meta_tensors(architecture, game.observation_shape, game.num_distinct_actions, game)
    tensors = network.state_dict()
    shapes, wanted = ({name: list(one.shape) for name, one in state.items()} for state in (tensors, expected))
    if shapes != wanted:
        name = next(name for name in {**wanted, **shapes} if shapes.get(name) != wanted.get(name))
        has, needs = (f"shape {sizes[name]}" if name in sizes else "nothing" for sizes in (shapes, wanted))
        reason = f"{shortened(name)} has {has}, expected {needs}"
        raise ValueError(f"its weights do not fit the architecture {shortened(architecture)}: {reason}")
    _check_numbers(tensors, expected)


def _check_numbers(tensors: Tensors, expected: Tensors) -> None:
    """Raise ValueError, with the reason, unless the weights are reasonable numbers of the expected type or float16."""
    for name, tensor in tensors.items():
        is_reasonable = tensor.dtype in (torch.float16, expected[name].dtype)
        if is_reasonable and tensor.numel():
            smallest, largest = tensor.aminmax()
            # Sums of finite but larger numbers could overflow.
            is_reasonable = bool(smallest >= -LARGEST_WEIGHT and largest <= LARGEST_WEIGHT)
        if not is_reasonable:
            limit = f"{LARGEST_WEIGHT:g}"
            raise ValueError(f"weights {name} are not all numbers from -{limit} to {limit} ({expected[name].dtype})")


def _check_game(path: Path, metadata: CheckpointMetadata, game: Game) -> None:
    """Raise InvalidFileError if the network is for another game, or for another size of its board and none besides."""
    own, name = metadata["game"], name_of_game(game)
    learned, played = game.learned_as(own), game.learned_as(name)
    is_size = differ_in_size(learned, played)
    if learned == played:
        return
    if is_size and fits_other_boards(str(metadata["architecture"].get("name"))):
        log.info("%s: learned %s, plays %s", path, learned, played)
        return
    other = " (agents with architecture=alphazero_convolutional play on every size)" if is_size else ""
    raise InvalidFileError(path, f"is for {shortened(own)}, not for {name}; set game={shortened(own)}{other}")


# ---------------------------------------------------------------------- sparse tensors


def _stored(name: str, tensor: Tensor) -> Tensors:
    """What is stored of a tensor: itself; or, sparse, its entries that differ from its base, the place of each in its
    block of BLOCK entries, and the number of them in each block.

    The base is 0, or the first BASE_ROWS rows, repeated. These rows are stored as float16 numbers if that changes none.
    """
    bases = [tensor.new_empty(0)] if tensor.dtype is torch.float16 else []
    if tensor.dim() == 2 and tensor.numel() >= BLOCK:
        bases.append(tensor[:BASE_ROWS])
    forms = [(base, (tensor != _repeated(base, tensor.shape)).flatten().nonzero().flatten()) for base in bases]
    sizes = [base.numel() + len(places) for base, places in forms]
    if tensor.numel() > MOST_SPARSE_ENTRIES or min(sizes, default=tensor.numel()) >= SPARSE_BELOW * tensor.numel():
        return {name: tensor}
    base, places = forms[sizes.index(min(sizes))]
    counts = torch.bincount(places // BLOCK, minlength=_blocks(tensor.numel()))
    stored = {
        name: tensor.flatten()[places],
        name + PLACES: (places % BLOCK).to(torch.uint16),
        name + COUNTS: counts.to(torch.int32),
    }
    if base.numel():
        rounded = base.half()
        stored[name + BASE] = rounded if torch.equal(rounded.to(base.dtype), base) else base.clone()
    return stored


def _repeated(base: Tensor, shape: Sequence[int]) -> Tensor:
    """A tensor of this shape with the rows of `base` again and again; without rows, 0 everywhere."""
    return base[torch.arange(shape[0]) % len(base)] if len(base) else base.new_zeros(*shape)


def _blocks(entries: int) -> int:
    return -(-entries // BLOCK)


def _stored_shapes(expected: Tensors, shapes: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """The shapes that the tensors of a file must have, if those are sparse of which `shapes`, those of the file, has
    places, and those have a base of which it has one."""
    needed: dict[str, list[int]] = {}
    for name, tensor in expected.items():
        needed[name] = list(tensor.shape)
        if name + PLACES in shapes and tensor.numel() <= MOST_SPARSE_ENTRIES:
            needed[name] = needed[name + PLACES] = shapes[name + PLACES][:1]
            needed[name + COUNTS] = [_blocks(tensor.numel())]
            if name + BASE in shapes and tensor.dim() == 2:
                needed[name + BASE] = [BASE_ROWS, tensor.shape[1]]
    return needed


def _dense(name: str, stored: Tensors, shape: Sequence[int]) -> Tensor:
    """The tensor with this name and shape. Raises ValueError or IndexError if its places do not fit."""
    if name + PLACES not in stored:
        return stored[name]
    places, counts = stored[name + PLACES].long(), stored[name + COUNTS].long()
    if int(counts.sum()) != len(places) or bool((counts < 0).any()):
        raise ValueError(counts)
    dense = _repeated(stored.get(name + BASE, torch.empty(0)), shape).to(stored[name].dtype)
    dense.view(-1)[torch.arange(len(counts)).repeat_interleave(counts) * BLOCK + places] = stored[name]
    return dense


@contextmanager
def _opened(path: Path) -> Iterator[tuple[CheckpointMetadata, Any]]:
    """The checked metadata and the open file, whose errors are reported as InvalidFileErrors."""
    open_file(path).close()
    try:
        with safe_open(path, framework="pt") as file:
            if METADATA_KEY not in (texts := file.metadata() or {}):
                raise InvalidFileError(path, f"is not {METADATA.name}")
            metadata = METADATA.parse_json(path, texts[METADATA_KEY])
            try:
                GAMES.check_recorded(metadata["game"])
                OUTCOMES.check_recorded(metadata["outcome"])
                OUTCOMES[metadata["outcome"]]
                ARCHITECTURES.check_recorded(str(metadata["architecture"].get("name")))
            except SettingError as error:
                raise InvalidFileError(path, str(error)) from error
            yield metadata, file
    except (SafetensorError, OSError) as error:
        raise InvalidFileError(path, f"cannot be read: {shortened(error)}") from error
