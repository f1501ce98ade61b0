"""Writes docs/settings.md and docs/players.md from the code.

python docs/reference.py
"""

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from inspect import getdoc, signature
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from selfplay.architectures import ARCHITECTURES, option_defaults
from selfplay.checks import LARGEST_COUNT, PLAYER_NAME, Range
from selfplay.cli import programs
from selfplay.cli.entry import program_named
from selfplay.cli.help_text import descriptions_of
from selfplay.experience.rule import ExperienceRule
from selfplay.games import GAMES
from selfplay.learners import LEARNERS
from selfplay.named_players.names import EPSILON, OPTION_LINE, PLAYERS, Option, PlayerKind, kind_named
from selfplay.players.mcts import TreeSearchParameters
from selfplay.players.search import SearchPlayerParameters
from selfplay.runs.folders import CONFIG_FOLDER, PROJECT_FOLDER
from selfplay.search.mcts.rule import SEARCH_RULES
from selfplay.settings.common import CommonSettings, Leaf, leaves
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.run import Settings

FOLDER = Path(__file__).parent
PARAMETERS = {
    "mcts:EVALUATOR": TreeSearchParameters,
    "search:ALGORITHM": SearchPlayerParameters,
    "experience[:PATH]": ExperienceRule,
}
"""The parameters that are also options of players, by the players."""
OF_PARAMETERS = {name: meaning for kind in PARAMETERS.values() for name, meaning in descriptions_of(kind, kind())}
"""Their meanings."""
OF_ALL = frozenset(CommonSettings.__dataclass_fields__)
"""The settings and groups of settings that all programs have."""

SETTINGS_INTRODUCTION = """\
# Settings

Every program prints its own settings with `--help-all`.

- A setting is given as `name=value` or as a flag: `seed=3`, `--seed 3`. `null`: no value.
- `GROUP=OPTION` chooses a file of a folder of `conf/`, such as `recipe=othello`. What you set
  yourself replaces what the file sets. `--cfg job` prints the resulting settings and runs nothing.
- [A run remembers its settings](reproducibility.md#settings-of-a-run-are-given-once). A stage that was made with
  others is only replaced with `force=true`.
- `-m seed=0,1,2` runs a [sweep](reproducibility.md#sweeps).

After each name follow the default, the meaning, and in parentheses the allowed values (`>0..1`: above 0, at
most 1; counts without any are at least 1); for names without a meaning, the default is in parentheses.
`recipe=default`, unless another is chosen, sets

{default_recipe}
"""

PLAYERS_INTRODUCTION = """\
# Players

Wherever a program asks for a player, it takes a name:

    NAME[:ARGUMENT][?OPTION=VALUE&OPTION=VALUE...]

for example `perfect`, `level:17` or `'level:17?depth=2&temperature=0.1'`, in quotes, because `?` and
`&` are special to the shell.

Every player except `human` also takes the option `epsilon`: {epsilon}.
`MODULE:CLASS` is a player of your own ([adding a player](adding_a_player.md)).
"""


def section(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([f"## {heading}", "", *lines, ""])


def item(text: str) -> str:
    return textwrap.fill(f"- {text}", 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def shown(value: object) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value)
    return text.replace(f"{PROJECT_FOLDER}/", "")


# ---------------------------------------------------------------------- settings


def range_text(bounds: Range) -> str:
    """A range in few characters, such as 0..1, >=2 or >0..1."""
    least, most, above, below = bounds
    low = f">{above:,}" if least is None else f"{least:,}"
    if below is None and most in {None, LARGEST_COUNT}:
        return low if least is None else f">={low}"
    return f"{low}..<{below:,}" if most is None else f"{low}..{most:,}"


def allowed(leaf: Leaf, meaning: str) -> str:
    """The values that a setting may have, beyond those that its meaning names; empty if there are none."""
    metadata = leaf.field.metadata
    if "range" in metadata:
        return range_text(metadata["range"]).removeprefix(">=1")
    if metadata.keys() & PLAYER_NAME.keys():
        return "[players](players.md)"
    choices = metadata.get("choices", metadata.get("registry", ()))
    return "" if all(choice in meaning for choice in choices) else ", ".join(choices)


def setting(leaf: Leaf, meaning: str, note: str = "") -> str:
    notes = "; ".join(filter(None, [allowed(leaf, meaning), note]))
    return item(f"**`{leaf.name}`** `{shown(leaf.value)}`: {meaning}{f' ({notes})' if notes else ''}")


def named(leaf: Leaf, usual: object = None) -> str:
    """A setting whose meaning is elsewhere, with its default unless that is the usual one."""
    return f"`{leaf.name}`" if leaf.value == usual else f"`{leaf.name}` (`{shown(leaf.value)}`)"


def player_with(leaf: Leaf, meaning: str) -> str:
    """The player of which a setting is an option with the same meaning; empty if there is none."""
    name = leaf.name.rpartition(".")[2]
    for player, kind in PARAMETERS.items():
        options = {option.name for option in kind_named(re.split(r"\W", player)[0]).options}
        if name in options and (name, meaning) in descriptions_of(kind, kind()):
            anchor = re.sub(r"\W", "", player).lower()
            return f"[{player}](players.md#{anchor})"
    return ""


def described(settings: Any) -> Iterator[tuple[Leaf, str]]:
    """The settings, each with its meaning."""
    meanings = dict(descriptions_of(type(settings), settings))
    return ((leaf, meanings.get(leaf.name, "")) for leaf in leaves(settings))


def settings_of_programs() -> Iterator[tuple[type[Any], str, list[str]]]:
    """Each class of settings, its file in conf/ and the programs that take them."""
    found: dict[tuple[type[Any], str], list[str]] = {}
    for name in programs.MODULES:
        program = program_named(name)
        found.setdefault((program.kind, program.config), []).append(name)
    for (kind, config), takers in found.items():
        yield kind, config, takers


def common_lines() -> list[str]:
    found = described(compose_settings_of(Settings, "config"))
    return [setting(leaf, meaning) for leaf, meaning in found if leaf.name.partition(".")[0] in OF_ALL]


def repeats(lines_by_source: dict[str, list[str]]) -> list[str]:
    return [item(f"As in {source}: {', '.join(same)}.") for source, same in lines_by_source.items()]


def program_sections() -> Iterator[str]:
    """The settings of each program, or of several alike; those that an earlier program or a player has too are only
    named."""
    first: dict[tuple[str, ...], tuple[str, Leaf]] = {}
    headings: dict[tuple[str, ...], list[str]] = {}
    for kind, config, names in settings_of_programs():
        heading, lines, repeated = ", ".join(names), list[str](), dict[str, list[str]]()
        for leaf, meaning in described(compose_settings_of(kind, config)):
            if leaf.name.partition(".")[0] in {*OF_ALL, "learner"}:
                continue
            earlier, usual = first.setdefault((leaf.name, meaning, allowed(leaf, meaning)), (heading, leaf))
            source = player_with(leaf, meaning) if earlier == heading else earlier.partition(",")[0]
            if source:
                repeated.setdefault(source, []).append(named(leaf, None if earlier == heading else usual.value))
            else:
                lines.append(setting(leaf, meaning))
        found = (*lines, *repeats(repeated)) or ("- Only those of every program.",)
        headings.setdefault(found, []).append(heading)
    for found, programs_alike in headings.items():
        yield section(", ".join(programs_alike), found)


def learner_sections() -> Iterator[str]:
    """The parameters of learners, those of the same learners together."""
    found: dict[tuple[str, str], dict[str, Leaf]] = {}
    for name in LEARNERS:
        for leaf, meaning in described(LEARNERS[name](name=name)):
            if leaf.name != "name":
                found.setdefault((f"learner.{leaf.name}", meaning), {})[name] = leaf
    groups, repeated = dict[tuple[str, ...], list[str]](), dict[tuple[str, ...], dict[str, list[str]]]()
    for (parameter, meaning), by_learner in found.items():
        leaf = next(iter(by_learner.values()))._replace(name=parameter)
        others = {name: shown(one.value) for name, one in by_learner.items() if one.value != leaf.value}
        note = ", ".join(f"{name}: `{value}`" for name, value in others.items())
        if source := player_with(leaf, meaning):
            repeated.setdefault(tuple(by_learner), {}).setdefault(source, []).append(named(leaf))
        else:
            groups.setdefault(tuple(by_learner), []).append(setting(leaf, meaning, note))
    for names, lines in groups.items():
        yield section(f"learner={', '.join(names)}", [*lines, *repeats(repeated.get(names, {}))])


def architecture_lines() -> Iterator[str]:
    for name in ARCHITECTURES:
        options = ", ".join(f"`{option}` {shown(value)}" for option, value in option_defaults(name).items())
        yield item(f"**`{name}`**: {options or 'no options'}")


def game_lines() -> Iterator[str]:
    for name in GAMES:
        game = GAMES[name]
        sizes = ", ".join(map(str, game.sizes))
        further = f", also {game.other_sizes[0]} to {game.other_sizes[-1]}" if game.other_sizes else ""
        usual, others = game.usual_parameters(None), [game.usual_parameters(size) for size in game.sizes]
        varies = {one for one, value in usual.items() if any(other[one] != value for other in others)}
        parameters = ", ".join(
            f"`game.{one}` {value}{f' at size {game.sizes[0]}' if one in varies else ''}"
            for one, value in usual.items()
        )
        texts = [f"`game.size` {sizes}{further}" if sizes else "", parameters]
        yield item(f"**`{name}`**: {'; '.join(filter(None, texts)) or 'one board'}")


def group_lines(group: str) -> Iterator[str]:
    """The options of a group of conf/ with the first sentence of each file."""
    for path in sorted((CONFIG_FOLDER / group).glob("*.yaml")):
        comment = re.match(r"(?:# @package .*\n)?((?:# .*\n)+)", path.read_text())
        text = " ".join(line.removeprefix("# ") for line in comment[1].splitlines()) if comment else ""
        yield item(f"**`{path.stem}`**: {re.split(r'(?<=[a-z)0-9])[.:] (?=[A-Z-])', text, maxsplit=1)[0].rstrip('.')}.")


def default_recipe() -> str:
    """What the default recipe sets."""
    recipe: Any = OmegaConf.to_container(OmegaConf.load(CONFIG_FOLDER / "recipe" / "default.yaml"))
    groups = [f"{group.split('/')[-1]}={option}" for one in recipe["defaults"] for group, option in one.items()]
    values = [f"learner.{name}={shown(value).replace(' ', '')}" for name, value in recipe["learner"].items()]
    return textwrap.fill(" ".join([*groups, *values]), 100, initial_indent="    ", subsequent_indent="    ")


def settings_page() -> str:
    parts = [
        SETTINGS_INTRODUCTION.format(default_recipe=default_recipe()),
        section("Every program", common_lines()),
        section("Games", game_lines()),
        *program_sections(),
        *learner_sections(),
        section("architecture", architecture_lines()),
        section("recipe", group_lines("recipe")),
    ]
    return "\n".join(parts)


# ---------------------------------------------------------------------- players


def meaning_of(option: Option) -> str:
    meaning = option.meaning or OF_PARAMETERS.get(option.name, "").rstrip(".")
    return f"{meaning[:1].lower()}{meaning[1:]}"


def named_option(option: Option) -> str:
    return f"`{option.name}` (`{shown(option.default)}`)"


def option_line(option: Option) -> str:
    return item(f"{named_option(option)}: {meaning_of(option)}")


def earlier_kind(kind: PlayerKind, option: Option) -> str:
    """The first kind of player that has an option with the same meaning, by its syntax; empty if it is this one."""
    for one in map(kind_named, PLAYERS):
        if any(other.name == option.name and meaning_of(other) == meaning_of(option) for other in one.options):
            return "" if one.syntax == kind.syntax else one.syntax
    return ""


def options_of_rule(name: str) -> list[Option]:
    """The constants of a rule of tree search."""
    rule = SEARCH_RULES[name]
    meanings = dict(OPTION_LINE.findall(getdoc(rule) or ""))
    constants = signature(rule).parameters.values()
    return [Option(one.name, default=one.default, meaning=meanings[one.name].rstrip(".")) for one in constants]


def constants(kind: PlayerKind) -> dict[str, list[Option]]:
    """The constants of the rules of tree search among the options of a kind, by rule."""
    names = {option.name for option in kind.options}
    found = {rule: options_of_rule(rule) for rule in SEARCH_RULES}
    return {rule: options for rule, options in found.items() if {option.name for option in options} <= names}


def kind_section(name: str) -> str:
    kind = kind_named(name)
    rules = constants(kind) if kind.options else {}
    of_rules = {option.name for options in rules.values() for option in options}
    lines = textwrap.wrap(f"{kind.meaning[0].upper()}{kind.meaning[1:]}.", 100) + [""] * bool(kind.options)
    repeated = dict[str, list[str]]()
    for option in kind.options:
        if option.name in of_rules:
            continue
        if earlier := earlier_kind(kind, option):
            repeated.setdefault(earlier, []).append(named_option(option))
        else:
            lines.append(option_line(option))
    lines += [item(f"as for `{earlier}`: {', '.join(options)}") for earlier, options in repeated.items()]
    for rule, options in rules.items():
        lines += ["", f"Constants of `rule={rule}`:", "", *map(option_line, options)]
    return section(f"`{kind.syntax}`", lines)


def players_page() -> str:
    return "\n".join([PLAYERS_INTRODUCTION.format(epsilon=EPSILON.meaning), *map(kind_section, PLAYERS)])


PAGES: dict[str, Callable[[], str]] = {"settings.md": settings_page, "players.md": players_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
