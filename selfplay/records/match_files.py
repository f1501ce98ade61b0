"""Files of many recorded matches, read by their numbers: the source of `learner=records`.

    files = MatchFiles(["games/*.wtb"], game)
    checked_matches(game, files.moves(range(1000)), torch.arange(1000))

All formats of texts (`selfplay.records.FORMATS`) are read. Any other kind of files is a class (`FileOfMatches`) with a
line in `KINDS`, by the ending of their names. Another package offers one as an entry point of the group
`selfplay.match_files`.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

from selfplay.errors import IllegalActionError, InvalidFileError, SelfPlayError, SettingError
from selfplay.files import read_bytes, user_path
from selfplay.games import Game
from selfplay.records import FORMATS, NO_MATCH, ending_of, format_of_text, refusing_all
from selfplay.records.charset import decoded
from selfplay.records.written import WrittenMatch, WrittenMoves, concatenated, moves_of
from selfplay.registry import Registry


class FileOfMatches(Protocol):
    """The matches of one file."""

    def __len__(self) -> int:
        """The number of its matches."""

    def moves(self, numbers: slice) -> WrittenMoves:
        """Those with these numbers, from 0, as they are written."""


KINDS = Registry[Callable[[bytes, Game], FileOfMatches]](
    "kind of files of matches", {"wtb": "selfplay.records.wthor:WthorFile"}, "selfplay.match_files"
)
"""By the ending of file names: (content, game) to the matches. ValueError, with the reason, for an unsuitable file."""


class TextFile:
    """The matches of a text, such as SGF. `ending`: that of the name of its file.

    A text without a match counts as one that is broken, so that one file among many does not stop the others.
    """

    def __init__(self, content: bytes, game: Game, ending: str) -> None:
        text = decoded(content)
        self.game, self.form = game, format_of_text(text, ending)
        self.texts = self.form.split(text) or ([""] if text.strip() else [])

    def __len__(self) -> int:
        return len(self.texts)

    def moves(self, numbers: slice) -> WrittenMoves:
        """Those with these numbers, from 0, as they are written."""
        return moves_of([self._match(text) for text in self.texts[numbers]], self.game)

    def _match(self, text: str) -> WrittenMatch | str:
        if not text:
            return NO_MATCH
        try:
            with refusing_all():
                return self.form.written(text, self.game)
        except SelfPlayError as error:
            return str(error)


def found_files(patterns: Sequence[str]) -> list[Path]:
    """The files that these paths or patterns, such as games/*.wtb, name, each once, in order.

    Raises SettingError for a pattern without files.
    """
    found = dict[Path, None]()
    for pattern in patterns:
        path = user_path(pattern)
        paths = [path] if path.exists() else Path(path.anchor).glob(str(path.relative_to(path.anchor)))
        if not (files := sorted(one for one in paths if one.is_file())):
            raise SettingError(f"files={pattern}: there is no such file")
        found |= dict.fromkeys(files)
    return list(found)


class MatchPlace(NamedTuple):
    """Where a match is written."""

    path: Path
    number: int
    """Its number in the file, from 1."""

    def __str__(self) -> str:
        return f"{self.path}, match {self.number}"


class MatchFiles:
    """The matches of several files, numbered from 0 in the order of the files."""

    def __init__(self, paths: Sequence[Path], game: Game) -> None:
        """Raises SettingError for an unknown ending, and InvalidFileError for a file that is broken or unsuitable."""
        self.paths, self.game = list(paths), game
        self._ends = list(accumulate(len(self._file(path)) for path in self.paths))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _file(self, path: Path) -> FileOfMatches:
        return _opened(path, self.game, path.stat().st_mtime_ns)

    def _first(self, index: int) -> int:
        """The number of the first match of a file."""
        return self._ends[index - 1] if index else 0

    def place(self, number: int) -> MatchPlace:
        """Where the match with this number is written."""
        index = bisect_right(self._ends, number)
        return MatchPlace(self.paths[index], number - self._first(index) + 1)

    def moves(self, numbers: range) -> WrittenMoves:
        """The matches with these numbers, in order; those after the last one are left out."""
        parts = []
        for index in range(bisect_right(self._ends, numbers.start), len(self.paths)):
            first, end = self._first(index), self._ends[index]
            if first >= numbers.stop:
                break
            part = slice(max(numbers.start, first) - first, min(numbers.stop, end) - first)
            if part.start < part.stop:
                parts.append(self._file(self.paths[index]).moves(part))
        return concatenated(parts, self.game)


@lru_cache(maxsize=4)
def _opened(path: Path, game: Game, changed: int) -> FileOfMatches:
    """A file at its time of change. Raises SettingError, InvalidFileError."""
    ending = ending_of(path)
    if ending not in KINDS and ending not in FORMATS:
        known = ", ".join(f".{name}" for name in (*KINDS, *FORMATS))
        raise SettingError(f"files={path}: the name must end with one of {known}")
    content = read_bytes(path)
    try:
        return KINDS[ending](content, game) if ending in KINDS else TextFile(content, game, ending)
    except (ValueError, IllegalActionError) as error:
        raise InvalidFileError(path, str(error)) from error
