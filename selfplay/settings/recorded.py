"""The settings that a run was made with, recorded in its manifest, so that a later command only needs run_dir."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from selfplay.errors import InvalidFileError, SettingError, shortened
from selfplay.registry import named_modules
from selfplay.runs.manifest import RUN, Manifest, flat_settings
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.compose import checked_settings, composed_values, name_settings_modules, take_over
from selfplay.settings.fields import commands_in, leaves, modules_in, run_record, texts_in, unrecorded_values
from selfplay.settings.overrides import list_of_overrides, overrides_of
from selfplay.settings.run import Settings, compose_settings

SHOWN = 5
"""Number of settings that a message names."""


NOT_CHANGES = ("recipe", "seed", "game.name", "dataset.format")
"""Settings that `changes_of_recipe` leaves out: those that are always named, and how rows are stored."""


def record_run_settings(settings: Settings) -> None:
    """Record in the manifest of the run that its files are made with these settings. Raises InvalidFileError."""
    manifest, record = Manifest(RunFolder.of(settings).path), run_record(settings)
    if manifest.sections.get(RUN, {}).get("settings") != record:
        manifest.record(RUN, record, {}, [])


def take_run_settings(config: DictConfig, overrides: Sequence[str]) -> str:
    """Give the settings that `overrides` do not set the values that the run recorded, unless a recipe is given.

    Args:
        config: the composed configuration; its run_dir names the run.

    Returns a line for the log that names what was taken over; empty if nothing changed.
    Raises InvalidFileError if the manifest of the run is broken, or names code that the configuration does not name.
    """
    manifest = Manifest(Path(config.run_dir))
    recorded = manifest.sections.get(RUN, {}).get("settings", {})
    if recorded:
        recorded = {**unrecorded_values(Settings), **recorded}
    for text in texts_in(recorded):
        if "${" in text:
            raise InvalidFileError(manifest.path, f"setting {shortened(text)!r} is not a value; set another run_dir")
    name_settings_modules(OmegaConf.to_container(config, resolve=False))
    taken = take_over(config, recorded, overrides)
    _check_code(manifest.path, taken)
    return f"settings from {manifest.path}: {_named(taken)}; recipe=NAME replaces them" if taken else ""


def composed_for_run(overrides: Sequence[str]) -> Settings:
    """As `compose_settings`, but settings that the overrides do not set are those recorded by the run in run_dir."""
    values = composed_values(Settings, "config", overrides)
    take_run_settings(values, overrides)
    return checked_settings(Settings, values)


def settings_of_run(run_dir: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """The settings that a run was made with, changed by these Hydra overrides, such as ["levels=12"].

    Raises SettingError for a wrong override, InvalidFileError if the manifest of the run is broken.

    Examples:
        >>> settings = selfplay.settings_of_run("outputs/tictactoe", ["levels=12"])
        >>> settings.game.name, settings.levels
        ('tictactoe', 12)
    """
    return composed_for_run([*list_of_overrides(overrides, Settings), *overrides_of({"run_dir": run_dir})])


def changes_of_recipe(settings: Settings) -> dict[str, str]:
    """The settings of a run that differ from those of its recipe, by their names, with their values as texts.

    Only those that change what is learned or measured; none if the recipe is not one of conf/recipe/.
    """
    try:
        recipe = compose_settings([f"recipe={settings.recipe}"])
    except SettingError:
        return {}
    usual = flat_settings({leaf.name: leaf.value for leaf in leaves(recipe)})
    return {
        name: _text(value)
        for name, value in flat_settings(run_record(settings)).items()
        if name not in NOT_CHANGES and (name not in usual or value != usual[name])
    }


def _check_code(path: Path, taken: Mapping[str, Any]) -> None:
    """Raise InvalidFileError if settings from a file start a program, or import a module that the user has not named.

    The file may come from another person, and reading it must not run code of this person.
    """
    for name, value in flat_settings(taken).items():
        foreign = [*set(modules_in(value)).difference(named_modules()), *commands_in(value)]
        if foreign:
            reason = f"{name}={shortened(_text(value))} names code outside this program"
            raise InvalidFileError(path, f"{reason}; if you trust it, set {name} yourself")


def _named(settings: Mapping[str, Any]) -> str:
    """The first of the settings with their values, the recipe before all others."""
    names = sorted(settings, key=lambda name: name != "recipe")
    shown = [f"{name}={_text(settings[name])}" for name in names[:SHOWN]]
    return ", ".join([*shown, f"{len(names) - SHOWN} more"] if len(names) > SHOWN else shown)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
