"""A run whose code from outside has been edited: refused with the file that has changed, unless only comments have."""

import json
import logging
import multiprocessing
import sys

import pytest

from selfplay import name_modules
from selfplay.api.stages import learn_levels
from selfplay.errors import SelfPlayError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from tests.support.runs import tiny_settings

PARTS = {
    "edited_game": (
        "game.name=edited_game:Longer",
        """
from selfplay import rule
from tests.support.pile import Pile

@rule
def is_over(p):
    return p.own + p.opp >= 7

class Longer(Pile):
    rules = Pile.rules._replace(is_terminal=is_over)
""",
        (">= 7", "> 6"),
    ),
    "edited_network": (
        "architecture.name=edited_network:Network",
        """
from tests.support.outside_training import PolicyNetwork
from edited_table import width

class Network(PolicyNetwork):
    def __init__(self, observation_shape, num_actions):
        super().__init__(observation_shape, num_actions, width())
""",
        ("super().__init__(", "super(Network, self).__init__("),
    ),
    "edited_table": ("architecture=custom", "def width():\n    return 8\n", ("8", "9")),
    "edited_learner": (
        "learner=edited_learner:Learner",
        """
from dataclasses import dataclass
from selfplay import Values

@dataclass(frozen=True)
class Learner(Values):
    def generate(self, inputs, matches):
        for rows in super().generate(inputs, matches):
            yield rows._replace(target=rows.target * 1)
""",
        ("* 1", "* -1"),
    ),
    "edited_outcome": (
        "learner.outcome=edited_outcome:outcome",
        """
from selfplay.games.outcomes import match_return

def outcome(game):
    return match_return(game)
""",
        ("return match", "print(1)\n    return match"),
    ),
    "edited_targets": (
        "learner.targets=edited_targets:targets",
        """
from selfplay.dataset.target_rules import full

def targets(played):
    return full(played) * 1
""",
        ("* 1", "* 0.5"),
    ),
    "edited_optimizer": (
        "learner.optimizer=edited_optimizer:Optimizer",
        """
from tests.support.outside_training import SignDescent

class Optimizer(SignDescent):
    def step(self, learning_rate):
        super().step(learning_rate * 1)
""",
        ("* 1", "* 2"),
    ),
    "edited_schedule": (
        "learner.schedule=edited_schedule:schedule",
        "def schedule(peak, step, total_steps):\n    return peak * 1\n",
        ("* 1", "* 2"),
    ),
    "edited_player": (
        "learner.self_play=edited_player:Opponent",
        """
from tests.support.stub_players import FirstLegal

class Opponent(FirstLegal):
    FIRST = 1
""",
        ("= 1", "= 2"),
    ),
}
OVERRIDES = [override for override, _, _ in PARTS.values()]


@pytest.fixture
def in_new_process(tmp_path, monkeypatch):
    """A function that calls another one, with the folder of the parts, in a process that has not imported them yet."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(call, *arguments):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return pool.apply(call, (tmp_path, *arguments))

    return run


def write(folder, edited=()):
    for name, (_, text, edit) in PARTS.items():
        (folder / f"{name}.py").write_text(text.replace(*edit) if name in edited else text)


def learned(folder, *overrides):
    """What `learn` says of a run: an error, or "done"."""
    try:
        learn_levels(tiny_settings(folder / "run", "levels=1", "matches=20", *OVERRIDES, *overrides))
    except SelfPlayError as error:
        return str(error)
    return "done"


def times_of(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "run").rglob("*.*") if path.suffix != ".log"}


def digests_of(folder):
    """By stage, the digest of the code from outside that it has recorded."""
    return {
        (str(path.parent.relative_to(folder)), stage): section["code"]["sha256"]
        for path in (folder / "run").rglob("manifest.json")
        for stage, section in json.loads(path.read_text()).items()
        if stage != "format"
    }


def test_a_run_with_other_code_from_outside_is_refused_and_replaced_by_force(tmp_path, in_new_process):
    write(tmp_path)
    assert in_new_process(learned) == "done"
    before, digests = times_of(tmp_path), digests_of(tmp_path)
    assert {stage for _, stage in digests} == {"generation", "training", "strength", "run"}

    in_training = {"edited_network", "edited_table", "edited_optimizer", "edited_schedule"}
    for edited in (PARTS.keys() - in_training, in_training):
        write(tmp_path, edited)
        said = in_new_process(learned)
        found, remedy = said.partition("; ")[::2]
        assert {name for name in PARTS if f"{tmp_path / name}.py" in found} == edited
        assert found.endswith(" has changed, or a value that it uses")
        assert remedy == "set another run_dir, or force=true to replace it"

    write(tmp_path)
    for name in PARTS:
        path = tmp_path / f"{name}.py"
        path.write_text(f'"""New."""\n# A comment.\n{path.read_text()}')
    assert in_new_process(learned) == "done"
    assert times_of(tmp_path) == before

    write(tmp_path, {"edited_game"})
    assert in_new_process(learned, "force=true") == "done"
    after = digests_of(tmp_path)
    assert after.keys() == digests.keys()
    assert all(after[stage] != digests[stage] for stage in digests)


@pytest.mark.slow
def test_the_levels_of_a_run_with_other_code_are_deleted_if_it_begins_anew(tmp_path, in_new_process):
    write(tmp_path)
    assert in_new_process(learned) == "done"
    before = digests_of(tmp_path)
    write(tmp_path, {"edited_schedule"})
    assert in_new_process(learned, "fresh=true") == "done"
    assert digests_of(tmp_path)["run/level_01", "training"] != before["run/level_01", "training"]


def warned(folder):
    """What is logged when a level is loaded as a player twice."""
    said, handler = [], logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("selfplay").addHandler(handler)
    name_modules(PARTS)
    for _ in range(2):
        make_player("level:1", make_game("edited_game:Longer"), folder / "run")
    return said


def test_a_level_that_was_learned_by_other_rules_plays_with_a_warning(tmp_path, in_new_process):
    write(tmp_path)
    assert in_new_process(learned) == "done"
    assert in_new_process(warned) == []
    write(tmp_path, ["edited_game"])
    (said,) = in_new_process(warned)
    assert f"{tmp_path / 'edited_game.py'} has changed, or a value that it uses, since this level was learned" in said


READS_A_FILE = """
from pathlib import Path
from random import random
from selfplay import rule
from tests.support.pile import Pile

def with_end(more):
    @rule
    def is_over(p):
        return p.own + p.opp + more >= 7 + more

    return Pile.rules._replace(is_terminal=is_over)

class Read(Pile):
    def __init__(self):
        # Nothing that matches depend on.
        self.folder, self.number = str(Path(__file__).parent), random()
        self.rules = with_end(int((Path(__file__).parent / "more.txt").read_text()))
"""


def learned_by_file(folder):
    """What `learn` says of a run of a game whose rules are in a file."""
    try:
        learn_levels(tiny_settings(folder / "run", "levels=1", "matches=20", "game.name=reads_a_file:Read"))
    except SelfPlayError as error:
        return str(error)
    return "done"


def test_a_run_of_a_game_that_reads_its_rules_from_a_file_is_refused_when_the_file_has_changed(
    tmp_path, in_new_process
):
    (tmp_path / "reads_a_file.py").write_text(READS_A_FILE)
    said = []
    for more in "112":
        (tmp_path / "more.txt").write_text(more)
        said.append(in_new_process(learned_by_file))
    assert said[:2] == ["done", "done"]
    assert "a file or another value that the class of the game reads has changed" in said[2]
