"""Every command of README.md and docs/ is accepted as it stands: its settings, their values and its own files."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import pytest

from selfplay.cli.command import SWEEP_FLAGS, overrides_first, settings_of
from selfplay.cli.entry import program_named
from selfplay.cli.sweep import runs_of_sweep
from tests.support.doc_pages import block_with, write_module
from tests.support.runs import PROJECT

COMMAND = re.compile(
    r"^ {4,}((?:selfplay|python (?:train|play|preprocessing)/|\./learn_)(?:\\\n|[^\n])*)", re.MULTILINE
)
PAGES = {
    path.name: found
    for path in [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").glob("*.md"))]
    if (found := [one.replace("\\\n", " ") for one in COMMAND.findall(path.read_text()) if "[--" not in one])
}
"""The commands of each page. Those with the forms of their arguments in brackets are no commands yet."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files that the pages let the reader write."""
    folder = tmp_path_factory.mktemp("own")
    write_module(folder, "adding_a_game.md", "class Connect3(Game)", "connect3.py")
    write_module(folder, "../README.md", "class Take(Game)", "take.py")
    player = block_with("adding_a_player.md", "class Careful") + block_with("adding_a_player.md", '_kind("careful")')
    (folder / "careful.py").write_text(player)
    write_module(folder, "adding_a_learner.md", "class PolicyGradient(Learner)", "policy_gradient.py")
    write_module(folder, "adding_a_learner.md", "def win_and_lead", "own_parts.py")
    write_module(folder, "architectures.md", "class Small(nn.Module)", "small.py")
    (folder / "my_module.py").write_text("from careful import Careful as MyPlayer\n")
    copy(PROJECT / "examples" / "walls.py", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfplay.settings.common.require_device", lambda name: None)  # this computer may have no GPU
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        yield folder


def program_of(command: str) -> tuple[str, list[str]]:
    """The program that a command starts, and its arguments."""
    name, *arguments = shlex.split(command, comments=True)
    if name == "selfplay":
        return arguments[0], arguments[1:]
    if name == "python":
        script = (PROJECT / arguments.pop(0)).read_text()
        return re.search(r'run\("(.+)"\)', script)[1], arguments
    return "learn", arguments


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("folder")
def test_the_commands_of_a_page_are_accepted(page: str) -> None:
    for command in PAGES[page]:
        name, arguments = program_of(command)
        program = program_named(name)
        overrides, flags = overrides_first(arguments, program.kind)
        if "hydra/sweeper=" in command:
            continue  # The package of this sweeper is optional.
        if SWEEP_FLAGS.intersection(flags):
            assert len(runs_of_sweep(program, overrides)) > 1, command
        else:
            settings_of(program, overrides)


def test_a_short_run_does_not_take_the_place_of_the_run_that_all_programs_find() -> None:
    """A level of few matches in outputs/GAME would be the opponent of whoever plays this game next."""
    for page, commands in PAGES.items():
        for command in commands:
            given = dict(word.split("=", 1) for word in shlex.split(command, comments=True) if "=" in word)
            is_own = ":" in given.get("game", "")
            is_short = int(given.get("matches", 10**6)) < 5000 and program_of(command)[0] in ("learn", "train")
            assert not is_short or is_own or "run_dir" in given, f"{page}: {command}"
