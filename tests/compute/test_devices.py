"""Playing and training on a GPU give the results of the CPU; mostly tested on a simulated GPU."""

import pytest
import torch

from selfplay import compose_settings, generate_level, learn_levels
from selfplay.architectures import build_network
from selfplay.compute.devices import chosen_device
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.matches.arena import play_matches, playing_device
from selfplay.named_players.make import make_player
from selfplay.players.random import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.training.fitting import seeded
from tests.support.games import BOARDS, with_slow_sizes
from tests.support.pretended_gpu import GPU, OnGPU, pretended_gpu
from tests.support.runs import GENERATE, files_of, run_forked, tiny_settings

real_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")

NETWORKS = {
    "tictactoe": {"name": "mlp", "hidden_sizes": [16]},
    "connect_four": {"name": "residual", "channels": 4, "blocks": 1},
    "othello_4x4": {"name": "ntuple", "symmetries": "square", "phases": 2},
    "othello": {"name": "othello_features"},
}


def network_of(name):
    """The network tested with that game, with random weights."""
    with seeded(3):
        game = make_game(name)
        network = build_network(NETWORKS[name], game.observation_shape, game.num_distinct_actions)
        for parameter in network.parameters():
            torch.nn.init.normal_(parameter, std=0.2)
    return network


def record_of(game, players, device, matches=8, **options):
    (record,) = play_matches(game, players, range(matches), 5, device=device, **options)
    return record


def parts_of(record):
    """All tensors of a record by name."""
    fields = {f"{field} {ply}": part for ply, s in enumerate(record.states) for field, part in s._asdict().items()}
    actions = {f"action {ply}": action for ply, action in enumerate(record.actions)}
    return {"match": record.match, "seats": record.seats, **fields, **actions}


def assert_same(one, other):
    one, other = parts_of(one), parts_of(other)
    assert list(one) == list(other)
    for name, part in one.items():
        assert type(part) is torch.Tensor, name
        assert part.dtype == other[name].dtype, name
        assert torch.equal(part, other[name]), name


def test_a_player_that_needs_the_cpu_plays_a_network_of_the_gpu_on_the_cpu():
    game = make_game("tictactoe")

    def played(device):
        players = ValueNetPlayer(game, network_of("tictactoe")), make_player("perfect", game, "")
        return players, record_of(game, players, device)

    with pretended_gpu():
        players, record = played(GPU)
        assert isinstance(next(players[0].network.parameters()), OnGPU)
        assert playing_device(players, GPU) == "cpu"
        assert playing_device((players[0], RandomPlayer(game)), GPU) == GPU
    assert_same(record, played("cpu")[1])


def test_a_run_on_a_gpu_has_the_bytes_of_one_on_the_cpu(tmp_path):
    more = [
        "matches=40",
        "levels=2",
        "architecture.hidden_sizes=[8]",
        "opponents=pool",
        "dataset.replay=1",
        "numerics=native",
    ]
    with pretended_gpu():
        assert chosen_device("auto") == GPU
        learn_levels(tiny_settings(tmp_path / "gpu", *more))
    learn_levels(tiny_settings(tmp_path / "cpu", *more))
    assert files_of(tmp_path / "gpu") == files_of(tmp_path / "cpu")


def test_the_simulated_gpu_needs_no_driver_where_torch_is_built_with_cuda(monkeypatch):
    def built_with_cuda(check_available=False):
        return torch.device("cuda")

    monkeypatch.setattr(torch.accelerator, "current_accelerator", built_with_cuda)
    with pretended_gpu():
        parameter = torch.nn.Parameter(torch.ones(3, device=GPU))
        (parameter * parameter).sum().backward()
        torch.optim.Adam([parameter], lr=0.25).step()
    assert torch.allclose(parameter.detach().inner, torch.full((3,), 0.75))


def test_a_stage_finished_on_one_device_is_skipped_on_another(run_copy):
    with pretended_gpu():
        assert not generate_level(tiny_settings(run_copy), 1)
        assert not generate_level(tiny_settings(run_copy, "device=cpu"), 1)


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
@pytest.mark.parametrize("name", with_slow_sizes(BOARDS))
def test_random_matches_are_the_same_on_a_real_gpu(name):
    game = make_game(name)
    player = RandomPlayer(game)
    record = record_of(game, (player, player), "cuda", matches=2000)
    assert_same(record, record_of(game, (player, player), "cpu", matches=2000))


@real_gpu
def test_level_0_has_the_same_bytes_from_a_real_gpu(tmp_path):
    for device in ("cuda", "cpu"):
        generate_level(tiny_settings(tmp_path / device, f"device={device}"), 0)
    assert files_of(tmp_path / "cuda") == files_of(tmp_path / "cpu")


@real_gpu
def test_a_run_on_a_real_gpu_is_reproducible_and_learns(tmp_path):
    for attempt in ("one", "other"):
        learn_levels(tiny_settings(tmp_path / attempt, "device=cuda", "architecture=residual", "training.epochs=8"))
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    lines = (tmp_path / "one" / "level_01" / "epoch_loss.csv").read_text().splitlines()[1:]
    losses = [float(line.split(",")[2]) for line in lines]
    assert min(losses) < losses[0]
