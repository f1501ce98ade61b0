"""Callbacks: what is called while levels learn, with what was measured, and may stop it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from selfplay.training.epochs import Epoch

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


class MovesBar(Callback):
    """Moves a progress bar (`selfplay.progress`) by the epochs and steps that are done."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def on_epoch(self, level: int, epoch: Epoch) -> None:
        self._bar.update(1)

    def on_round(self, level: int, steps: int, measured: Mapping[str, float]) -> None:
        self._bar.update(steps)


class Callbacks(Callback):
    """Several callbacks, called in turn; one of them is enough to stop."""

    def __init__(self, callbacks: Iterable[Callback]) -> None:
        self._callbacks = tuple(callbacks)
        self.has_stopped = False
        """Whether one of them has stopped what it was called from."""

    def on_epoch(self, level: int, epoch: Epoch) -> bool:
        return self._stops([one.on_epoch(level, epoch) for one in self._callbacks])

    def on_round(self, level: int, steps: int, measured: Mapping[str, float] = NOTHING) -> bool:
        return self._stops([one.on_round(level, steps, measured) for one in self._callbacks])

    def on_level(self, level: int, measured: Mapping[str, Any]) -> bool:
        return self._stops([one.on_level(level, measured) for one in self._callbacks])

    def _stops(self, answers: list[bool | None]) -> bool:
        self.has_stopped |= (stops := any(answer is True for answer in answers))
        return stops
