"""*.npz of a tabular player: its tables, the positions they belong to, and metadata.

    values    float64[2, 2, N]: `values[p, q, n]` is player p's value of position n with player q to move
    own, opp  int64[N]: the words of each position, in the order of `selfplay.games.position_graph.enumerate_positions`
    metadata  JSON text: format, game, rule, settings, versions

Nothing is pickled, and equal tables give equal bytes.
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


class SavedTables(NamedTuple):
    """The tables of two players and the metadata of their file."""

    values: Tables
    metadata: dict[str, Any]
    """format, game, rule, settings, versions"""


def save_tables(
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
    # To an open file, because numpy adds .npz to a path with another suffix.
    with path.open("wb") as file:
        np.savez(file, values=values, own=graph.state.own.numpy(), opp=graph.state.opp.numpy(), metadata=text)


def load_tables(path: Path, graph: PositionGraph) -> SavedTables:
    """The tables in the file at `path`.

    Raises InvalidFileError if the file is missing, truncated, or belongs to another program or game.
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
    return SavedTables(values, metadata)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if sorted(names) != sorted(f"{name}.npy" for name in ARRAYS):
            raise InvalidFileError(path, "is not a file of tables of this program")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ARRAYS}
        metadata = json.loads(str(arrays["metadata"]))
    except InvalidFileError:
        raise
    except FileNotFoundError as error:
        raise InvalidFileError(path, "does not exist") from error
    except Exception as error:
        # For truncated or damaged files zipfile and numpy raise about ten types of errors, SyntaxError among them.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InvalidFileError(path, f"cannot be read: {reason}") from error
    if not isinstance(metadata, dict) or set(metadata) != METADATA or metadata["format"] != FORMAT:
        raise InvalidFileError(path, "is not a file of tables of this format")
    if metadata["rule"] not in list(UPDATE_RULES):
        raise InvalidFileError(path, f"was learned by the unknown rule {metadata['rule']!r}")
    return arrays, metadata
