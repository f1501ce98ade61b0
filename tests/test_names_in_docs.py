"""Docstrings, comments and docs name what exists, and docs/architecture.md names all folders."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.runs import PROJECT

FOLDERS = ("selfplay", "architectures", "benchmarks", "preprocessing", "train", "play", "shell", "docs")
SOURCES = [path for folder in FOLDERS for path in sorted((PROJECT / folder).rglob("*.py"))]
TEXTS = [*SOURCES, *sorted((PROJECT / "docs").glob("*.md")), *sorted((PROJECT / "conf").rglob("*.yaml"))]
TEXTS += [PROJECT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]

DOTTED = re.compile(r"(?<![\w/.@-])selfplay(?:\.[A-Za-z_]\w*)+(?![\w(]*/)")
FILE = re.compile(r"(?<![\w/.:*<-])(?:[a-z_]+/)+[\w-]+\.(?:py|pyi|js|css|yaml|md|sh)\b")
METHOD = re.compile(r"`([A-Z]\w+)\.([a-z_]\w*)`")
GROUP = re.compile(r'"(selfplay\.\w+)",?$', re.MULTILINE)
"""A group of entry points, as the sources name it at the end of a line."""
EXAMPLES = ("my/", "outputs/", "connect3")
"""Files that the reader writes, and those of runs."""


@cache
def text_of(path: Path) -> str:
    """The docstrings and comments of a source; all of another file."""
    text = path.read_text()
    if path.suffix != ".py":
        return text
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
    docstrings = [one.value for one in constants if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return "\n".join([*docstrings, *re.findall(r"#.*", text)])


@cache
def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one or of a class in it; fields count as attributes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            if not (error.name or "selfplay").startswith("selfplay"):
                return True  # an adapter to a package that is not installed
            continue
        for attribute in parts[end:]:
            if attribute in getattr(found, "__annotations__", {}):
                return True
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def test_dotted_names_exist() -> None:
    groups = {group for path in SOURCES for group in GROUP.findall(path.read_text())}
    named = {(name, path.name) for path in TEXTS for name in DOTTED.findall(text_of(path))}
    assert len(named) > 100
    assert sorted(pair for pair in named if pair[0] not in groups and not exists(pair[0])) == []


def test_named_files_exist() -> None:
    folders = (PROJECT, PROJECT / "selfplay", PROJECT / "selfplay" / "web")
    named = {
        (name, path.name)
        for path in TEXTS
        for name in FILE.findall(text_of(path))
        if not any((folder / name).exists() for folder in (*folders, path.parent, path.parent.parent))
    }
    assert sorted(pair for pair in named if not any(example in pair[0] for example in EXAMPLES)) == []


def attributes_by_class() -> dict[str, set[str]]:
    """The attributes of each class of the sources, with those of its bases."""
    own: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                names = {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef)}
                names |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                names |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
                own.setdefault(node.name, set()).update(names)
                above = (ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases)
                bases.setdefault(node.name, set()).update(above)

    def all_of(name: str) -> set[str]:
        return own.get(name, set()).union(*(all_of(base) for base in bases.get(name, set()) - {name}))

    return {name: all_of(name) for name in own}


def test_named_methods_exist() -> None:
    known = attributes_by_class()
    named = {(*pair, path.name) for path in TEXTS for pair in METHOD.findall(text_of(path)) if pair[0] in known}
    assert len(named) > 30
    assert sorted(one for one in named if one[1] not in known[one[0]]) == []


@pytest.mark.parametrize("parent", [PROJECT, PROJECT / "selfplay"], ids=lambda path: path.name)
def test_the_architecture_names_every_folder(parent: Path) -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text()
    code = {path.relative_to(PROJECT).parts for path in SOURCES}
    depth = len(parent.relative_to(PROJECT).parts)
    folders = {
        parts[depth] for parts in code if len(parts) > depth + 1 and parts[:depth] == parent.relative_to(PROJECT).parts
    }
    assert sorted(name for name in folders if f"`{name}`" not in page and f"`{name}/`" not in page) == []
