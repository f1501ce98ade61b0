"""Learners from outside: errors in one line with their file, and levels that could not be read are never written."""

import re
from pathlib import Path

import pytest

import selfplay
from selfplay.api.stages import learn_levels
from selfplay.errors import ConformanceError, SelfPlayError, SettingError

LEARNERS = """
from dataclasses import dataclass
import numpy as np
import torch
from safetensors.torch import save
from torch import nn
from selfplay import Epoch, Inputs, Learner, Player, TrainedLevel, play_matches

@dataclass(frozen=True)
class Right(Learner):
    def player(self, agent, resources=None): return agent.player()
    def inputs(self, level, first_level=1): return Inputs()
    def steps(self, game, matches): return matches, "matches"
    def train(self, inputs, rows=()):
        return TrainedLevel(inputs.start.network, [Epoch(1, {"loss": 0.5})], 5)._replace(**self.kept(inputs))
    def kept(self, inputs): return {"memory": save({"ones": torch.ones(2)})}

def measuring(name, *rows):
    epochs = [Epoch(number, *row) for number, row in enumerate(rows, start=1)]
    returning(name, lambda network: {"epochs": epochs})

def returning(name, kept):
    members = {"kept": lambda self, inputs: kept(inputs.start.network), "__module__": __name__}
    globals()[name] = dataclass(frozen=True)(type(name, (Right,), members))

def no_numbers(module):
    for weight in module.parameters(): weight.data.fill_(torch.nan)

measuring("Negative", ({"loss": 0.5},), ({"loss": -0.5},))
measuring("NotANumber", ({"loss": float("nan")},))
measuring("OfATensor", ({"loss": torch.tensor(0.5)},))
measuring("Spaced", ({"Cross Entropy": 0.5},))
measuring("OtherNames", ({"loss": 0.5},), ({"error": 0.5},))
measuring("Unmeasured", ({},))
measuring("NoEpochs")
returning("NoEpoch", lambda network: {"epochs": [{"loss": 0.5}]})
returning("Numbers", lambda network: {"epochs": [Epoch(1, [0.5])]})
returning("FromZero", lambda network: {"epochs": [Epoch(0, {"loss": 0.5})]})
returning("NanWeights", lambda network: {"network": network.apply(no_numbers)})
returning("OtherNetwork", lambda network: {"network": nn.Linear(2, 2)})
returning("Doubled", lambda network: {"network": network.double()})
returning("NoNetwork", lambda network: {"network": network.state_dict()})
returning("Junk", lambda network: {"memory": b"junk"})
returning("Text", lambda network: {"memory": "junk"})
returning("Rows", lambda network: {"num_rows": np.int64(5)})
returning("Counts", lambda network: {"counts": {"passes": -1}})

class ReturnsNone(Right):
    def train(self, inputs, rows=()): pass
class Raises(Right):
    def train(self, inputs, rows=()): raise ValueError("nope")
class RunsOut(Right):
    def train(self, inputs, rows=()): raise MemoryError
class OneNumber(Right):
    def steps(self, game, matches): return matches
class NoInputs(Right):
    def inputs(self, level, first_level=1): return None
class NoSource(Right):
    def source(self, game, matches): return matches
class Checking(Right):
    def check(self, agent, resources): return 1 // 0

@dataclass(frozen=True)
class Unwritten(Learner):
    pass
class Generating(Unwritten):
    def generate(self, inputs, matches): yield 1 // 0

class Occupied(Player):
    name = "occupied"
    def __init__(self, game): self.game = game
    def act(self, state, draws): return state.position[:, 0] * 0
class Playing(Right):
    def train(self, inputs, rows=()):
        player = Occupied(inputs.game)
        list(play_matches(inputs.game, (player, player), range(4), 0))

class Forgotten(Right):
    temperature: float = 0.2
class OfForgotten(Forgotten):
    pass
class Other:
    def train(self): pass
    def player(self): pass
"""


@pytest.fixture(scope="module", autouse=True)
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file on the import path with these learners."""
    file = tmp_path_factory.mktemp("learners") / "faulty_learners.py"
    file.write_text(LEARNERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(file.parent)
        yield file


def settings_of(run_dir: Path, name: str) -> selfplay.Settings:
    tiny = ("levels=1", "matches=4", "architecture=mlp", "architecture.hidden_sizes=[2]")
    return selfplay.compose_settings([f"learner=faulty_learners:{name}", *tiny], run_dir=str(run_dir))


def learn(run_dir: Path, name: str) -> None:
    learn_levels(settings_of(run_dir, name))


def test_a_level_that_can_be_read_is_written(tmp_path: Path) -> None:
    assert selfplay.train_level(settings_of(tmp_path, "Right"), 1)
    assert selfplay.load_level(tmp_path, 1)
    files = {path.name for path in (tmp_path / "level_01").iterdir()}
    assert files == {"agent.safetensors", "epoch_loss.csv", "learner.safetensors", "manifest.json"}


TABLE = r"table of epochs \(epoch_loss.csv\)"


@pytest.mark.parametrize(
    ("name", "part", "reason"),
    [
        ("Negative", TABLE, "loss of epoch 2 is -0.5, not a number of at least 0"),
        ("NotANumber", TABLE, "loss of epoch 1 is nan, not a number of at least 0"),
        ("OfATensor", TABLE, r"row 1 is not a row of epoch,loss,is_champion, of epoch 1: 1,tensor\(0.5000\),True"),
        ("Spaced", TABLE, r"its first line is not epoch, names .*: epoch,Cross Entropy,is_champion"),
        ("OtherNames", TABLE, "all epochs must have the same names"),
        ("Unmeasured", TABLE, "its first line is not epoch, names .*: epoch,is_champion"),
        ("NoEpochs", TABLE, "it must have one or more"),
        ("Numbers", TABLE, "numbers must be given by their names, as in Epoch"),
        ("NoEpoch", TABLE, "it must be made from a list of Epoch, not "),
        ("FromZero", TABLE, "row 1 is not a row of epoch,loss,is_champion, of epoch 1: 0,0.5,True"),
        ("NanWeights", "network", r"weights layers.1.weight are not all numbers from -1e\+09 to 1e\+09"),
        ("Doubled", "network", r"weights layers.1.weight are not all numbers .* \(torch.float32\)"),
        ("OtherNetwork", "network", r".*: layers.1.weight has nothing, expected shape \[2, 18\]"),
        ("NoNetwork", "network", "it must be a torch.nn.Module, not OrderedDict"),
        ("Junk", "memory", "it must be a safetensors file, as safetensors.torch.save makes it: "),
        ("Text", "memory", "it must be None or bytes, not 'junk'"),
        ("Rows", "num_rows and counts", r"num_rows=np.int64\(5\): must be a whole number of at least 0"),
        ("Counts", "num_rows and counts", "passes=-1: must be a whole number of at least 0"),
    ],
)
def test_a_level_that_could_not_be_read_is_refused_before_it_is_written(
    tmp_path: Path, file: Path, name: str, part: str, reason: str
) -> None:
    problem = f"^learner 'faulty_learners:{name}': train returned a level whose {part} cannot be kept: {reason}"
    with pytest.raises(ConformanceError, match=problem) as error:
        learn(tmp_path, name)
    assert str(error.value).endswith(f" ({file})")
    assert not [path for path in tmp_path.glob("level_01/*") if path.is_file()]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ReturnsNone", r"train must return TrainedLevel, not None \({}\)$"),
        ("Raises", r"ValueError: nope \({}, line \d+, in train\)$"),
        ("OneNumber", r"steps must return \(int, str\), not 4 \({}\)$"),
        ("NoInputs", r"inputs must return Inputs, not None \({}\)$"),
        ("NoSource", r"source must return Source, not 4 \({}\)$"),
        ("Checking", r"ZeroDivisionError: .* \({}, line \d+, in check\)$"),
        ("Generating", r"ZeroDivisionError: .* \({}, line \d+, in generate\)$"),
        (
            "Unwritten",
            "NotImplementedError: write the method `generate`; or, if `train` plays the matches, `inputs` .*{}",
        ),
    ],
)
def test_what_a_learner_raises_or_returns_is_one_line_with_its_file(
    tmp_path: Path, file: Path, name: str, reason: str
) -> None:
    expected = f"learner 'faulty_learners:{name}': {reason.replace('{}', re.escape(str(file)))}"
    with pytest.raises(SelfPlayError, match=f"^{expected}") as error:
        learn(tmp_path, name)
    assert "\n" not in str(error.value)
    assert not [path for path in tmp_path.glob("level_01/*") if path.is_file()]


def test_lack_of_memory_in_a_learner_is_not_an_error_of_its_code(tmp_path: Path) -> None:
    with pytest.raises(SelfPlayError, match=r"^level 1: its rows do not fit into memory; set fewer matches"):
        learn(tmp_path, "RunsOut")


def test_a_player_that_a_learner_calls_is_reported_with_its_own_place_only(tmp_path: Path, file: Path) -> None:
    with pytest.raises(ConformanceError, match=r"^player 'occupied': action 0,0 is not legal here") as error:
        learn(tmp_path, "Playing")
    assert str(error.value).count(str(file)) == 1


@pytest.mark.parametrize("name", ["Forgotten", "OfForgotten"])
def test_parameters_of_a_class_that_is_not_a_dataclass_are_refused(name: str) -> None:
    sentence = r"Forgotten is not a dataclass; write @dataclass\(frozen=True\) above its class$"
    for more in ((), ("learner.temperature=0.3",)):
        with pytest.raises(SettingError, match=f"^learner 'faulty_learners:{name}': {sentence}"):
            selfplay.compose_settings([f"learner=faulty_learners:{name}", *more])
    with pytest.raises(SettingError, match=f"^{sentence}"):
        getattr(__import__("faulty_learners"), name)()


def test_a_class_of_something_else_is_refused() -> None:
    with pytest.raises(SettingError, match=r"^learner 'faulty_learners:Other' is not a subclass of selfplay.Learner$"):
        selfplay.compose_settings(["learner=faulty_learners:Other"])
