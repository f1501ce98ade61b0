"""What a program prints instead of running: the text of `--help`, its settings, completions."""

import ast
import inspect
import json
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

from omegaconf import OmegaConf

from selfplay.checks import PLAYER_NAME
from selfplay.cli.command import HELP_ALL, HELP_FLAGS, Program, settings_of
from selfplay.errors import SettingError, shortened
from selfplay.named_players.names import PLAYERS, grammar
from selfplay.runs.command_lines import command_line, with_command_lines
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.settings import common
from selfplay.settings.common import Leaf, field_of, leaves
from selfplay.settings.compose import compose_settings_of, hydra_main

QUERY = "query="
"""How the last argument begins when a shell asks for the words that complete the line in COMP_LINE."""

WIDTH = 100
MOST_SHOWN = 10
"""Settings that `--help` describes."""


def print_instead(program: Program[Any], overrides: Sequence[str], flags: Sequence[str]) -> None:
    """Print what these flags ask for: the help, the settings (`--cfg job`), or what Hydra prints (`-sc`, `--info`)."""
    if not HELP_FLAGS.isdisjoint(flags):
        text = help_text if HELP_ALL in flags else short_help_text
        print(text(program, overrides))
        return
    words = [word for flag in flags for word in flag.split("=", 1)]
    values = dict(pairwise(words))
    if "job" in (values.get("--cfg"), values.get("-c")):
        print(_settings_text(program, overrides, values.get("--package") or values.get("-p")), end="")
        return
    arguments = [*overrides, *flags]
    is_query = any(word.startswith(QUERY) for word in arguments)
    if is_query and (words := completed_players(program.kind, os.environ["COMP_LINE"])):
        print(" ".join(words))
        return
    hydra_main(program.kind, program.config, arguments, lambda _: None)


def _settings_text(program: Program[Any], overrides: Sequence[str], section: str | None) -> str:
    """The settings that the program would read, as yaml; only one section of them if it is named.

    Hydra would also show what a recipe says about another learner than the chosen one, and not what the run recorded.
    """
    settings = OmegaConf.structured(settings_of(program, overrides)[0])
    shown = OmegaConf.select(settings, section) if section else settings
    if not OmegaConf.is_config(shown):
        raise SettingError(f"--package={shortened(str(section))}: must be a section of the settings, such as learner")
    return OmegaConf.to_yaml(shown)


def completed_players(kind: type[Any], line: str) -> list[str]:
    """The words with which the last setting of a command line can continue, if it holds the names of players."""
    word = line.rpartition(" ")[2]
    field = field_of(kind, word.partition("=")[0])
    if field is None or not field.metadata.keys() & PLAYER_NAME.keys():
        return []
    # A name in a list follows a bracket and perhaps other names.
    before = re.match(r"[^=]*=\[?(?:[^,]*,)*", word)
    return [f"{before[0]}{name}" for name in PLAYERS] if before else []


def short_help_text(program: Program[Any], overrides: Sequence[str]) -> str:
    """The text of `--help`: what the program does, examples, and the settings that are changed most often.

    These are shown with the values that the overrides give them. Raises SettingError.
    """
    settings = compose_settings_of(program.kind, program.config, overrides)
    found = {leaf.name: leaf for leaf in leaves(settings)}
    bases = (base for base in program.kind.__mro__[:-1] if base.__module__ != common.__name__)
    own = dict.fromkeys(name for base in bases for name in base.__annotations__ if name in found)
    shown = program.main or ("game.name", *list(own)[: MOST_SHOWN - 2], "run_dir")
    lines = _setting_lines(settings, [found[name] for name in shown])
    all_of_it = f"{command_line(program.name)} {HELP_ALL}"
    return "\n\n".join(
        [
            docstring_of(program),
            "\n".join(["Settings, given as name=value or as flags (--seed 3 is seed=3)", *lines]),
            f"{all_of_it} has all {len(found)} settings, groups of settings, and names of players.",
        ]
    )


def docstring_of(program: Program[Any]) -> str:
    """What a program does, with examples."""
    return with_command_lines(inspect.getdoc(program.body) or "").strip()


def help_text(program: Program[Any], overrides: Sequence[str]) -> str:
    """The text of `--help-all`, with every setting.

    The settings are shown with the values that these overrides give them. Raises SettingError.
    """
    settings = compose_settings_of(program.kind, program.config, overrides)
    groups = _groups(program.config)
    found = list(leaves(settings))
    parts = [
        docstring_of(program),
        "Settings are given as name=value or as flags: --seed 3 is seed=3.",
    ]
    if groups:
        lines = (f"  {group}: {', '.join(options)}" for group, options in groups.items())
        parts.append("\n".join(["Groups to choose from (group=option)", *map(_wrapped, lines)]))
    if any(leaf.field.metadata.keys() & PLAYER_NAME.keys() for leaf in found):
        parts.append(f"Names of players\n{grammar()}")
    parts.append("\n".join(["Settings (name=value)", *_setting_lines(settings, found)]))
    parts.append(
        "Flags of Hydra: --cfg job prints the settings and runs nothing, -m runs once for each of several values\n"
        "(seed=0,1,2), --hydra-help shows the others."
    )
    return "\n\n".join(parts)


def _setting_lines(settings: Any, shown: Sequence[Leaf]) -> list[str]:
    """These settings with their values and meanings."""
    descriptions = dict(descriptions_of(type(settings), settings))
    return [f"  {leaf.name}={_text(leaf.value)}\n{_described(descriptions.get(leaf.name, ''))}" for leaf in shown]


def _groups(config: str) -> dict[str, list[str]]:
    """The options of each group that the program chooses from."""
    entries = OmegaConf.to_container(OmegaConf.load(CONFIG_FOLDER / f"{config}.yaml"))["defaults"]  # type: ignore[index, call-overload]
    names = [name for entry in entries if isinstance(entry, dict) for name in entry]
    return {name: sorted(path.stem for path in (CONFIG_FOLDER / name).glob("*.yaml")) for name in names}


def descriptions_of(kind: type[Any], settings: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The docstring below each field, by the field's dotted name, read from the sources: Python does not keep these.

    Those of base classes come first, so that a field that is declared again has the later text.
    """
    for base in reversed(kind.__mro__[:-1]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip_longest(definition.body, definition.body[1:]):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                name, value = field.target.id, getattr(settings, field.target.id)
                if hasattr(value, "__dataclass_fields__"):
                    yield from descriptions_of(type(value), value, f"{prefix}{name}.")
                elif isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                    yield f"{prefix}{name}", " ".join(str(text.value.value).split())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _described(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="    ")
