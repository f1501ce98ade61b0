"""Errors of Hydra and OmegaConf in the words of the command line: the setting, its value, and what it must be."""

import re

from omegaconf.errors import OmegaConfBaseException

from selfplay.errors import shortened, without_digit_limit

KINDS = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false", "String": "a text"}
"""The types of OmegaConf."""

TYPES = {"int": KINDS["Integer"], "float": KINDS["Float"], "bool": KINDS["Boolean"], "str": KINDS["String"]}


def one_line(error: BaseException) -> str:
    """The message of an error of Hydra or OmegaConf as one line that begins with the setting."""
    text = _joined(error)
    if unknown := re.match(
        r"Could not override '([^']+)'\..*(?: is not in struct|No match in the)|Key '[^']+' not in .* key (\S+)$", text
    ):
        return f"unknown setting {unknown[1] or unknown[2]!r}; --help shows all"
    if option := re.match(r"Could not find '([^']+)' Available options in '([^']+)': (.*)$", text):
        group, choices = option[2], ", ".join(option[3].split())
        return f"{group}={option[1].removeprefix(f'{group}/')}: choose from {choices}"
    if text.startswith("Config group override must be") or isinstance(error, TypeError):
        return "the option of a group must be a name"
    if isinstance(error, OmegaConfBaseException) and error.full_key:
        return f"{error.full_key}={_value_text(error)}: must be {_wanted(text)}"
    override = getattr(error, "override", None) or _override_in(text)
    return text if override is None else f"{shortened(override)}: {_how_to_write(text)}"


def _joined(error: BaseException) -> str:
    """The lines of the message with cause, key and choices, without the name of the file and the search path."""
    kept: list[str] = []
    for line in filter(None, map(str.strip, str(error).splitlines())):
        if line.startswith(("Config search path", "To append", "object_type", "reference_type", "Set the env", "See ")):
            break
        kept.append(line.replace("full_key:", "key"))
    cause = error.__cause__
    if isinstance(cause, OmegaConfBaseException) and len(kept) <= 1:
        kept.append(str(cause).splitlines()[0])
    return without_digit_limit(re.sub(r"^In '[^']+': ", "", " ".join(kept)))


def _value_text(error: OmegaConfBaseException) -> str:
    value = error.value
    return "null" if value is None else shortened(value)


def _wanted(text: str) -> str:
    """What the value must be, from a message about its type."""
    if found := re.search(r"could not be converted to (\w+)", text):
        return KINDS.get(found[1], found[1])
    if found := re.search(r"for field of type '(\w+)'", text):
        return TYPES.get(found[1], found[1])
    if found := re.search(r"is not a valid (\w+)", text):
        return TYPES.get(found[1], found[1])
    if "not a ListConfig" in text:
        return "a list, such as [1,2]"
    return KINDS["String"] if "to string" in text else f"of another type ({text})"


def _override_in(text: str) -> str | None:
    found = re.match(
        r"(?:Error merging override|Error parsing override|Ambiguous value for argument) '?(\S+?)'?(?: |$)", text
    )
    return None if found is None else found[1]


def _how_to_write(text: str) -> str:
    """How to write an override that cannot be read or merged."""
    if "Ambiguous" in text:
        return "write a list as [1,2], a text with commas in quotes, and several runs with -m"
    if "merg" in text:
        return "must have the form of its default, which --help shows"
    if "missing EQUAL" in text:
        return "write a setting as name=value"
    return f"cannot be read; close brackets, and put texts with special characters in quotes ({text})"
