"""The settings that a run was made with, recorded in its manifest, so that a later command only needs run_dir."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf

from selfplay.errors import InvalidFileError, SettingError, StageError, shortened
from selfplay.learners import LEARNERS
from selfplay.registry import named_modules
from selfplay.runs.manifest import RUN, Manifest, flat_settings, texts_in
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import commands_in, leaves, modules_in, recorded_defaults, run_record, stage_record
from selfplay.settings.compose import checked_settings, composed_values, name_settings_modules
from selfplay.settings.overrides import errors_of_settings, list_of_overrides, overrides_of, with_outside_names
from selfplay.settings.run import Settings, compose_settings

log = logging.getLogger(__name__)

SHOWN = 5
"""Number of settings that a message names."""

NOT_CHANGES = ("recipe", "seed", "game.name", "dataset.format")
"""Settings that `changes_of_recipe` leaves out: those that are always named, and how rows are stored."""


def record_run_settings(run: RunFolder, settings: Settings) -> None:
    """Record in the manifest of the run that its files are made with these settings. Raises InvalidFileError.

    The log names those that its later commands will use in place of what is usual. Files outside the run (the setting
    output_dir) are not recorded there.
    """
    if settings.output_dir is not None:
        return
    record, manifest = run_record(settings), Manifest(run.path)
    # In the file the levels of `from_level` are texts.
    recorded = flat_settings(manifest.sections.get(RUN, {}).get("settings", {}))
    if recorded != flat_settings(record) or manifest.changed_code(RUN, record):
        manifest.record(RUN, record, {}, [])
        if changed := _named(changes_of_recipe(settings), usual_settings(settings.recipe)):
            log.info("later commands for %s also use %s", run.path, changed)


def begin_anew(run: RunFolder, settings: Settings) -> None:
    """Delete the levels of the run, and what was measured of them, if they were made with other settings than these, or
    with other code from outside this program.

    Raises StageError if a file cannot be deleted, InvalidFileError if the manifest of the run is broken.
    """
    defaults, manifest = recorded_defaults(settings), Manifest(run.path)
    recorded = manifest.sections.get(RUN, {}).get("settings")
    if recorded is None:
        return
    was = defaults | flat_settings(recorded)
    now = stage_record(settings, "generation") | stage_record(settings, "training")
    differing = {name: setting_text(was.get(name)) for name, value in now.items() if was.get(name) != value}
    if differing:
        run.delete_levels()
        log.info("%s: deleted the levels made with %s", run.path, _named(differing, now, "now"))
    elif changed := manifest.changed_code(RUN, now):
        run.delete_levels()
        log.info("%s: deleted the levels: %s", run.path, changed)


def take_run_settings(config: DictConfig, overrides: Sequence[str]) -> str:
    """Give the settings that `overrides` do not set the values that the run recorded, unless a recipe is given.

    With fresh=true nothing is taken over either.

    Args:
        config: the composed configuration; its run_dir names the run.

    Returns a line for the log that names what differs from the recipe because of this; empty if nothing does.
    Raises InvalidFileError if the manifest of the run is broken, or names code that the configuration does not name.
    """
    if config.fresh:
        return ""
    manifest = Manifest(Path(config.run_dir))
    recorded = manifest.sections.get(RUN, {}).get("settings", {})
    for text in texts_in(recorded):
        if "${" in text:
            raise InvalidFileError(manifest.path, f"setting {shortened(text)!r} is not a value; set another run_dir")
    name_settings_modules(OmegaConf.to_container(config, resolve=False))
    taken = _take_over(config, recorded, overrides)
    _check_code(manifest.path, taken)
    if not recorded:
        return ""
    flat = flat_settings(taken)
    if "learner.name" in recorded and not {"learner", "recipe"} & _names(overrides):
        # `values_with_recorded_learner` has chosen it.
        flat["learner.name"] = config.learner.name
    recipe = {"recipe": flat["recipe"]} if "recipe" in flat else {}
    usual = usual_settings(str(config.recipe))
    own = {
        name: setting_text(value) for name, value in flat.items() if name != "recipe" and value != usual.get(name, ...)
    }
    begun = _named(recipe | own, usual)
    return f"{config.run_dir} was begun with {begun}; fresh=true or another run_dir begins anew" if begun else ""


def _take_over(config: DictConfig, recorded: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Give the settings in a composed configuration their recorded values, except those that `overrides` set.

    If the overrides contain a recipe, nothing changes. Returns the settings that changed, by their dotted names.
    """
    given = [override.lstrip("+").partition("=")[0] for override in overrides]
    if "recipe" in given:
        return {}
    with errors_of_settings(cast(type[Any], OmegaConf.get_type(config))):
        # Nothing is taken over into a section that is given whole: constants of one rule do not suit another.
        whole = tuple(f"{name}." for name in given)
        known = {
            name: value for name, value in recorded.items() if _has(config, name) and not f"{name}.".startswith(whole)
        }
        before = {name: _plain(config, name) for name in known}
        own = {name: _plain(config, name) for name in given if _has(config, name)}
        for name, value in [*known.items(), *own.items()]:
            # A section of settings, which is unchanged here, cannot be replaced by a plain mapping.
            if not is_dataclass(OmegaConf.get_type(OmegaConf.select(config, name))):
                OmegaConf.update(config, name, value, merge=False)
    after = {name: _plain(config, name) for name in known}
    return {name: value for name, value in after.items() if value != before[name]}


def _has(config: DictConfig, name: str) -> bool:
    section, _, last = name.rpartition(".")
    return last in (OmegaConf.select(config, section) or {} if section else config)


def _plain(config: DictConfig, name: str) -> Any:
    value = OmegaConf.select(config, name)
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def values_with_recorded_learner(overrides: Sequence[str]) -> DictConfig:
    """The values of a run with these overrides and the learner that it has recorded, if they name none and no recipe.

    The parameters of a learner are settings, so it must be chosen before they are composed. Raises SettingError.
    """
    if {"learner", "recipe"} & _names(overrides):
        return composed_values(Settings, "config", overrides)
    others = [one for one in overrides if not one.startswith("learner.")]
    values = composed_values(Settings, "config", others)
    recorded = Manifest(Path(values.run_dir)).sections.get(RUN, {}).get("settings", {})
    name = str(recorded.get("learner.name", values.learner.name))
    if values.fresh or name == values.learner.name:
        return values if len(others) == len(overrides) else composed_values(Settings, "config", overrides)
    name_settings_modules(OmegaConf.to_container(values, resolve=False))
    LEARNERS.check_recorded(name)
    return composed_values(Settings, "config", [*with_outside_names([f"learner={name}"]), *overrides])


def _names(overrides: Sequence[str]) -> set[str]:
    """The names of the settings that these overrides set."""
    return {override.lstrip("+").partition("=")[0] for override in overrides}


def composed_for_run(overrides: Sequence[str]) -> Settings:
    """As `compose_settings`, but settings that the overrides do not set are those recorded by the run in run_dir."""
    values = values_with_recorded_learner(overrides)
    if line := take_run_settings(values, overrides):
        log.info("%s", line)
    return checked_settings(Settings, values)


def settings_of_run(run_dir: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """The settings that a run was made with, changed by these Hydra overrides, such as ["levels=12"].

    Raises StageError if the folder is not that of a run, SettingError for a wrong override, InvalidFileError if the
    manifest of the run is broken.

    Examples:
        >>> settings = selfplay.settings_of_run("outputs/tictactoe", ["levels=12"])
        >>> settings.game.name, settings.levels
        ('tictactoe', 12)
    """
    settings = composed_for_run([*list_of_overrides(overrides, Settings), *overrides_of({"run_dir": run_dir})])
    if RUN not in Manifest(Path(settings.run_dir)).sections:
        raise StageError(f"{settings.run_dir} is not the folder of a run; compose_settings makes settings of a new one")
    return settings


@cache
def usual_settings(recipe: str) -> Mapping[str, Any]:
    """The settings of a recipe without changes, by their names; none if it is not one of conf/recipe/."""
    try:
        # The default needs no name, and has been composed already.
        settings = compose_settings([] if recipe == Settings.recipe else [f"recipe={recipe}"])
    except SettingError:
        return {}
    return flat_settings({leaf.name: leaf.value for leaf in leaves(settings)})


def changes_of_recipe(settings: Settings) -> dict[str, str]:
    """The settings of a run that differ from those of its recipe, by their names, with their values as texts.

    Only those that change what is learned or measured; none if the recipe is not one of conf/recipe/.
    """
    usual = usual_settings(settings.recipe)
    return {
        name: setting_text(value)
        for name, value in flat_settings(run_record(settings)).items()
        if usual and name not in NOT_CHANGES and (name not in usual or value != usual[name])
    }


def made_with(settings: Settings) -> str:
    """A sentence that names the settings of a run that differ from those of its recipe; empty if none does."""
    changes = {name: text for name, text in changes_of_recipe(settings).items() if name != "levels"}
    return f"Made with {_named(changes, usual_settings(settings.recipe))}." if changes else ""


def _check_code(path: Path, taken: Mapping[str, Any]) -> None:
    """Raise InvalidFileError if settings from a file start a program, or import a module that the user has not named.

    The file may come from another person, and reading it must not run code of this person.
    """
    for name, value in flat_settings(taken).items():
        foreign = [*set(modules_in(value)).difference(named_modules()), *commands_in(value)]
        if foreign:
            reason = f"{name}={shortened(setting_text(value))} names code outside this program"
            raise InvalidFileError(path, f"{reason}; if you trust it, set {name} yourself")


def _named(texts: Mapping[str, str], others: Mapping[str, Any], what: str = "usual") -> str:
    """The first of these settings with their values, and in parentheses `what` is in `others`."""
    names = sorted(texts, key=lambda name: (name != "recipe", "." in name, name))
    notes = {name: f" ({what} {setting_text(others[name])})" for name in names if name in others and name != "recipe"}
    named = [f"{name}={texts[name]}{notes.get(name, '')}" for name in names]
    return ", ".join([*named[:SHOWN], f"{len(named) - SHOWN} more"] if len(named) > SHOWN else named)


def setting_text(value: object) -> str:
    """The value of a setting as on the command line."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
