"""The API reference: it has every public name, with a docstring and perhaps examples, and its site is built."""

import ast
import doctest
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import pytest

import selfplay
from selfplay.agents.pretrained import find_pretrained
from selfplay.games import game_names
from selfplay.players import capabilities
from tests.support.runs import PROJECT

MOST_USED = {
    *("learn", "LearnedRun", "load_level", "compose_settings", "settings_of_run"),
    *(
        "Callback",
        "generate",
        "fit",
        "make_game",
        "Game",
        "State",
        "Board",
        "Match",
        "check_game",
        "enumerate_positions",
        "IllegalActionError",
    ),
    *("make_player", "PerfectPlayer", "EpsilonGreedyPlayer", "ExperienceStore", "load_experience_player", "Draws"),
    *("match", "WinDrawLoss", "play_matches", "MatchRecord", "Grader", "Grade", "grade", "perfect_values", "Session"),
}
"""The public names whose docstrings show examples."""


PUBLIC = [name for name in selfplay.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    assert f"\n::: selfplay.{name}\n" in (PROJECT / "docs" / "api.md").read_text()
    thing = getattr(selfplay, name)
    if thing is int:  # another name for it, whose meaning is in a docstring that only the site shows
        return
    assert (">>>" in thing.__doc__) == (name in MOST_USED)
    if inspect.isclass(thing):
        functions = {key: value for key, value in vars(thing).items() if inspect.isfunction(value) and key[0] != "_"}
        described = (*thing.__mro__[1:], *filter(inspect.isclass, vars(capabilities).values()))
        inherited = {key for base in described for key, value in vars(base).items() if value.__doc__}
        assert [key for key, value in functions.items() if not value.__doc__ and key not in inherited] == []


def classes_in(kind: Any) -> Iterator[type]:
    """The classes of this library that a type names."""
    if inspect.isclass(kind) and kind.__module__.startswith("selfplay"):
        yield kind
    for part in get_args(kind):
        yield from classes_in(part)


def test_what_public_functions_return_is_documented() -> None:
    documented = set(re.findall(r"^::: [\w.]+\.(\w+)$", (PROJECT / "docs" / "api.md").read_text(), re.MULTILINE))
    functions = {name: getattr(selfplay, name) for name in PUBLIC if inspect.isfunction(getattr(selfplay, name))}
    returned = {name: classes_in(get_type_hints(one)["return"]) for name, one in functions.items()}
    undocumented = [
        (name, kind.__name__)
        for name, kinds in returned.items()
        for kind in kinds
        if documented.isdisjoint(base.__name__ for base in kind.__mro__)
    ]
    assert undocumented == []


@pytest.mark.parametrize("name", sorted(MOST_USED))
def test_the_examples_of_the_most_used_names_run(
    name: str, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_run, tmp_path / "outputs" / "tictactoe")
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder().find(getattr(selfplay, name), name, globs={"selfplay": selfplay}):
        runner.run(example, out=report.append)
    assert report == []


IN_FOLDERS_OF_THEIR_OWN = {"adding_a_game", "adding_a_learner", "adding_a_player", "architectures", "game_reference"}
"""The pages whose code becomes files, in test_own_files_of_docs.py."""
NEEDS_PACKAGES = {"adapters"}
"""The page whose code is that of tests/adapters."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = {path.stem: BLOCK.findall(path.read_text()) for path in (PROJECT / "docs").glob("*.md")}
PAGES_WITH_CODE = sorted({page for page, code in CODE.items() if code} - IN_FOLDERS_OF_THEIR_OWN - NEEDS_PACKAGES)
SHOWN = re.compile(r"^(\S.*?)  # (-?[\d.]+|[\[{(].*[\]})])$", re.MULTILINE)
"""A line with the value that it has."""


@pytest.mark.parametrize("page", PAGES_WITH_CODE)
def test_the_code_of_a_page_runs_and_has_the_values_beside_it(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if page == "files":
        given = {"recipe": "default", "matches": 20, "dataset": {"format": "parquet"}, "run_dir": "outputs/othello"}
        selfplay.generate_level(selfplay.compose_settings(game="othello", **given), 0)
    names: dict[str, Any] = {"selfplay": selfplay}
    for code in CODE[page]:
        exec(code, names)
        for expression, value in SHOWN.findall(code):
            if "..." not in value:
                assert eval(expression, names) == ast.literal_eval(value), expression


@pytest.mark.slow
@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("mkdocs", "mkdocstrings", "material", "mkdocs_jupyter")),
    reason="the packages of the site are not installed (pip install -e '.[docs]')",
)
def test_the_site_is_built_without_warnings_and_asks_no_other_server(tmp_path: Path) -> None:
    """Without the pages of the agents, of which the next test writes one."""
    whole = f"INHERIT: {PROJECT}/mkdocs.yml\ndocs_dir: {PROJECT}/docs\nhooks: []\n"
    (tmp_path / "mkdocs.yml").write_text(whole)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", "mkdocs.yml"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "site" / "api" / "index.html").read_text()
    for name in PUBLIC:
        assert f'id="selfplay.{name}"' in page, name
    assert "metadata=" not in re.sub("<[^>]*>", "", page)  # of the fields of settings
    assert 'src="http' not in page
    assert 'rel="stylesheet" href="http' not in page
    for notebook in (PROJECT / "docs" / "notebooks").glob("*.ipynb"):
        assert "jp-OutputArea" in (tmp_path / "site" / "notebooks" / notebook.stem / "index.html").read_text(), notebook
    index = (tmp_path / "site" / "index.html").read_text()
    for game in filter(find_pretrained, game_names()):
        assert f'href="./play/{game}/"' in index


def test_the_site_has_the_page_of_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs", reason="pip install -e '.[docs]' brings it")
    assert (PROJECT / "mkdocs.yml").read_text().count("hooks: [docs/play_agents.py]") == 1
    monkeypatch.syspath_prepend(PROJECT / "docs")
    hook = importlib.import_module("play_agents")
    monkeypatch.setattr(hook, "game_names", lambda: ["connect_four", "tictactoe"])
    hook.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    assert [folder.name for folder in (tmp_path / "play").iterdir()] == ["connect_four"]
    described = json.loads((tmp_path / "play" / "connect_four" / "local" / "game.json").read_text())
    assert described["view"]["name"] == "connect_four"
