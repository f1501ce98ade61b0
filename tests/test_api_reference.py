"""The API reference: it has every public name, with a docstring and perhaps examples, and its site is built."""

import doctest
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import selfplay
from selfplay.players import capabilities
from selfplay.players.pretrained import is_for_compiled_search, pretrained_agents
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


@pytest.mark.parametrize("page", ["api", "playing"])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (PROJECT / "docs" / f"{page}.md").read_text()
    code = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert code
    exec("import selfplay\n" + "\n".join(code), {})


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("mkdocstrings") is None or find_spec("material") is None,
    reason="mkdocs-material and mkdocstrings are not installed (pip install -e '.[docs]')",
)
def test_the_site_is_built_without_warnings_and_asks_no_other_server(tmp_path: Path) -> None:
    """Without the pages of the agents, of which the next test writes one."""
    whole = f"INHERIT: {PROJECT}/mkdocs.yml\ndocs_dir: {PROJECT}/docs\nhooks: []\n"
    (tmp_path / "mkdocs.yml").write_text(whole)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", "mkdocs.yml"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "site" / "api" / "index.html").read_text()
    for name in PUBLIC:
        assert f'id="selfplay.{name}"' in page, name
    assert 'src="http' not in page
    assert 'rel="stylesheet" href="http' not in page
    index = (tmp_path / "site" / "index.html").read_text()
    for game in filter(is_for_compiled_search, pretrained_agents()):
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
