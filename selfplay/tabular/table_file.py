"""*.npz of a tabular player: its tables, the positions they belong to, and metadata.

    values    float64[2, 2, N]: `values[p, q, n]` is player p's value of position n with player q to move
    position  int64[N, W]: the packed positions, in the order of `selfplay.games.position_graph.enumerate_positions`
    metadata  JSON text, see `TablesMetadata`

Nothing is pickled, and equal tables give equal bytes.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, with_config
from typing_extensions import TypedDict

from selfplay.errors import InvalidFileError, shortened
from selfplay.files import CHECKED, FileFormat, errors_of_archive, open_file
from selfplay.games import name_of_game
from selfplay.games.position_graph import PositionGraph
from selfplay.installation import recorded_versions
from selfplay.tabular.learning import UPDATE_RULES, Tables, UpdateRule

ARRAYS = {"values", "position", "metadata"}


@with_config(CHECKED)
class TablesMetadata(TypedDict):
    """How the tables were learned."""

    format: Literal[2]
    game: str
    rule: str
    settings: dict[str, Any]
    versions: dict[str, str]
    played: NotRequired[Annotated[int, Field(ge=0, lt=2**53)]]
    """The number of matches against other players that the tables have learned from since, if it is above 0."""


METADATA = FileFormat("a file of tables of this format", TablesMetadata)


class SavedTables(NamedTuple):
    """The tables of two players and the metadata of their file."""

    values: Tables
    metadata: TablesMetadata

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
        """Whether the rule trains against people, and the file has the settings for it."""
        return self.rule.trains_against_people and None not in (self.step_size, self.epsilon)

    def _share(self, setting: str) -> float | None:
        value = self.metadata["settings"].get(setting)
        return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None

    @property
    def played(self) -> int:
        """The number of matches against other players that the tables have learned from."""
        return self.metadata.get("played", 0)


def save_tables(
    path: Path, graph: PositionGraph, values: Tables, rule: UpdateRule, settings: Mapping[str, Any], played: int = 0
) -> None:
    """Write the tables to `path`. Raises OSError.

    `played`: the number of matches against other players that the tables have learned from.
    """
    metadata: TablesMetadata = {
        "format": 2,
        "game": name_of_game(graph.game),
        "rule": rule.name,
        "settings": dict(settings),
        "versions": recorded_versions("numpy"),
    }
    if played:
        metadata["played"] = played
    text = np.array(json.dumps(metadata, sort_keys=True))
    # To an open file, because numpy adds .npz to a path with another suffix.
    with path.open("wb") as file:
        np.savez(file, values=values, position=graph.state.position.numpy(), metadata=text)


def load_tables(path: Path, graph: PositionGraph) -> SavedTables:
    """The tables in the file at `path`.

    Raises InvalidFileError if the file is missing, truncated, or belongs to another program or game.
    """
    with _opened(path) as archive:
        metadata = _metadata(path, archive)
        if metadata["game"] != (name := name_of_game(graph.game)):
            raise InvalidFileError(path, f"plays {shortened(metadata['game'])}, not {name}")
        arrays = {name: _array(archive, name) for name in ("values", "position")}
    if not np.array_equal(arrays["position"], graph.state.position.numpy()):
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
        with _opened(path) as archive:
            return SavedTables(np.empty(0), _metadata(path, archive)).trains_against_people
    except InvalidFileError:
        # The error is reported when the file is used.
        return False


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The arrays of the file; errors while reading are InvalidFileErrors."""
    with open_file(path) as file, errors_of_archive(path), zipfile.ZipFile(file) as archive:
        if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in ARRAYS):
            raise InvalidFileError(path, "is not a file of tables of this program")
        yield archive


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of the file; numpy refuses objects, which would be pickles."""
    array: NDArray[Any] = np.load(io.BytesIO(archive.read(f"{name}.npy")))
    return array


def _metadata(path: Path, archive: zipfile.ZipFile) -> TablesMetadata:
    """The checked metadata. Raises InvalidFileError, and the errors of `_array`."""
    metadata = METADATA.parse_json(path, str(_array(archive, "metadata")))
    if metadata["rule"] not in list(UPDATE_RULES):
        raise InvalidFileError(path, f"was learned by the unknown rule {shortened(metadata['rule'])!r}")
    return metadata
