"""README.md, CONTRIBUTING.md, SECURITY.md and docs/ name files, links, settings and Python names that exist."""

import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import selfplay
from docs.reference import PAGES as MADE
from selfplay.named_players.names import PLAYERS, kind_named
from tests.support.runs import PROJECT

PAGES = [PROJECT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
PAGES += sorted((PROJECT / "docs").glob("*.md"))
TO_BE_WRITTEN = {"connect3", "NAME", "-v0"}
"""Files of these names are examples that the reader writes; environments of Gymnasium end in the version v0."""

FOLDERS = "architectures|benchmarks|conf|docs|play|preprocessing|selfplay|shell|tests|train"
PATH = re.compile(rf"(?<![\w/.:-])(?:(?:{FOLDERS})/[\w./-]*\w|\w+\.sh)\b")
PACKAGE_PATH = re.compile(r"`((?!\.)[a-z_]+/[\w/]*\w\.(?:py|js))`")
"""A file in backticks; in the maps of README.md and docs/architecture.md its path is below selfplay/."""
LINK = re.compile(r"\]\(([^)\s]+)\)")
IMPORT = re.compile(r"^ *from (selfplay[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


GUIDES = ["adding_a_game", "adding_a_player", "adding_a_learner", "architectures", "alphazero", "playing", "engines"]
"""The pages whose imports are public, besides the names of api.md."""


def imports_of(path: Path) -> set[tuple[str, str]]:
    """The names of the library that the code of a page or a notebook imports, with their modules."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        text = "".join("".join([*cell["source"], "\n"]) for cell in json.loads(text)["cells"])
    found = {(module, name) for module, names in IMPORT.findall(text) for name in re.findall(r"\w+", names)}
    return found | {(module, "") for module in re.findall(r"^ *import (selfplay\.[\w.]+)", text, re.MULTILINE)}


def test_pages_and_notebooks_import_public_names_only() -> None:
    public = set().union(*(imports_of(PROJECT / "docs" / f"{name}.md") for name in GUIDES))
    for path in [*PAGES, *(PROJECT / "docs" / "notebooks").glob("*.ipynb")]:
        others = {
            (module, name)
            for module, name in imports_of(path) - public
            if not module.startswith("selfplay.adapters.") and not (module == "selfplay" and name in selfplay.__all__)
        }
        assert others == set(), path.name
    text = (PROJECT / "docs" / "api.md").read_text()
    assert [name for name in GUIDES if f"({name}.md" not in text.partition("## What is public")[2]] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_named_files_exist(page: Path) -> None:
    named = {path for path in PATH.findall(page.read_text()) if not any(word in path for word in TO_BE_WRITTEN)}
    assert sorted(path for path in named if not (PROJECT / path).exists()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_named_modules_exist(page: Path) -> None:
    named = [path for path in PACKAGE_PATH.findall(page.read_text()) if not any(word in path for word in TO_BE_WRITTEN)]
    folders = (PROJECT, PROJECT / "selfplay")
    assert [path for path in named if not any((folder / path).exists() for folder in folders)] == []


@pytest.mark.parametrize("page", [*PAGES, PROJECT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_relative_links_lead_to_files_and_headings(page: Path) -> None:
    for address in LINK.findall(page.read_text()):
        if not address.startswith("http"):
            file, _, anchor = address.partition("#")
            target = page.parent / file if file else page
            assert target.exists(), address
            assert not anchor or anchor in anchors(target), address


def test_the_first_commands_of_the_readme_are_those_that_every_change_must_pass() -> None:
    start = (PROJECT / "README.md").read_text().partition("## Start")[2]
    first = re.findall(r"^    (\S+)", start, re.MULTILINE)[:2]
    assert first == ["./learn_tictactoe.sh", "./run_tests.sh"]
    checks = (PROJECT / ".ci" / "run").read_text()
    # The first of them in a function, which is called without arguments.
    run = re.findall(r'^ *(\./\S+)(?: "\$@" \| tee [^\n]*)?$', checks, re.MULTILINE)
    assert set(first) <= set(run)
    assert re.search("^learn_and_prove$", checks, re.MULTILINE)


@pytest.mark.parametrize("page", MADE)
def test_a_page_made_from_the_code_is_up_to_date(page: str) -> None:
    made = MADE[page]()
    assert (PROJECT / "docs" / page).read_text() == made, "python docs/reference.py writes it again"


@pytest.mark.parametrize("kind", PLAYERS)
def test_every_option_of_a_player_is_described(kind: str) -> None:
    text = MADE["players.md"]().partition(f"\n## `{kind_named(kind).syntax}`\n")[2].partition("\n## ")[0]
    described = re.findall(r"^- `(\w+)` \(`.*?`\): \w", text, re.MULTILINE)
    for line in re.findall(r"^- as for `.*(?:\n  .*)*", text, re.MULTILINE):
        described += re.findall(r"`(\w+)` \(`", line)
    assert sorted(described) == sorted(option.name for option in kind_named(kind).options)


def imported(module: str) -> ModuleType:
    """The module; skips the test if a package that it needs is optional and not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if module.startswith("selfplay.adapters.") and not error.name.startswith("selfplay"):
            pytest.skip(f"{error.name} is not installed")
        raise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_imports_in_examples_work(page: Path) -> None:
    for module, names in IMPORT.findall(page.read_text()):
        if not any(word in module for word in TO_BE_WRITTEN):
            for name in re.findall(r"\w+", names.split("#")[0]):
                assert hasattr(imported(module), name), f"{module}.{name}"
