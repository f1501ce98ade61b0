"""Networks as ONNX files (https://onnx.ai), to run them without this program and without torch.

    from selfplay.adapters.onnx import export_level

    export_level("outputs/tictactoe", "agent.onnx")

Needs the packages onnx and onnxruntime.
"""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from selfplay.adapters import needs_extra
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import StageError
from selfplay.files import user_path, written_whole
from selfplay.games import Game
from selfplay.runs.levels import agent_of_level

with needs_extra("onnx"):
    import onnxruntime

TOLERANCE = 1e-5
"""The largest difference between the outputs of torch and of onnxruntime, for each unit of the largest of them that is
more than 1, such as a logit."""

MATCHES = 64


class ExportedNetwork(NamedTuple):
    """A network in an ONNX file.

    Its input `observation` is float32[N, *observation_shape], the position seen by the player who is not to move; its
    outputs are `value`, float32[N], and with a policy head `policy_logits`, float32[N, A].
    """

    path: Path
    outputs: tuple[str, ...]
    largest_difference: float
    """Between the outputs of torch and of onnxruntime, in positions of random matches."""


class _PlainOutputs(nn.Module):
    """A network with a tuple of tensors as its output, as ONNX needs it."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observation: Tensor) -> tuple[Tensor, ...]:
        output = self.network(observation)
        return (output.value,) if output.policy_logits is None else (output.value, output.policy_logits)


def export_level(run_dir: str | Path, path: str | Path, level: int | None = None) -> ExportedNetwork:
    """Write the network of a level of a run (None: the newest) as an ONNX file, and check it with onnxruntime.

    Raises as `agent_of_level` and `export_network`.
    """
    agent = agent_of_level(run_dir, level)
    return export_network(agent.network, agent.game, path)


def export_network(network: nn.Module, game: Game, path: str | Path) -> ExportedNetwork:
    """Write a network for `game` as an ONNX file, and check it with onnxruntime.

    Raises StageError if ONNX cannot express the network, onnxruntime computes something else, or the file cannot be
    written; nothing is written.
    """
    plain = _PlainOutputs(network).eval()
    positions = random_observations(game)
    names = ("value", "policy_logits")
    with torch.no_grad():
        expected = [output.numpy() for output in plain(positions)]
    outputs = names[: len(expected)]
    path = user_path(path)
    with written_whole(path) as partial:
        try:
            _export(plain, positions, partial, outputs)
            session = onnxruntime.InferenceSession(str(partial), providers=["CPUExecutionProvider"])
            if [taken.name for taken in session.get_inputs()] != ["observation"]:
                raise ValueError("it does not compute with torch alone")
            # Other numbers of positions than the export has seen.
            parts = [session.run(list(outputs), {"observation": part.numpy()}) for part in positions.tensor_split([1])]
            computed = [np.concatenate(both) for both in zip(*parts, strict=True)]
        except OSError:
            # The file cannot be written, which is not due to the network.
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise StageError(f"{type(network).__name__} cannot be written as ONNX: {reason}") from error
        difference = max(float(np.abs(one - other).max()) for one, other in zip(computed, expected, strict=True))
        largest = max(1.0, *(float(np.abs(one).max()) for one in expected))
        if not difference <= TOLERANCE * largest:
            raise StageError(f"{type(network).__name__} as ONNX differs by {difference:.1g} from torch; not written")
    return ExportedNetwork(path, outputs, difference)


def _export(plain: nn.Module, positions: Tensor, path: Path, outputs: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        # The newer exporter needs two more packages; of this one torch says that it is older.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            plain,
            (positions,),
            str(path),
            input_names=["observation"],
            output_names=list(outputs),
            dynamic_axes={name: {0: "positions"} for name in ("observation", *outputs)},
            dynamo=False,
        )


def random_observations(game: Game) -> Tensor:
    """float32[N, *observation_shape]: observations of all positions of random matches."""
    key, match, state = stream_key(0, 0, Activity.MEASUREMENT), torch.arange(MATCHES), game.init(MATCHES)
    seen: list[Tensor] = []
    for ply in range(game.max_game_length):
        going = ~state.terminated
        if not bool(going.any()):
            break
        state = game.step_unchecked(state, game.kernels.random_actions(state, Draws(key, match, ply)))
        seen.append(game.observe(state.select(going)))
    return torch.cat(seen)
