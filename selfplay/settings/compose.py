"""Compose settings with Hydra, from the defaults of the dataclasses, conf/ and overrides, into checked dataclasses."""

import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, cast, get_args, get_origin

from hydra import compose, initialize_config_dir, main
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.core.utils import JobRuntime
from hydra.version import VersionBase
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from selfplay.checks import fields_of, require
from selfplay.errors import SettingError, shortened
from selfplay.files import user_path
from selfplay.games import GAMES
from selfplay.learners import LEARNERS, Learner
from selfplay.names_of_games import parts_of_game_name
from selfplay.registry import name_modules
from selfplay.runs.folders import CONFIG_FOLDER, RUNS_FOLDER
from selfplay.runs.manifest import texts_in
from selfplay.settings.common import PATH, AnySettings, GameSettings, field_of, modules_in
from selfplay.settings.overrides import (
    dotted,
    errors_of_settings,
    is_group,
    options_of_group,
    options_of_network,
    typed,
    unknown_option,
    unknown_setting,
    with_outside_names,
)

LEARNER = "learner"
"""The section of the learner, whose class its name chooses."""

OmegaConf.register_new_resolver("runs_folder", lambda: str(RUNS_FOLDER), replace=True)

COMPOSING = Lock()
"""Held while Hydra composes, because its state is that of the process."""

SEARCH_PATH = "hydra.searchpath"
"""The setting of Hydra for further folders with the layout of conf/."""

LONGEST_OPTION = 255 - len(".yaml")
"""The most bytes of the name of an option, which is that of a file."""

FREE = ("from_level", f"{LEARNER}.constants.")
"""How the names of settings begin whose keys are not known here."""


def compose_settings_of(kind: type[AnySettings], config: str, overrides: Sequence[str] = ()) -> AnySettings:
    """The settings of class `kind` from conf/`config`.yaml with these Hydra overrides.

    Raises SettingError as `composed_values` and `checked_settings` do.
    """
    return checked_settings(kind, composed_values(kind, config, overrides))


def checked_settings(kind: type[AnySettings], values: DictConfig) -> AnySettings:
    """The settings with these values, as `composed_values` returns them.

    From now on files may name objects in the modules that the settings name, see `selfplay.registry`.

    Raises SettingError for a value that is not allowed.
    """
    with errors_of_settings(kind):
        name_settings_modules(OmegaConf.to_container(values, resolve=True))
        if LEARNER in values:
            with fields_of(LEARNER, *values.learner):
                OmegaConf.to_object(values.learner)
        return cast(AnySettings, OmegaConf.to_object(values))


def composed_values(kind: type[AnySettings], config: str, overrides: Sequence[str]) -> DictConfig:
    """The values of settings of class `kind` from conf/`config`.yaml with these Hydra overrides.

    Groups are composed once in a process; values are set in a copy. Paths that begin with ~ are in the home folder.

    Raises SettingError for an unknown name, or a value of another type.
    """
    overrides = with_outside_names(overrides)
    with errors_of_settings(kind):
        values = _composed(kind, config, overrides)
        # The default run_dir depends on the name, which contains the size of the board and parameters.
        game = values.game
        game.name = GameSettings(game.name, game.size, OmegaConf.to_container(game.parameters)).name  # type: ignore[arg-type]
        if ":" not in game.name and (base := parts_of_game_name(game.name).base) not in GAMES:
            # Refused here, because run_dir contains it, and can be too long for a folder.
            raise GAMES.unknown(base)
        values.run_dir = str(values.run_dir)
        return values


def _composed(kind: Any, config: str, overrides: Sequence[str]) -> DictConfig:
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    folders = _own_folders(parsed)
    _check_groups(parsed, kind)
    _check_single(parsed, kind)
    values = [one for one in parsed if _is_value(one, folders)]
    choices = tuple(str(one.input_line) for one in parsed if not _is_value(one, folders))
    # Files in a folder of the user may change.
    chosen = chosen_files.__wrapped__ if folders else chosen_files
    plain = pickle.loads(chosen(kind, config, choices))
    if LEARNER in plain:
        named = [str(one.value()) for one in values if one.key_or_group == f"{LEARNER}.name"]
        others = tuple(one for one in choices if one.partition("=")[0] != LEARNER)
        usual = plain if others == choices else pickle.loads(chosen(kind, config, others))
        with_parameters(plain, named[-1] if named else str(plain.learner.name), str(usual.learner.name))
    for one in values:
        _set_value(plain, kind, one)
    _check_values(plain, kind)
    return _with_types(plain, kind)


def _own_folders(overrides: Sequence[Override]) -> list[Path]:
    """The further folders with the layout of conf/. Raises SettingError if one does not exist."""
    given = [one.value() for one in overrides if one.key_or_group == SEARCH_PATH]
    folders = [Path(folder) for value in given if isinstance(value, list) for folder in value]
    for folder in folders:
        require("--config-dir", folder, folder.is_dir(), "a folder")
    return folders


def _set_value(plain: DictConfig, kind: Any, override: Override) -> None:
    """Set a value in a composed configuration. Raises SettingError for an unknown name and a value of another form."""
    key, value = override.key_or_group, override.value()
    section = getattr(field_of(kind, key), "type", None)
    if is_dataclass(section) and not isinstance(value, dict):
        known = ", ".join(f"{key}.{field}" for field in section.__dataclass_fields__)
        text = "null" if value is None else shortened(value)
        raise SettingError(f"{key}={text}: names a section of settings; set one of {known}")
    try:
        # Files in conf/ leave out options that few networks need.
        is_option = key.startswith("architecture.") and key in options_of_network(plain.architecture.name)
        OmegaConf.update(plain, key, value, merge=key != "from_level", force_add=is_option or key.startswith(FREE))
    except (ConfigAttributeError, ConfigKeyError) as error:
        raise SettingError(unknown_setting(key, kind, error.parent_node)) from error
    except (OmegaConfBaseException, ValueError) as error:
        text = shortened(override.input_line)
        raise SettingError(f"{text}: must have the form of the value that --help-all shows") from error


def _check_values(plain: DictConfig, kind: Any) -> None:
    """Put the home folder in the place of ~ in paths. Raises SettingError for a value that types do not refuse."""
    for name, value in dotted(OmegaConf.to_container(plain, resolve=False)):
        # Otherwise the default would be used.
        require(name, "???", "???" not in texts_in(value), "a value")
        field = field_of(kind, name)
        # OmegaConf takes all other numbers as true.
        is_number = field is not None and field.type is bool and isinstance(value, int) and value not in (0, 1)
        require(name, value, not is_number, "true or false")
        if field and PATH.keys() <= field.metadata.keys() and "~" in str(value):
            OmegaConf.update(plain, name, str(user_path(value)))


def _with_types(plain: DictConfig, kind: Any) -> DictConfig:
    """The values with the types of the fields of `kind`, and of the parameters of the learner that they name."""
    OmegaConf.set_struct(plain, None)
    schema = pickle.loads(_pickled_types(kind))
    if LEARNER in plain:
        schema.learner = typed(cast(Any, LEARNERS[plain.learner.name]))
    return cast(DictConfig, OmegaConf.unsafe_merge(schema, plain))


@cache
def _pickled_types(kind: Any) -> bytes:
    return pickle.dumps(typed(kind))


def with_parameters(plain: DictConfig, name: str, usual: str) -> None:
    """Give a composed configuration all parameters of the learner with this name.

    Those that a recipe gives, and what it changes from a level on, count only for its own learner, `usual`.

    Raises SettingError for parameters that it does not have.
    """
    kind = typed(cast(Any, LEARNERS[name]))
    section = OmegaConf.to_container(plain.learner)
    given = cast(dict[str, Any], section) if name == usual else {}
    given.pop("name", None)
    if foreign := [key for key in given if key not in kind]:
        raise SettingError(unknown_setting(f"{LEARNER}.{foreign[0]}", Learner, plain.learner))
    with open_dict(plain):
        plain.from_level = plain.from_level if name == usual else {}
        plain.learner = {**cast(dict[str, Any], OmegaConf.to_container(kind)), **given, "name": name}


def _check_groups(overrides: Sequence[Override], kind: type[Any]) -> None:
    """Raise SettingError for groups of another program and options that are not names; Hydra would ignore both."""
    for one in overrides:
        group = one.key_or_group
        if not is_group(CONFIG_FOLDER, group):
            continue
        if group not in kind.__dataclass_fields__:
            raise SettingError(unknown_setting(group, kind))
        if not (isinstance(one.value(), str) or one.is_delete() or one.is_sweep_override()):
            value = shortened(one.get_value_element_as_str())
            raise SettingError(f"{group}={value}: must be one name; --help-all shows the options")
        if isinstance(option := one.value(), str) and len(option.encode(errors="replace")) > LONGEST_OPTION:
            raise SettingError(unknown_option(group, option, options_of_group(group)))


def _check_single(overrides: Sequence[Override], kind: type[Any]) -> None:
    """Raise SettingError for an override with several values, which only a sweep can have."""
    for one in overrides:
        if one.is_sweep_override():
            name, value = one.key_or_group, re.sub("['\"]", "", str(one.input_line).partition("=")[2])
            of_field = getattr(field_of(kind, name), "type", None)
            is_list = any(get_origin(part) is list for part in (of_field, *get_args(of_field)))
            form = f"write a list as {name}=[{value}]; " if is_list else ""
            raise SettingError(f"{name}={shortened(value)}: has several values; {form}-m runs once for each value")


def _is_value(override: Override, folders: Sequence[Path]) -> bool:
    """Whether an override only sets a value: it chooses no file in conf/ or these folders, adds and deletes nothing."""
    name = override.key_or_group
    if name == SEARCH_PATH or any(is_group(folder, name) for folder in (CONFIG_FOLDER, *folders)):
        return False
    is_added = override.type == OverrideType.ADD and name.startswith(f"{LEARNER}.")
    sets = (override.type == OverrideType.CHANGE or is_added) and override.package is None
    sets = sets and not override.is_sweep_override()
    # There is no setting of Hydra's own, so each is refused as unknown.
    return sets or override.is_hydra_override()


def name_settings_modules(values: Any) -> None:
    """Allow files to import the modules that these settings name, also in the setting `modules`."""
    name_modules([*modules_in(values), *(values.get("modules") or ())])


@cache
def chosen_files(kind: Any, config: str, overrides: tuple[str, ...]) -> bytes:
    """The values of conf/`config`.yaml with these overrides, which Hydra composes in 0.1 s, pickled: a DictConfig is
    read in a sixth of the time in which it is copied.

    Later overrides must name existing settings, also in mappings such as the options of a network (struct mode).
    """
    with _own_hydra():
        offer_defaults(kind)
        composed = compose(config, list(overrides), return_hydra_config=True)
    with open_dict(composed):
        chosen = composed.pop("hydra").runtime.choices
    if "recipe" in chosen:
        composed.recipe = chosen.recipe
    return pickle.dumps(composed)


@contextmanager
def _own_hydra() -> Iterator[None]:
    """Hydra with the files of conf/ in this block; afterwards Hydra is as the host program had it."""
    with COMPOSING:
        host, base, store = GlobalHydra.instance(), VersionBase.instance(), ConfigStore.instance()
        before = host.hydra, base.version_base, store.repo
        host.clear()
        store.repo = dict(store.repo)
        try:
            with initialize_config_dir(str(CONFIG_FOLDER), JobRuntime.instance().get("name"), version_base="1.3"):
                yield
        finally:
            GlobalHydra.set_instance(host)
            host.hydra, base.version_base, store.repo = before


def hydra_main(kind: type[Any], config: str, arguments: Sequence[str], task: Callable[[Any], object]) -> None:
    """Let Hydra read these arguments as the command line, and print something or call `task`, as they say.

    Raises SettingError.
    """
    offer_defaults(kind)
    sys.argv[1:] = arguments
    # Hydra raises errors instead of printing them.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    with errors_of_settings(kind):
        main(version_base="1.3", config_path=str(CONFIG_FOLDER), config_name=config)(task)()


def offer_defaults(kind: Any) -> None:
    """Register the defaults of all fields of `kind`, so that the defaults lists in conf/ can begin with them.

    The parameters of a learner are those of its class, from which conf/learner/ takes them.
    """
    defaults = cast(dict[str, Any], OmegaConf.to_container(typed(kind)))
    store = ConfigStore.instance()
    if LEARNER in defaults:
        defaults[LEARNER] = {}
        for name, learner in LEARNERS.items():
            parameters = OmegaConf.to_container(typed(cast(Any, learner)))
            store.store(group=f"{LEARNER}_parameters", name=name, node=parameters)
    store.store(name=kind.__name__, node=defaults)
