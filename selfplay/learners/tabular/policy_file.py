"""*.npz of a tabular player: its tables, the positions they stand for, and what must be known to use them.

    values    float64[2, 2, N]: `values[p, q, n]` is what player p thinks of position n with player q to move
    own, opp  int64[N]: the words of each position, in the order of `selfplay.games.position_graph.enumerate_positions`
    metadata  a JSON text: format, game, rule, settings, versions

No file is unpickled, and equal tables give equal bytes.
"""

import json
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.games.position_graph import PositionGraph
from selfplay.learners.tabular.learning import UPDATE_RULES, Tables, UpdateRule

FORMAT = 1
ARRAYS = {"values", "own", "opp", "metadata"}
METADATA = {"format", "game", "rule", "settings", "versions"}


class Policy(NamedTuple):
    """The tables of two players with what their file says of them."""

    values: Tables
    metadata: dict[str, Any]
    """format, game, rule, settings, versions"""


def save_policy(
    path: Path, graph: PositionGraph, values: Tables, rule: UpdateRule, settings: Mapping[str, Any]
) -> None:
    """Write the tables to `path`. Raises OSError."""
    metadata = {
        "format": FORMAT,
        "game": graph.game.name,
        "rule": rule.name,
        "settings": dict(settings),
        "versions": {name: version(name) for name in ("selfplay", "numpy")},
    }
    text = np.array(json.dumps(metadata, sort_keys=True))
    # To an open file, because numpy would add .npz to a path that ends otherwise.
    with path.open("wb") as file:
        np.savez(file, values=values, own=graph.state.own.numpy(), opp=graph.state.opp.numpy(), metadata=text)


def load_policy(path: Path, graph: PositionGraph) -> Policy:
    """The tables in the file at `path`.

    Raises InvalidFileError if the file is missing, cut off or foreign, or belongs to another game.
    """
    arrays, metadata = _read(path)
    if metadata["game"] != graph.game.name:
        raise InvalidFileError(path, f"plays {metadata['game']}, not {graph.game.name}")
    words = (graph.state.own.numpy(), graph.state.opp.numpy())
    if not all(np.array_equal(arrays[name], word) for name, word in zip(("own", "opp"), words, strict=True)):
        raise InvalidFileError(path, f"its positions are not those of {graph.game.name}")
    values = arrays["values"]
    if values.dtype != np.float64 or values.shape != (2, 2, len(graph)):
        raise InvalidFileError(path, f"its values are {values.dtype}{list(values.shape)}")
    if not ((values >= 0) & (values <= 1)).all():
        raise InvalidFileError(path, "has values outside 0 to 1")
    return Policy(values, metadata)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if sorted(names) != sorted(f"{name}.npy" for name in ARRAYS):
            raise InvalidFileError(path, "is no policy of this program")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ARRAYS}
        metadata = json.loads(str(arrays["metadata"]))
    except InvalidFileError:
        raise
    except FileNotFoundError as error:
        raise InvalidFileError(path, "is not there") from error
    except Exception as error:
        # For files that are cut off or damaged zipfile and numpy raise some ten kinds, SyntaxError among them.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InvalidFileError(path, f"cannot be read: {reason}") from error
    if not isinstance(metadata, dict) or set(metadata) != METADATA or metadata["format"] != FORMAT:
        raise InvalidFileError(path, "is no policy of this format")
    if metadata["rule"] not in list(UPDATE_RULES):
        raise InvalidFileError(path, f"was learned by the rule {metadata['rule']!r}, which is unknown")
    return arrays, metadata
