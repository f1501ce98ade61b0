"""Networks compute on the device that is asked for; matches are stepped on the CPU."""

import pytest
import torch
from torch import nn

from selfplay import compose_settings, generate_level, learn_levels, play_matches
from selfplay.agents.network_evaluator import NetworkEvaluator
from selfplay.architectures import Output
from selfplay.compute.devices import chosen_device
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.mcts import MctsPlayer
from selfplay.players.player import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from tests.support.runs import GENERATE, files_of, run_forked, tiny_settings

real_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")


def tree_search(game, network):
    return MctsPlayer(TreeSearch(game, NetworkEvaluator(game, network), make_rule("puct", {}), 4))


class Moved(nn.Linear):
    """A network that remembers where it was moved, and stays on the CPU."""

    def __init__(self):
        super().__init__(18, 1)
        self.devices = []

    def to(self, device):
        self.devices.append(device)
        return self

    def forward(self, observations):
        return Output(super().forward(observations.flatten(1)).squeeze(1))


@pytest.mark.parametrize("make", [ValueNetPlayer, pytest.param(tree_search, marks=pytest.mark.slow)])
def test_networks_evaluate_on_the_device_of_the_matches(make):
    game, network = make_game("tictactoe"), Moved()
    players = EpsilonGreedyPlayer(game, make(game, network), [0.5]), RandomPlayer(game)
    list(play_matches(game, players, range(2), 5, device="cuda"))
    assert network.devices == ["cuda"]


# ---------------------------------------------------------------------- the setting


@pytest.mark.skipif(torch.cuda.is_available(), reason="cuda is available here, so it is not an error")
def test_a_missing_gpu_is_reported_in_one_line_and_nothing_is_written(tmp_path):
    result = run_forked(GENERATE, "device=cuda", f"run_dir={tmp_path / 'run'}", "level=0")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: device=cuda: ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
    assert chosen_device("auto") == "cpu"


def test_unknown_and_unusable_devices_are_refused(monkeypatch):
    with pytest.raises(SettingError, match=r"^device=tpu: must be auto, cpu or cuda$"):
        compose_settings(["device=tpu"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert compose_settings(["device=cuda"]).device == "cuda"


# ---------------------------------------------------------------------- on a real GPU


@real_gpu
def test_level_0_has_the_same_bytes_from_a_real_gpu(tmp_path):
    for device in ("cuda", "cpu"):
        generate_level(tiny_settings(tmp_path / device, f"device={device}"), 0)
    assert files_of(tmp_path / "cuda") == files_of(tmp_path / "cpu")


@real_gpu
def test_a_run_on_a_real_gpu_is_reproducible_and_learns(tmp_path):
    for attempt in ("one", "other"):
        learn_levels(tiny_settings(tmp_path / attempt, "device=cuda", "architecture=residual", "learner.epochs=8"))
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    lines = (tmp_path / "one" / "level_01" / "epoch_loss.csv").read_text().splitlines()[1:]
    losses = [float(line.split(",")[2]) for line in lines]
    assert min(losses) < losses[0]
