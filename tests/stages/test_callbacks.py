"""Callbacks: they are told what was measured, and stop a level or learning; and a level by hand is that of a run."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from torch.nn.utils import parameters_to_vector

import selfplay
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from tests.support.runs import files_of, tiny_settings

TD = ["game=tictactoe", "architecture=ntuple", "learner=td", "matches=300", "learner.round_matches=50", "levels=1"]


class Log(selfplay.Callback):
    """Keeps what it is told, and stops where it is told to."""

    def __init__(self, **stops: int) -> None:
        self.told: list[tuple[str, int, dict[str, float]]] = []
        self.stops = stops

    def add(self, what: str, level: int, measured: dict[str, float]) -> bool:
        self.told.append((what, level, dict(measured)))
        return len([one for one in self.told if one[0] == what]) == self.stops.get(what)

    def on_epoch(self, level, epoch):
        return self.add("epoch", level, epoch.measured)

    def on_round(self, level, steps, measured):
        return self.add("round", level, {"steps": steps, **measured})

    def on_level(self, level, measured):
        return self.add("level", level, measured)


def test_a_run_tells_its_callbacks_what_was_measured_and_is_the_same_with_them(tiny_run: Path, tmp_path: Path) -> None:
    settings = replace(selfplay.settings_of_run(tiny_run, ["levels=2"]), run_dir=str(tmp_path))
    log = Log(level=1)
    run = selfplay.learn_levels(settings, callbacks=[log, selfplay.Callback()])
    assert run.levels == (1,)
    *epochs, (what, level, measured) = log.told
    assert [one[:2] for one in epochs] == [("epoch", 1)] * 3
    assert [one[2]["validation_loss"] for one in epochs] == run.losses()["validation_loss"].tolist()
    assert (what, level, measured["level"]) == ("level", 1, 1)
    assert measured["losing_lines_first"] > 0
    agent = "level_01/agent.safetensors"
    assert files_of(tmp_path)[agent] == files_of(tiny_run)[agent]
    # Levels that are there already are not told of again.
    again = Log()
    selfplay.learn_levels(settings, callbacks=[again])
    assert {level for _, level, _ in again.told} == {2}


@pytest.mark.parametrize("callback", [print, Log], ids=["function", "class"])
def test_what_is_no_callback_is_refused_before_anything_is_played(callback: object, tmp_path: Path) -> None:
    with pytest.raises(selfplay.SelfPlayError, match=r"^callbacks=.*: must be objects of a subclass of selfplay"):
        selfplay.learn_levels(tiny_settings(tmp_path), callbacks=[callback])
    assert not (tmp_path / "level_00").exists()


def test_a_callback_ends_the_training_of_one_level(tmp_path: Path) -> None:
    run = selfplay.learn_levels(tiny_settings(tmp_path, "levels=2", "learner.epochs=5"), callbacks=[Log(epoch=2)])
    assert run.losses()["level"].tolist() == [1] * 2 + [2] * 5
    counts = [Manifest(RunFolder(tmp_path).level(level)).sections["training"]["counts"] for level in (1, 2)]
    assert [count.get("stopped") for count in counts] == [1, None]


def test_learning_that_is_stopped_keeps_the_best_weights() -> None:
    rows = selfplay.generate("tictactoe", matches=400)
    network = selfplay.initial_network(rows.game, {"name": "mlp", "hidden_sizes": [8]})

    class StopsWhenWorse(selfplay.Callback):
        def on_epoch(self, level, epoch):
            if not epoch.is_champion:
                return True
            self.best = parameters_to_vector(network.parameters()).clone()
            return None

    callback = StopsWhenWorse()
    epochs = selfplay.fit(
        network, rows, epochs=50, learning_rate=0.3, schedule="constant", steps_per_epoch=1, callbacks=[callback]
    )
    assert 1 < len(epochs) < 50
    assert not epochs[-1].is_champion
    assert torch.equal(parameters_to_vector(network.parameters()), callback.best)


def test_learners_that_play_while_they_learn_are_stopped_after_a_round(tmp_path: Path) -> None:
    log = Log(round=2)
    selfplay.learn_levels(tiny_settings(tmp_path / "stopped", *TD), callbacks=[log])
    short = [*TD, "matches=100"]
    selfplay.learn_levels(tiny_settings(tmp_path / "short", *short))
    assert [(what, told["steps"]) for what, _, told in log.told[:2]] == [("round", 50)] * 2
    stopped, shorter = (files_of(tmp_path / name) for name in ("stopped", "short"))
    for name in ("agent.safetensors", "learner.safetensors", "epoch_loss.csv"):
        assert stopped[f"level_01/{name}"] == shorter[f"level_01/{name}"], name
    assert str(log.told[1][2]["mean_squared_error"]) in stopped["level_01/epoch_loss.csv"].decode()


def test_a_level_by_hand_is_that_of_a_run(tiny_run: Path) -> None:
    settings = selfplay.settings_of_run(tiny_run)
    learner = {name: value for name, value in asdict(settings.learner).items() if name != "name"}
    player: selfplay.Player | str = "random"
    for level in (1, 2):
        rows = selfplay.generate(
            "tictactoe", player, matches=settings.matches, seed=settings.seed, level=level, **learner
        )
        start = None if level == 1 else selfplay.load_level(tiny_run, 1)
        network = selfplay.initial_network(rows.game, settings.architecture, seed=settings.seed, level=level)
        if start is not None:
            network.load_state_dict(start.network.state_dict())
        selfplay.fit(network, rows, seed=settings.seed, level=level, **learner)
        player = selfplay.load_level(tiny_run, level)
        expected = player.network.state_dict()
        assert all(torch.equal(weights, expected[name]) for name, weights in network.state_dict().items())


def test_a_parameter_that_the_learner_lacks_is_refused() -> None:
    with pytest.raises(selfplay.SelfPlayError, match=r"simulations=3: Values has the parameters .*epochs"):
        selfplay.generate("tictactoe", matches=10, simulations=3)
    rows = selfplay.generate(
        "tictactoe", "mcts:rollouts?simulations=8", matches=20, learner=selfplay.Policy, temperature_plies=2
    )
    assert rows.policies is not None
