"""*.npz of a tabular player: its tables, the positions they belong to, and metadata.

    values    float64[2, 2, N]: `values[p, q, n]` is player p's value of position n with player q to move
    own, opp  int64[N]: the words of each position, in the order of `selfplay.games.position_graph.enumerate_positions`
    metadata  JSON text: format, game, rule, settings, versions; "played" (optional): the number of matches against
              others that the tables have learned from since

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
PLAYED = "played"


class SavedTables(NamedTuple):
    """The tables of two players and the metadata of their file."""

    values: Tables
    metadata: dict[str, Any]
    """format, game, rule, settings, versions; PLAYED if it is above 0"""

    @property
    def rule(self) -> UpdateRule:
        return UPDATE_RULES[self.metadata["rule"]]

    @property
    def step_size(self) -> float | None:
        """The step size with which the tables were learned; None if the file does not record it."""
        return self._share(self.rule.step_size_name)

    @property
    def epsilon(self) -> float | None:
        """The exploration rate with which the tables were learned; None if the file does not record it."""
        return self._share("epsilon")

    @property
    def trains_against_people(self) -> bool:
        """Whether the rule says so, and the file records the settings that this needs."""
        return self.rule.trains_against_people and None not in (self.step_size, self.epsilon)

    def _share(self, setting: str) -> float | None:
        value = self.metadata["settings"].get(setting)
        return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None

    @property
    def played(self) -> int:
        """The number of matches against other players that the tables have learned from."""
        return int(self.metadata.get(PLAYED, 0))


def save_tables(
    path: Path, graph: PositionGraph, values: Tables, rule: UpdateRule, settings: Mapping[str, Any], played: int = 0
) -> None:
    """Write the tables to `path`. Raises OSError.

    `played`: the number of matches against other players that the tables have learned from.
    """
    metadata = {
        "format": FORMAT,
        "game": graph.game.name,
        "rule": rule.name,
        "settings": dict(settings),
        "versions": {name: version(name) for name in ("selfplay", "numpy")},
        **({PLAYED: played} if played else {}),
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


def trains_against_people(path: Path) -> bool:
    """`SavedTables.trains_against_people` of the file, without reading its tables; False if it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return SavedTables(np.empty(0), json.loads(str(file["metadata"]))).trains_against_people
    except Exception:
        # As in `_read`; the error is reported when the file is used.
        return False


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
    if not isinstance(metadata, dict) or set(metadata) - {PLAYED} != METADATA or metadata["format"] != FORMAT:
        raise InvalidFileError(path, "is not a file of tables of this format")
    if metadata["rule"] not in list(UPDATE_RULES):
        raise InvalidFileError(path, f"was learned by the unknown rule {metadata['rule']!r}")
    played = metadata.get(PLAYED, 0)
    if not isinstance(metadata["settings"], dict) or not (isinstance(played, int) and 0 <= played < 2**53):
        raise InvalidFileError(path, "its metadata are not those of tables")
    return arrays, metadata
