"""agent.safetensors: reproducible bytes, and foreign files refused by name."""

import json
import math
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

from selfplay import registry
from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import METADATA_KEY, load_checkpoint, read_metadata, save_checkpoint
from selfplay.architectures import build_network
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.runs.levels import load_agent
from selfplay.runs.manifest import Manifest
from tests.support.rejections import assert_file_rejected

GAME = make_game("tictactoe")
ARCHITECTURE = {"name": "mlp", "hidden_sizes": [8], "dropout": 0.25}
TRAINING = {"epochs": 5, "optimizer": {"learning_rate": 0.001}}


def make_network():
    torch.manual_seed(3)
    return build_network(ARCHITECTURE, GAME.observation_shape, GAME.num_distinct_actions)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "agent.safetensors"
    save_checkpoint(path, make_network(), GAME, 4, ARCHITECTURE, TRAINING)
    return path


def save_with(path, tensors=None, **changes):
    """A valid file with these changes of its metadata; None removes a key."""
    metadata = {
        "format": 2,
        "game": "tictactoe",
        "level": 1,
        "architecture": ARCHITECTURE,
        "training": {},
        "outcome": "return",
        "versions": {},
    }
    metadata = {name: value for name, value in {**metadata, **changes}.items() if value is not None}
    save_file(tensors or make_network().state_dict(), path, {METADATA_KEY: json.dumps(metadata)})
    return path


def assert_refused(path, message):
    with assert_file_rejected(path, message):
        load_checkpoint(path, GAME)


def test_a_network_is_loaded_as_it_was_saved(saved):
    checkpoint = load_checkpoint(saved, GAME)
    network = make_network()
    assert network.training
    assert not checkpoint.network.training
    loaded = checkpoint.network.state_dict()
    assert loaded.keys() == network.state_dict().keys()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in network.state_dict().items())


def test_a_checkpoint_describes_its_network(saved):
    metadata = read_metadata(saved)
    assert metadata["game"] == "tictactoe"
    assert metadata["level"] == 4
    assert metadata["architecture"] == ARCHITECTURE
    assert metadata["training"] == TRAINING
    assert metadata["versions"]["torch"].startswith("2.")


def test_saving_twice_gives_the_same_bytes(saved, tmp_path):
    save_checkpoint(tmp_path / "again", make_network(), GAME, 4, ARCHITECTURE, TRAINING)
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_another_games_network_is_refused(saved):
    with pytest.raises(InvalidFileError, match="is for tictactoe, not for sumto100"):
        load_checkpoint(saved, make_game("sumto100"))


@pytest.mark.parametrize("name", ["gomoku", "go", "hex"])
def test_a_network_for_boards_of_all_sizes_is_read_for_another_size_as_it_is(name, tmp_path):
    options = {"name": "alphazero_convolutional", "channels": 3, "blocks": 1}
    small, large = make_game(name, size=3), make_game(name, size=5)
    network = build_network(options, small.observation_shape, small.num_distinct_actions)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    path = tmp_path / "agent.safetensors"
    save_checkpoint(path, network, small, 1, options, {})
    for game in (small, large):
        read = load_checkpoint(path, game).network
        assert all(torch.equal(one, other) for one, other in zip(read.parameters(), network.parameters(), strict=True))
    with torch.no_grad():
        logits = read(torch.zeros(1, *large.observation_shape)).policy_logits
    assert logits.shape == (1, large.num_distinct_actions)
    with pytest.raises(InvalidFileError, match=rf"is for {name}_3x3, not for tictactoe; set game={name}_3x3$"):
        load_checkpoint(path, make_game("tictactoe"))


def test_an_agent_of_one_size_is_refused_on_another_with_the_architecture_that_plays_on_all(saved, tmp_path):
    save_checkpoint(tmp_path / "other", make_network(), make_game("gomoku", size=3), 4, ARCHITECTURE, TRAINING)
    with pytest.raises(InvalidFileError, match=r"not for gomoku_5x5; set game=gomoku_3x3 \(.*=alphazero_conv"):
        load_checkpoint(tmp_path / "other", make_game("gomoku", size=5))


def test_what_is_not_a_whole_file_of_tensors_is_refused(saved, tmp_path):
    whole = saved.read_bytes()
    contents = [whole[:kept] for kept in (0, 4, 8, 100, -1)]
    for content in [*contents, b"hello", b"\x80\x04pickle.", bytes(1000), b"\xff" * 1000]:
        saved.write_bytes(content)
        assert_refused(saved, "cannot be read")
    torch.save(make_network().state_dict(), saved)
    assert_refused(saved, "cannot be read")
    assert_refused(tmp_path, "cannot be read")


def test_foreign_tensors_and_metadata_are_refused(tmp_path):
    path = tmp_path / "agent.safetensors"
    save_file(make_network().state_dict(), path)
    assert_refused(path, "is not a checkpoint of this program")
    for text in ["{", "", "no json", "[]", "null", "1", '{"format": 1}']:
        save_file(make_network().state_dict(), path, {METADATA_KEY: text})
        assert_refused(path, "is not a checkpoint of this program")


def test_an_unusable_architecture_is_refused(tmp_path):
    for architecture in (
        {"name": "transformer"},
        {"name": "mlp", "width": 8},
        {"name": "mlp", "hidden_sizes": [0]},
        {"name": "mlp", "hidden_sizes": "eight"},
        {"name": "mlp", "hidden_sizes": [8], "dropout": 2},
        {},
    ):
        assert_refused(save_with(tmp_path / "agent", architecture=architecture), "has an unusable architecture")
    for architecture in ("mlp", ["mlp"], 7):
        path = save_with(tmp_path / "agent", architecture=architecture)
        assert_refused(path, r"is not a checkpoint of this program \(architecture must be an object\)")


def test_weights_that_are_not_reasonable_numbers_are_refused(tmp_path):
    for number in (math.nan, math.inf, -math.inf, 3e38):
        tensors = make_network().state_dict()
        tensors["layers.1.weight"][3, 2] = number
        message = r"weights layers\.1\.weight are not all numbers from -1e\+09"
        assert_refused(save_with(tmp_path / "agent", tensors), message)
    tensors = {name: tensor.to(torch.int64) for name, tensor in make_network().state_dict().items()}
    assert_refused(save_with(tmp_path / "agent", tensors), "are not all numbers")


FOREIGN = {
    "game": "harmful:Game",
    "outcome": "harmful:outcome",
    "architecture": {"name": "harmful:Network"},
}


@pytest.fixture
def harmful(tmp_path, monkeypatch, forget_modules):
    """The file that the module `harmful` makes when it is imported."""
    (tmp_path / "harmful.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "harmful", raising=False)
    yield tmp_path / "imported"
    # Another test has a module of the same name.
    sys.modules.pop("harmful", None)


@pytest.mark.parametrize("key", FOREIGN)
def test_a_file_imports_no_module_that_the_user_has_not_named(tmp_path, harmful, key):
    path = save_with(tmp_path / "agent.safetensors", **{key: FOREIGN[key]})
    with assert_file_rejected(path, r"is code outside this program, .*; if you trust it, set modules=\[harmful\]"):
        Agent.load(path) if key == "game" else load_checkpoint(path, GAME)
    with assert_file_rejected(path, "code outside"):
        read_metadata(path)
    # Making the file again, as a manifest beside it would allow, is not a fix.
    Manifest(tmp_path).record("training", {}, {}, [path.name])
    with assert_file_rejected(path, r"selfplay\.name_modules\(\['harmful'\]\)$"):
        load_agent(path, GAME)
    assert not harmful.exists()
    registry.name_modules(["harmful"])
    # The module has none of these objects.
    with pytest.raises((SettingError, InvalidFileError), match="cannot be imported"):
        make_game(read_metadata(path)["game"]) if key == "game" else load_checkpoint(path, GAME)
    assert harmful.exists()


def test_an_unknown_outcome_is_refused_by_the_name_of_the_file(tmp_path):
    assert_refused(save_with(tmp_path / "agent.safetensors", outcome="luck"), "unknown outcome 'luck'")


def make_tables():
    """A network of tables with a few weights that are not 0, among them the last one; and its architecture."""
    architecture = {"name": "ntuple", "patterns": ["xxx/xxx/xxx"], "phases": 8}
    network = build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions).half()
    with torch.no_grad():
        drawn = torch.rand(network.weight.shape, generator=torch.Generator().manual_seed(0))
        network.weight[:] = torch.where(drawn < 0.01, drawn + 0.5, 0)
        network.weight[-1, -1] = -2
    return network, architecture


def test_tables_of_which_most_weights_are_0_take_a_small_file(tmp_path):
    path = tmp_path / "agent.safetensors"
    network, architecture = make_tables()
    assert network.weight.numel() > 2 << 16
    save_checkpoint(path, network, GAME, 4, architecture, TRAINING)
    assert path.stat().st_size < network.weight.numel() * 2 / 10
    assert torch.equal(load_checkpoint(path, GAME).network.weight, network.weight.float())
    with torch.no_grad():
        network.weight[:] = 0
    save_checkpoint(path, network, GAME, 4, architecture, TRAINING)
    assert not load_checkpoint(path, GAME).network.weight.any()


@pytest.mark.parametrize(("is_half", "scale"), [(True, 1), (False, 1), (False, 1 / 3)])
def test_nearly_equal_rows_of_weights_take_a_small_file(tmp_path, is_half, scale):
    """All numbers are kept, also those that are not float16 numbers."""
    path = tmp_path / "agent.safetensors"
    architecture = {"name": "ntuple", "patterns": ["xxx/xxx/xxx"], "phases": 21, "parities": True}
    network = build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions)
    own = torch.rand(2, network.weight.shape[1], generator=torch.Generator().manual_seed(0)).half().float() * scale
    with torch.no_grad():
        network.weight[:] = own.repeat(21, 1)
        network.weight[3:, ::100] += 1 / 7
    if is_half:
        network.half()
    save_checkpoint(path, network, GAME, 4, architecture, TRAINING)
    assert path.stat().st_size < 0.15 * network.weight.numel() * network.weight.element_size()
    assert torch.equal(load_checkpoint(path, GAME).network.weight, network.weight.float())
    stored = load_file(path)
    assert stored["weight:base"].dtype == (torch.float16 if scale == 1 else torch.float32)
    shorter = stored | {"weight:base": stored["weight:base"][:1]}
    assert_refused(save_with(path, shorter, architecture=architecture), "its weights do not fit")


def test_places_of_weights_that_do_not_fit_are_refused(tmp_path):
    network, architecture = make_tables()
    path = tmp_path / "agent.safetensors"
    save_checkpoint(path, network, GAME, 4, architecture, TRAINING)
    stored = load_file(path)
    places, counts = "weight:places", "weight:counts"
    too_far, negative, twice = stored[places].clone(), stored[counts].clone(), stored[counts].clone()
    too_far[-1] = 65535
    negative[0], negative[1] = -1, negative[0] + negative[1] + 1
    twice[0] *= 2
    cases = [{places: too_far}, {counts: negative}, {counts: twice}]
    message = "places of its weights are not in the tensors that they belong to"
    for changed in cases:
        assert_refused(save_with(path, stored | changed, architecture=architecture), message)
    for changed in [{places: stored[places][1:]}, {counts: stored[counts][1:]}]:
        assert_refused(save_with(path, stored | changed, architecture=architecture), "its weights do not fit")
    # A few bytes must not make the program allocate terabytes.
    large = architecture | {"phases": 1 << 30}
    assert_refused(save_with(path, stored, architecture=large), "its weights do not fit")


def test_an_agent_whose_actions_are_not_squares_is_read_again_also_for_another_board(tmp_path):
    game = make_game("tests.support.clobber:Clobber")
    architecture = {"name": "alphazero_convolutional", "channels": 4, "blocks": 1}
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions, game)
    save_checkpoint(tmp_path / "agent.safetensors", network, game, 1, architecture, {})
    for board in (game, make_game("tests.support.clobber:Clobber", 6)):
        read = load_checkpoint(tmp_path / "agent.safetensors", board).network
        output = read(board.observe(board.init(2)))
        assert output.policy_logits.shape == (2, board.num_distinct_actions)
        assert all(torch.equal(read.state_dict()[name], tensor) for name, tensor in network.state_dict().items())
