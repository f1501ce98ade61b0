"""Networks as ONNX files, compared with torch."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from torch import Tensor, nn

from selfplay import load_level, name_modules
from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import Output, build_network
from selfplay.errors import InvalidFileError, StageError
from selfplay.games import make_game
from selfplay.training.fitting import seeded
from tests.support.rejections import assert_refused
from tests.support.runs import PROJECT, run_forked

pytest.importorskip("onnx", reason="onnx is not installed (pip install -e '.[onnx]')")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (pip install -e '.[onnx]')")
onnx = pytest.importorskip("selfplay.adapters.onnx")

COMMAND = PROJECT / "selfplay" / "__main__.py"


@pytest.mark.parametrize(
    "name", ["mlp", "conv", "residual", "alphazero_mlp", "alphazero_residual", "alphazero_convolutional"]
)
def test_networks_are_written(tmp_path: Path, name: str) -> None:
    game = make_game("tictactoe")
    network = build_network({"name": name}, game.observation_shape, game.num_distinct_actions)
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.1)
    exported = onnx.export_network(network, game, tmp_path / "agent.onnx")
    has_policy = network(onnx.random_observations(game)[:1]).policy_logits is not None
    assert exported.outputs == (("value", "policy_logits") if has_policy else ("value",))
    assert exported.largest_difference <= onnx.TOLERANCE


def test_a_network_with_large_logits_that_sees_the_board_is_written(tmp_path: Path) -> None:
    """Float32 rounds numbers of hundreds by more than 1e-5."""
    game = make_game("tictactoe")
    options = {"name": "alphazero_convolutional", "board_blocks": [1, 3]}
    network = build_network(options, game.observation_shape, game.num_distinct_actions)
    with seeded(0):
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.3)
    logits = network(onnx.random_observations(game)).policy_logits
    assert logits is not None
    assert logits.abs().max() > 300
    exported = onnx.export_network(network, game, tmp_path / "agent.onnx")
    assert exported.largest_difference < 0.01


def test_a_level_of_a_run_is_written_and_computes_the_same_for_any_number_of_positions(
    tiny_run: Path, tmp_path: Path
) -> None:
    path = onnx.export_level(tiny_run, tmp_path / "level.onnx").path
    network, game = load_level(tiny_run).network, make_game("tictactoe")
    session = onnxruntime.InferenceSession(str(path))
    for count in (1, 7, 100):
        seen = onnx.random_observations(game)[:count]
        (value,) = session.run(["value"], {"observation": seen.numpy()})
        np.testing.assert_allclose(value, network(seen).value.detach().numpy(), atol=onnx.TOLERANCE)


def test_a_policy_of_actions_that_are_not_squares_is_computed_for_any_number_of_positions(tmp_path: Path) -> None:
    game = make_game("connect_four")
    options = {"name": "alphazero_convolutional", "channels": 4, "blocks": 1}
    network = build_network(options, game.observation_shape, game.num_distinct_actions, game)
    with seeded(0):
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.1)
    session = onnxruntime.InferenceSession(str(onnx.export_network(network, game, tmp_path / "agent.onnx").path))
    for count in (1, 7):
        seen = onnx.random_observations(game)[-count:]
        (logits,) = session.run(["policy_logits"], {"observation": seen.numpy()})
        np.testing.assert_allclose(logits, network(seen).policy_logits.detach().numpy(), atol=onnx.TOLERANCE)


class OfOneNumber(nn.Module):
    """A network whose tensors torch.onnx.export gives a constant number of positions."""

    def forward(self, observation: Tensor) -> Output:
        return Output(observation.sum(dim=(1, 2, 3)).reshape(len(observation)))


def test_a_network_that_is_written_for_one_number_of_positions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"^OfOneNumber cannot be written as ONNX: "):
        onnx.export_network(OfOneNumber(), make_game("tictactoe"), tmp_path / "agent.onnx")
    assert not list(tmp_path.iterdir())


def test_a_table_of_patterns_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    game = make_game("connect_four")
    network = build_network({"name": "ntuple"}, game.observation_shape, game.num_distinct_actions)
    with pytest.raises(StageError, match=r"^NTuple cannot be written as ONNX: it does not compute with torch alone$"):
        onnx.export_network(network, game, tmp_path / "agent.onnx")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("tictactoe")
    network = build_network({"name": "mlp"}, game.observation_shape, game.num_distinct_actions)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("torch.onnx.export", full)
    path = tmp_path / "agent.onnx"
    with pytest.raises(StageError, match=f"^cannot write {path}: No space left on device$"):
        onnx.export_network(network, game, path)
    assert not list(tmp_path.iterdir())


def test_the_command_writes_the_newest_level(tiny_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "agent.onnx"
    result = run_forked(COMMAND, "export-onnx", f"run_dir={tiny_run}", "--file", path)
    assert (result.returncode, result.stderr) == (0, "")
    assert path.exists()
    refused = run_forked(COMMAND, "export-onnx", f"run_dir={tiny_run}", "--level", 9, "--file", path)
    assert_refused(refused, 1, "has no level 9; it has levels 1 to 3")


def test_the_advice_about_code_that_a_file_names_works(tmp_path: Path, forget_modules: Callable[[], None]) -> None:
    game, architecture = make_game("tests.support.pile:Pile"), {"name": "mlp", "hidden_sizes": [4]}
    agent = tmp_path / "level_01" / "agent.safetensors"
    agent.parent.mkdir()
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    save_checkpoint(agent, network, game, 1, architecture, {})
    forget_modules()
    words = ("export-onnx", f"run_dir={tmp_path}", "--file", tmp_path / "agent.onnx")
    advice = "set modules=[tests.support.pile], or in Python call selfplay.name_modules(['tests.support.pile'])"
    assert_refused(run_forked(COMMAND, *words), 1, advice)
    assert run_forked(COMMAND, *words, "modules=[tests.support.pile]").stderr == ""
    with pytest.raises(InvalidFileError, match="is code outside this program"):
        load_level(tmp_path)
    name_modules(["tests.support.pile"])
    assert load_level(tmp_path).name == "level 1"
