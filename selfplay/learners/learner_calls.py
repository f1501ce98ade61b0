"""Calls of learners from outside this package: their errors, and results that are of no use, become one line."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ParamSpec, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load
from torch import nn

from selfplay.agents.checkpoints import check_weights
from selfplay.error_places import is_outside
from selfplay.errors import ConformanceError, shortened
from selfplay.games import Game
from selfplay.learners.learner import Learner, TrainedLevel
from selfplay.outside_errors import errors_of_outside
from selfplay.training.epochs import check_epochs

P = ParamSpec("P")
T = TypeVar("T")


def asked(learner: Learner, method: Callable[P, T], kind: Any, *args: P.args, **kwargs: P.kwargs) -> T:
    """What a method of a learner returns; what one of this package does is not checked.

    Args:
        kind: the type of the result; a tuple of types: the result is a tuple of these.

    Raises:
        SettingError: a learner from outside has raised an error.
        ConformanceError: it has returned something else.
    """
    with errors_of_learner(learner):
        given = method(*args, **kwargs)
        if is_outside(type(learner).__module__) and not _is_of(given, kind):
            wanted = f"({', '.join(one.__name__ for one in kind)})" if isinstance(kind, tuple) else kind.__name__
            name = getattr(method, "__name__", "a method")
            raise ConformanceError(f"{_named(learner)}: {name} must return {wanted}, not {shortened(repr(given))}")
        return given


def errors_of_learner(learner: Learner) -> AbstractContextManager[None]:
    """Turn what a learner from outside raises in the block into one line that names its file."""
    module = type(learner).__module__
    return errors_of_outside("learner", _name(learner), module) if is_outside(module) else nullcontext()


def check_trained(learner: Learner, trained: TrainedLevel, architecture: Mapping[str, Any], game: Game) -> None:
    """Raise ConformanceError if a level that a learner from outside has trained could not be read from its files.

    `architecture`: that of the level, unless `trained` has another.
    """
    if not is_outside(type(learner).__module__):
        return
    with errors_of_learner(learner):
        parts: dict[str, Callable[[], object]] = {
            "network": lambda: _check_network(trained, architecture, game),
            "table of epochs (epoch_loss.csv)": lambda: check_epochs(trained.epochs),
            "num_rows and counts": lambda: _check_counts(trained),
            "memory": lambda: _check_memory(trained.memory),
        }
        for part, check in parts.items():
            try:
                check()
            except ValueError as error:
                reason = f"train returned a level whose {part} cannot be kept: {error}"
                raise ConformanceError(f"{_named(learner)}: {reason}") from error


def _check_network(trained: TrainedLevel, architecture: Mapping[str, Any], game: Game) -> None:
    if not isinstance(trained.network, nn.Module):
        raise ValueError(f"it must be a torch.nn.Module, not {shortened(repr(trained.network))}")
    check_weights(trained.network, trained.architecture or architecture, game)


def _check_counts(trained: TrainedLevel) -> None:
    for name, number in {"num_rows": trained.num_rows, **trained.counts}.items():
        if type(number) is not int or number < 0:
            raise ValueError(f"{name}={shortened(repr(number))}: must be a whole number of at least 0")


def _check_memory(memory: object) -> None:
    if memory is None:
        return
    if not isinstance(memory, bytes):
        raise ValueError(f"it must be None or bytes, not {shortened(repr(memory))}")
    try:
        load(memory)
    except SafetensorError as error:
        raise ValueError(f"it must be a safetensors file, as safetensors.torch.save makes it: {error}") from error


def _is_of(given: object, kind: Any) -> bool:
    if not isinstance(kind, tuple):
        return isinstance(given, kind)
    return isinstance(given, tuple) and len(given) == len(kind) and all(map(isinstance, given, kind))


def _named(learner: Learner) -> str:
    return f"learner {shortened(_name(learner))!r}"


def _name(learner: Learner) -> str:
    return learner.name or type(learner).__name__
