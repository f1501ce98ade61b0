"""Compose settings with Hydra, from the defaults of the dataclasses, conf/ and overrides, into checked dataclasses."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from selfplay.errors import SelfPlayError, SettingError
from selfplay.registry import base_and_size, name_modules, offers
from selfplay.settings.choices import modules_in
from selfplay.settings.common import AnySettings, GameSettings
from selfplay.settings.config_errors import one_line
from selfplay.settings.folders import CONFIG_FOLDER

GROUPS_OF_OBJECTS = {"game": "selfplay.games", "architecture": "selfplay.architectures"}
"""The groups of conf/ whose options are objects of a registry, and the group of its entry points."""

_OFFERED: set[type[Any]] = set()
"""The classes whose defaults are registered in this process."""


def offer_defaults(kind: type[Any]) -> None:
    """Register the defaults of all fields of `kind`, so that the defaults lists in conf/ can begin with them."""
    if kind in _OFFERED:
        return
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name=kind.__name__, node=OmegaConf.to_container(OmegaConf.structured(kind)))
    _OFFERED.add(kind)


def settings_from_config(config: DictConfig, kind: type[AnySettings]) -> AnySettings:
    """The settings of class `kind` in a composed configuration.

    Files may from now on name objects in the modules that the settings name, see `selfplay.registry`.

    Raises SettingError for an unknown name or a wrong value.
    """
    try:
        values = OmegaConf.to_container(config, resolve=True)
        name_settings_modules(values)
        structured = OmegaConf.structured(kind)
        _require_groups(OmegaConf.to_container(structured), values)
        merged = OmegaConf.merge(structured, values)
        return cast(AnySettings, OmegaConf.to_object(merged))
    except OmegaConfBaseException as error:
        raise SettingError(one_line(error)) from error


def _require_groups(defaults: Any, values: Any, prefix: str = "") -> None:
    """Raise SettingError for a group of settings with a single value, such as training=3."""
    for name, group in defaults.items():
        if isinstance(group, Mapping) and name in values:
            if not isinstance(values[name], Mapping):
                example = f"{prefix}{name}.{next(iter(group), 'name')}"
                raise SettingError(f"{prefix}{name}={values[name]}: is a group of settings; set one, such as {example}")
            _require_groups(group, values[name], f"{prefix}{name}.")


def compose_settings_of(
    kind: type[AnySettings],
    config: str,
    overrides: Sequence[str] = (),
    complete: Callable[[DictConfig], object] = lambda _: None,
) -> AnySettings:
    """The settings of class `kind` from conf/`config`.yaml with these Hydra overrides. Raises SettingError.

    `complete`: changes the configuration before it is checked.
    """
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException

    offer_defaults(kind)
    try:
        with initialize_config_dir(str(CONFIG_FOLDER), version_base="1.3"):
            composed = compose(config, with_outside_names(overrides), return_hydra_config=True)
            name_recipe(composed, composed.hydra.runtime.choices)
            name_board(composed)
            complete(composed)
            with open_dict(composed):
                del composed["hydra"]
            return settings_from_config(composed, kind)
    except SelfPlayError:
        raise
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise SettingError(one_line(error)) from error


def with_outside_names(overrides: Sequence[str]) -> list[str]:
    """Hydra overrides in which games and networks from outside this package are named where they have to be.

    The groups `game` and `architecture` are files of conf/, which there are none of for objects from outside:
    `game=my_module:MyGame` becomes `game.name=my_module:MyGame`, and `architecture=my_module:MyNetwork` or
    `architecture._target_=my_module.MyNetwork` becomes `architecture=custom architecture.name=my_module:MyNetwork`.
    Nor are there files for other boards: `game=othello_6x6` becomes `game.name=othello_6x6`.
    """
    return [changed for override in overrides for changed in _with_outside_name(override)]


def _with_outside_name(override: str) -> list[str]:
    key, _, value = override.partition("=")
    if key.lstrip("+") == "architecture._target_":
        module, _, attribute = value.replace(":", ".").rpartition(".")
        return ["architecture=custom", f"architecture.name={module}:{attribute}"]
    if key not in GROUPS_OF_OBJECTS or not any(_is_outside(key, name) for name in value.split(",")):
        return [override]
    return [*([] if key == "game" else [f"{key}=custom"]), f"{key}.name={value}"]


def _is_outside(group: str, name: str) -> bool:
    if (CONFIG_FOLDER / group / f"{name}.yaml").exists():
        return False
    if ":" in name or (group == "game" and base_and_size(name)[1]):
        return True
    return name.isidentifier() and offers(GROUPS_OF_OBJECTS[group], name)


def name_settings_modules(values: Any) -> None:
    """Note the modules that these settings name, also in the setting `modules`."""
    name_modules([*modules_in(values), *(values.get("modules") or ())])


def name_recipe(config: DictConfig, choices: Mapping[str, str]) -> None:
    """Write the name of the recipe into a composed configuration, if it has one. `choices`: of Hydra, by group."""
    if "recipe" in choices:
        config.recipe = choices["recipe"]


def name_board(config: DictConfig) -> None:
    """Let the name of the game say the size that a composed configuration sets: paths such as run_dir depend on it."""
    config.game.name = GameSettings(config.game.name, config.game.size).name


def take_over(config: DictConfig, recorded: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Give the settings in a composed configuration their recorded values, except those that `overrides` set.

    With a recipe among the overrides nothing changes. Returns the settings that changed, by their dotted names.
    """
    given = [override.lstrip("+").partition("=")[0] for override in overrides]
    if "recipe" in given:
        return {}
    # The default run_dir depends on the game.
    config.run_dir = str(config.run_dir)
    known = {name: value for name, value in recorded.items() if _has(config, name)}
    before = {name: _plain(config, name) for name in known}
    own = {name: _plain(config, name) for name in given if _has(config, name)}
    for name, value in [*known.items(), *own.items()]:
        OmegaConf.update(config, name, value, merge=False)
    after = {name: _plain(config, name) for name in known}
    return {name: value for name, value in after.items() if value != before[name]}


def _has(config: DictConfig, name: str) -> bool:
    section, _, last = name.rpartition(".")
    return last in (OmegaConf.select(config, section) or {} if section else config)


def _plain(config: DictConfig, name: str) -> Any:
    value = OmegaConf.select(config, name)
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
