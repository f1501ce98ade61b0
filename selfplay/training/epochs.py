"""What is measured in each epoch of the training of a level, in one shape for all learners; and callbacks, told of it.

epoch_loss.csv in the folder of a level    a row per epoch
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from selfplay.checks import require
from selfplay.errors import InvalidFileError, shortened
from selfplay.files import read_text

LOSS_DECIMALS = 6
"""Decimal places of all that is measured: means of float32 numbers, which have about seven digits."""


class Epoch(NamedTuple):
    """An epoch of the training of a level."""

    epoch: int
    """From 1."""
    measured: Mapping[str, float]
    """Numbers of at least 0, by the names of their columns, which say what they are, such as mean_squared_error. By the
    last of them epochs and levels are compared: the lower, the better."""
    is_champion: bool = True
    """Whether it is better than all earlier epochs. The weights of the last such epoch are kept."""
    parts: Mapping[str, float] = MappingProxyType({})
    """Further numbers of the epoch, of which the others are made."""

    @property
    def judged_by(self) -> str:
        """The name of the number by which epochs are compared."""
        return list(self.measured)[-1]

    @property
    def judged(self) -> float:
        """The number by which epochs are compared."""
        return self.measured[self.judged_by]

    @property
    def unit(self) -> str:
        """What the measured numbers are, for axes of figures."""
        return "squared error and cross-entropy" if self.parts else described(self.judged_by).unit


class Described(NamedTuple):
    """What a measured number is, in words for figures."""

    title: str
    unit: str


DESCRIPTIONS = {
    "training_loss": Described("Training loss", "mean squared error"),
    "validation_loss": Described("Validation loss", "mean squared error"),
    "mean_squared_error": Described("Error of the values while they are learned", "mean squared error"),
    "share_of_mistakes_left": Described("Mistakes left among the lessons", "share of the positions"),
    "share_of_mistakes_met": Described("Mistakes in the matches of the level", "share of the positions"),
}


def described(name: str) -> Described:
    """The description of a measured number; one that only its learner knows is described by its name."""
    words = name.replace("_", " ")
    return DESCRIPTIONS.get(name, Described(words[:1].upper() + words[1:], words))


EPOCH, IS_CHAMPION = "epoch", "is_champion"
NAME = "[a-z][a-z0-9_]*"
HEADER = re.compile(rf"{EPOCH},(?P<measured>{NAME}(,{NAME})*?),{IS_CHAMPION}(?P<parts>(,{NAME})*)")


def write_epochs(path: Path, epochs: Sequence[Epoch]) -> None:
    """Write the table to `path`; `check_epochs` says whether it can be read. Raises OSError."""
    path.write_text(_text_of(epochs))


def check_epochs(epochs: object) -> None:
    """Raise ValueError, with the reason, unless `read_epochs` reads back the table that `write_epochs` writes."""
    if not isinstance(epochs, Sequence) or not all(isinstance(one, Epoch) for one in epochs):
        raise ValueError(f"it must be made from a list of Epoch, not {shortened(repr(epochs))}")
    if not all(isinstance(numbers, Mapping) for one in epochs for numbers in (one.measured, one.parts)):
        raise ValueError("numbers must be given by their names, as in Epoch(1, {'loss': 0.5})")
    if not epochs:
        raise ValueError("it must have one or more")
    if any([*one.measured, *one.parts] != [*epochs[0].measured, *epochs[0].parts] for one in epochs):
        raise ValueError("all epochs must have the same names")
    _epochs_in(_text_of(epochs))


def read_epochs(path: Path) -> list[Epoch]:
    """The rows of the table at `path`: one or more, with epochs counted from 1.

    Raises InvalidFileError if the file is missing, empty, truncated or not such a table, or a value is out of range.
    """
    text = read_text(path)
    try:
        return _epochs_in(text)
    except ValueError as error:
        raise InvalidFileError(path, str(error)) from error


def _text_of(epochs: Sequence[Epoch]) -> str:
    """The table of these epochs, which all have the same columns."""
    first = epochs[0]
    rows: list[tuple[object, ...]] = [(EPOCH, *first.measured, IS_CHAMPION, *first.parts)]
    rows += [(one.epoch, *one.measured.values(), one.is_champion, *one.parts.values()) for one in epochs]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def _epochs_in(text: str) -> list[Epoch]:
    """The rows of such a table. Raises ValueError, with the reason."""
    header, *lines = text.splitlines() or [""]
    columns = HEADER.fullmatch(header)
    if columns is None:
        form = f"{EPOCH}, names of what was measured (small letters, digits and _), {IS_CHAMPION}"
        raise ValueError(f"its first line is not {form}: {shortened(header)}")
    if not lines or not text.endswith("\n"):
        raise ValueError(
            "is cut off in its last row, or has no rows; training the level again (force=true) replaces it"
        )
    measured, parts = columns["measured"].split(","), columns["parts"].split(",")[1:]
    return [_epoch(measured, parts, epoch, line) for epoch, line in enumerate(lines, start=1)]


def _epoch(measured: list[str], parts: list[str], epoch: int, line: str) -> Epoch:
    values, place = line.split(","), len(measured) + 1
    try:
        number, is_champion = int(values.pop(0)), values.pop(place - 1)
        numbers = [float(value) for value in values]
    except (ValueError, IndexError):
        number, is_champion, numbers = 0, "", []
    if number != epoch or is_champion not in ("True", "False") or len(numbers) != len(measured) + len(parts):
        header = ",".join([EPOCH, *measured, IS_CHAMPION, *parts])
        raise ValueError(f"row {epoch} is not a row of {header}, of epoch {epoch}: {shortened(line)}")
    for name, value in zip([*measured, *parts], numbers, strict=True):
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"{name} of epoch {epoch} is {value:g}, not a number of at least 0")
    found = dict(zip([*measured, *parts], numbers, strict=True))
    taken, others = ({name: found[name] for name in names} for names in (measured, parts))
    return Epoch(epoch, taken, is_champion == "True", others)


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Callback:
    """What is called while levels learn. Each method does nothing unless a subclass overrides it.

    A method that returns True stops what it was called from; other results change nothing. What is learned otherwise
    does not depend on callbacks. A level of a run that was stopped is finished, and its manifest says `stopped`.

    Examples:
        >>> class Log(selfplay.Callback):
        ...     def on_epoch(self, level, epoch):
        ...         print(level, epoch.epoch, *epoch.measured)
        ...         return epoch.epoch == 2
        >>> rows = selfplay.generate("tictactoe", matches=200)
        >>> network = selfplay.initial_network(rows.game, {"name": "mlp", "hidden_sizes": [8]})
        >>> epochs = selfplay.fit(network, rows, epochs=5, callbacks=[Log()])
        1 1 training_loss validation_loss
        1 2 training_loss validation_loss
    """

    def on_epoch(self, level: int, epoch: Epoch) -> bool | None:
        """After each epoch of a network's training. True ends the training, which keeps the best weights."""
        return None

    def on_round(self, level: int, steps: int, measured: Mapping[str, float]) -> bool | None:
        """After each round of a learner that plays while it learns. True ends the training after this round.

        Args:
            steps: done in this round, of those that `Learner.steps` gives, such as matches.
            measured: in the training so far, by the names of columns of epoch_loss.csv; empty if nothing is known.
        """
        return None

    def on_level(self, level: int, measured: Mapping[str, Any]) -> bool | None:
        """After each level has been trained and measured: the row of its strength.csv. True ends learning."""
        return None


@dataclass
class MovesBar(Callback):
    """Moves a progress bar (`selfplay.progress`) by the epochs and steps that are done."""

    bar: Any

    def on_epoch(self, level: int, epoch: Epoch) -> None:
        self.bar.update(1)

    def on_round(self, level: int, steps: int, measured: Mapping[str, float]) -> None:
        self.bar.update(steps)


def checked_callbacks(given: Iterable[Callback]) -> tuple[Callback, ...]:
    """Callbacks from outside. Raises SettingError for one that is of another type."""
    callbacks = tuple(given)
    for one in callbacks:
        require("callbacks", one, isinstance(one, Callback), "objects of a subclass of selfplay.Callback")
    return callbacks


@dataclass
class Callbacks(Callback):
    """Several callbacks, called in turn; one of them is enough to stop."""

    callbacks: Sequence[Callback]
    has_stopped: bool = False
    """Whether one of them has stopped what it was called from."""

    def on_epoch(self, level: int, epoch: Epoch) -> bool:
        return self._stops([one.on_epoch(level, epoch) for one in self.callbacks])

    def on_round(self, level: int, steps: int, measured: Mapping[str, float] = NOTHING) -> bool:
        return self._stops([one.on_round(level, steps, measured) for one in self.callbacks])

    def on_level(self, level: int, measured: Mapping[str, Any]) -> bool:
        return self._stops([one.on_level(level, measured) for one in self.callbacks])

    def _stops(self, answers: list[bool | None]) -> bool:
        self.has_stopped |= (stops := any(answer is True for answer in answers))
        return stops
