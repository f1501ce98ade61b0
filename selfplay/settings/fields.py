"""Declarations in the fields of settings: which stages' files a field affects.

    gamma: float = field(default=0.95, metadata=affects("generation"))

The settings of a finished stage are recorded in its manifest, and a stage with the same record is not run again. Both
the record and the defaults of settings that an older manifest does not know are derived from these declarations.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, NamedTuple


class Effect(NamedTuple):
    """How a field affects the files of one stage."""

    when: Callable[[Any, int], bool] | None
    """Whether it has an effect, given all settings and the level that the stage works on; None: always."""
    recorded_as: str | None
    """Its dotted name in the manifest; None: its name on the command line."""
    unless_default: bool
    """Whether it is recorded only where it differs from its default."""


class Leaf(NamedTuple):
    """A field with a value, found inside nested settings."""

    name: str
    """Dotted, as on the command line."""
    field: Field[Any]
    value: Any
    effects: Mapping[str, Effect]
    """The effects by stage, including those of the enclosing section."""


def affects(
    *stages: str,
    when: Callable[[Any, int], bool] | None = None,
    recorded_as: str | None = None,
    unless_default: bool = False,
) -> dict[str, Any]:
    """Metadata of a field that changes what these stages produce; `|` joins it with other metadata.

    On a field that holds a section of settings it counts for all fields of the section.
    """
    return dict.fromkeys(stages, Effect(when, recorded_as, unless_default))


EACH_COMMAND = {"is_of_each_command": True}
"""Metadata of a field that later commands do not take over from the run."""

LATER_LEVEL = 2
"""A level at which every setting has an effect that has one at any level."""

PLAYER_NAME = {"is_player_name": True}
"""Metadata of a field that holds the names of players; `--help` then lists the possible names."""


def stage_record(settings: Any, *stages: str, level: int = 0) -> dict[str, Any]:
    """The settings that affect what any of these stages produces at `level`, nested as in the manifest."""
    record: dict[str, Any] = {}
    for leaf in leaves(settings):
        effect = _effect(leaf, stages)
        if effect is None or not (effect.when is None or effect.when(settings, level)):
            continue
        if effect.unless_default and leaf.value == default_of_field(leaf.field):
            continue
        *sections, last = (effect.recorded_as or leaf.name).split(".")
        place = record
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = leaf.value
    return record


def run_record(settings: Any) -> dict[str, Any]:
    """Every setting that affects the files of a run with several levels, by its dotted name on the command line."""
    return {
        leaf.name: leaf.value
        for leaf in leaves(settings)
        if not leaf.field.metadata.keys() & EACH_COMMAND.keys()
        and any(effect.when is None or effect.when(settings, LATER_LEVEL) for effect in leaf.effects.values())
    }


def recorded_defaults(settings: Any, *stages: str) -> dict[str, Any]:
    """The default of each setting that affects these stages, by its dotted name in the manifest."""
    effects = ((leaf, _effect(leaf, stages)) for leaf in leaves(settings))
    return {effect.recorded_as or leaf.name: default_of_field(leaf.field) for leaf, effect in effects if effect}


def leaves(settings: Any, prefix: str = "", inherited: Mapping[str, Effect] | None = None) -> Iterator[Leaf]:
    """All fields of nested settings that hold values, not sections."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        own = {name: effect for name, effect in field.metadata.items() if isinstance(effect, Effect)}
        effects = {**(inherited or {}), **own}
        name = f"{prefix}{field.name}"
        if is_dataclass(value):
            yield from leaves(value, f"{name}.", effects)
        else:
            yield Leaf(name, field, value, effects)


def default_of_field(field: Field[Any]) -> Any:
    """The field's default; dataclasses.MISSING if it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def _effect(leaf: Leaf, stages: tuple[str, ...]) -> Effect | None:
    return next((leaf.effects[stage] for stage in stages if stage in leaf.effects), None)
