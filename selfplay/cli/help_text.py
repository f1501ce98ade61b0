"""The text of `--help`: the script's docstring, its groups, and every setting with its description."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from omegaconf import OmegaConf

from selfplay.players.player_names import grammar
from selfplay.settings.common import AnySettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.fields import PLAYER_NAME, leaves
from selfplay.settings.folders import CONFIG_FOLDER

WIDTH = 100


def help_text(docstring: str, kind: type[AnySettings], config: str, overrides: Sequence[str]) -> str:
    """The text of `--help` for a script with settings of class `kind` from conf/`config`.yaml.

    The settings are shown with the values that these overrides give them. Raises SettingError.
    """
    settings = compose_settings_of(kind, config, overrides)
    groups = _groups(config)
    found = list(leaves(settings))
    parts = [
        docstring.strip(),
        "Settings are given as name=value or as flags: --seed 3 is seed=3.",
    ]
    if groups:
        lines = (f"  {group}: {', '.join(options)}" for group, options in groups.items())
        parts.append("\n".join(["Groups to choose from (group=option)", *map(_wrapped, lines)]))
    if any(leaf.field.metadata.keys() & PLAYER_NAME.keys() for leaf in found):
        parts.append(f"Names of players\n{grammar()}")
    descriptions = dict(_descriptions(type(settings), settings))
    lines = (f"  {leaf.name}={_text(leaf.value)}\n{_described(descriptions.get(leaf.name, ''))}" for leaf in found)
    parts.append("\n".join(["Settings (name=value)", *lines]))
    parts.append(
        "Flags of Hydra: --cfg job prints the settings and runs nothing, -m runs once for each of several values\n"
        "(seed=0,1,2), --hydra-help shows the others."
    )
    return "\n\n".join(parts)


def _groups(config: str) -> dict[str, list[str]]:
    """The options of each group that the program chooses from."""
    entries = OmegaConf.to_container(OmegaConf.load(CONFIG_FOLDER / f"{config}.yaml"))["defaults"]  # type: ignore[index, call-overload]
    names = [name for entry in entries if isinstance(entry, dict) for name in entry if "hydra/" not in name]
    return {name: sorted(path.stem for path in (CONFIG_FOLDER / name).glob("*.yaml")) for name in names}


def _descriptions(kind: type[Any], settings: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The docstring below each field, by the field's dotted name, read from the sources: Python does not keep these."""
    for base in kind.__mro__[:-1]:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip_longest(definition.body, definition.body[1:]):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                name, value = field.target.id, getattr(settings, field.target.id)
                if hasattr(value, "__dataclass_fields__"):
                    yield from _descriptions(type(value), value, f"{prefix}{name}.")
                elif isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                    yield f"{prefix}{name}", " ".join(str(text.value.value).split())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _described(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="    ")
