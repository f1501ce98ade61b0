"""A program has no setting that nothing reads: it would be accepted, and change nothing.

What a program reads is found in the source of all functions that it can reach, without running it.
"""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from functools import cache, cached_property, partial
from importlib import import_module
from pkgutil import iter_modules
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

import pytest

from selfplay import training
from selfplay.cli import programs
from selfplay.cli.command import Program, overrides_first, settings_of
from selfplay.cli.entry import program_named
from selfplay.errors import SettingError
from selfplay.learners import LEARNERS, Learner
from selfplay.settings.common import PROGRAMS, CommonSettings
from selfplay.settings.run import Settings

ALL: dict[str, Program[Any]] = {
    name: found for name in programs.MODULES if isinstance(found := program_named(name), Program)
}

BY_ALL = {field.name for field in fields(CommonSettings)}
"""Settings that `settings_of` reads for every program: the game is that of the run, and files may name the modules."""


@pytest.mark.parametrize("name", ALL)
def test_a_program_reads_each_of_its_settings(name: str) -> None:
    program = ALL[name]
    # A run has one configuration for all its stages, so that each takes the settings of all.
    usual = () if program.kind is Settings and name != "learn" else (name,)
    own = {field.name for field in fields(program.kind) if name in field.metadata.get(PROGRAMS, usual)}
    try:
        read = settings_read_by(program)
    except ModuleNotFoundError as error:
        if str(error.name).startswith("selfplay"):
            raise
        pytest.skip(str(error))
    assert own - BY_ALL - read == set()


@pytest.mark.parametrize(
    ("name", "override", "line"),
    [
        ("solve", "threads=2", "unknown setting 'threads'"),
        ("check-game", "search_threads=2", "unknown setting 'search_threads'"),
        ("play", "batch_size=2", "unknown setting 'batch_size'"),
        ("draw-experience", "json=a.json", "unknown setting 'json'"),
        ("compare-runs", "levels=3", "unknown setting 'levels'"),
        ("compare", "opponent=perfect", "opponent=perfect: only for selfplay generate"),
        ("plot", "level=2", "level=2: only for selfplay generate, train, compare"),
        ("train", "objective=loss", "objective=loss: only for selfplay learn"),
    ],
)
def test_a_setting_that_a_program_does_not_read_is_refused(name: str, override: str, line: str) -> None:
    with pytest.raises(SettingError, match=line):
        settings_of(ALL[name], [override])


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ([f"game={LONG}"], r"game=xxx.*\.\.\.: choose from breakthrough, .*; a board of another size is written as"),
        ([f"game.name={LONG}"], r"unknown game 'xxx.*\.\.\.'; choose from breakthrough, "),
        ([f"learner={LONG}"], r"learner=xxx.*\.\.\.: choose from custom, "),
        ([f"recipe={LONG}"], r"recipe=xxx.*\.\.\.: choose from alphazero, "),
        ([f"{LONG}=1"], r"unknown setting 'xxx.*\.\.\.'"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_as_an_unknown_one(overrides: list[str], line: str) -> None:
    arguments, _ = overrides_first(overrides)
    with pytest.raises(SettingError, match=f"^{line}"):
        settings_of(ALL["learn"], arguments)


def settings_read_by(program: Program[Any]) -> set[str]:
    """The names of the attributes of settings that the functions of a program read."""
    found, seen, left = set[str](), dict[int, object](), [*program]
    while left:
        if id(used := left.pop()) in seen:
            continue
        seen[id(used)] = used
        for function in parts_of(used):
            names, others = read_and_used(function)
            found |= names
            left += (other for other in others if id(other) not in seen)
    return found


def parts_of(one: object) -> Iterator[FunctionType]:
    """The functions of this project in an object that a function uses."""
    if isinstance(one, partial):
        yield from parts_of(one.func)
    elif isinstance(one, dict):
        for value in one.values():
            if isinstance(value, FunctionType):
                yield from parts_of(value)
    elif isinstance(one, classmethod | staticmethod):
        yield from parts_of(one.__func__)
    elif isinstance(one, property | cached_property):
        yield from parts_of(one.fget if isinstance(one, property) else one.func)
    elif isinstance(one, type) and is_own(one):
        for kind in filter(is_own, one.__mro__):
            for member in vars(kind).values():
                if not isinstance(member, type):
                    yield from parts_of(member)
    elif callable(one) and isinstance(found := inspect.unwrap(one), FunctionType) and is_own(found):
        yield found


def is_own(one: Any) -> bool:
    return str(one.__module__).startswith("selfplay.")


@cache
def read_and_used(function: FunctionType) -> tuple[set[str], list[object]]:
    """The attributes of settings that a function reads, and the objects that it uses by name."""
    try:
        tree = ast.parse(dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # made by a library, as the methods of dataclasses
        return set(), []
    names, used = set[str](), list[object]()
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Name):
            used.append(function.__globals__.get(node.id))
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("selfplay."):
            module = import_module(str(node.module))
            used += [getattr(module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
            if isinstance(module := function.__globals__.get(owner), ModuleType):
                used.append(getattr(module, node.attr, None))
            elif is_settings(owner, function):
                names.add(node.attr)
        elif isinstance(node, ast.Call) and is_getattr_of_settings(node, function):
            texts = (text.value for text in nodes if isinstance(text, ast.Constant))
            names |= {text for text in texts if isinstance(text, str)}
            names |= {field.name for kind in used if is_settings_class(kind) for field in fields(kind)}
    return names, used


def is_getattr_of_settings(call: ast.Call, function: FunctionType) -> bool:
    names = [getattr(node, "id", "") for node in (call.func, *call.args[:1])]
    return names[0] == "getattr" and is_settings(names[1], function)


def is_settings(owner: str, function: FunctionType) -> bool:
    is_method = owner == "self" and function.__module__.startswith("selfplay.settings.")
    return is_method or owner.endswith("settings") or is_settings_class(function.__annotations__.get(owner))


def is_settings_class(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, CommonSettings)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_reads_each_of_its_parameters(name: str) -> None:
    assert set(LEARNERS[name].parameters()) - parameters_read_by(LEARNERS[name]) == set()


def parameters_read_by(learner: type[Learner]) -> set[str]:
    """The attributes that methods of a learner read, and functions that are given it by one of its classes.

    What only checks or records it does not count.
    """
    classes, found = [kind for kind in learner.__mro__ if is_own(kind)], set[str]()
    kinds, inside = {kind.__name__ for kind in classes}, iter_modules(training.__path__, "selfplay.training.")
    for module in {*(kind.__module__ for kind in classes), *(one.name for one in inside)}:
        for part in ast.walk(ast.parse(inspect.getsource(import_module(module)))):
            if isinstance(part, ast.ClassDef) and part.name in kinds:
                methods = [one for one in part.body if isinstance(one, ast.FunctionDef)]
                reading = [one for one in methods if one.name not in ("__post_init__", "recorded", "check")]
                found |= {name for one in reading for name in attributes_of({"self"}, one)}
            elif isinstance(part, ast.FunctionDef):
                arguments = [*part.args.args, *part.args.kwonlyargs]
                given = {one.arg for one in arguments if getattr(one.annotation, "id", None) in kinds}
                found |= attributes_of(given, part)
    return found


def attributes_of(names: set[str], part: ast.AST) -> set[str]:
    """The attributes of the objects with these names that a part of a program reads."""
    return {
        node.attr
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
    }
