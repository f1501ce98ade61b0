"""Networks of other packages: a policy head that value players ignore, and outputs that are refused."""

import inspect
import re

import pytest
import torch

from selfplay import load_level, train_level
from selfplay.agents.checkpoints import load_checkpoint, save_checkpoint
from selfplay.api.stages import learn_levels
from selfplay.architectures import build_network, meta_tensors
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.players.value_net import ValueNetPlayer
from tests.support import outside_training
from tests.support.outside_training import PolicyNetwork
from tests.support.runs import tiny_settings

GAME = make_game("tictactoe")
MODULE = "tests.support.outside_training"
NAMED = ["architecture=custom", f"architecture.name={MODULE}:PolicyNetwork", "+architecture.width=8"]


def build(name, **options):
    return build_network({"name": name, **options}, GAME.observation_shape, GAME.num_distinct_actions)


def test_a_network_with_a_policy_head_is_trained_for_a_level_and_loaded_again(tmp_path):
    settings = tiny_settings(tmp_path, *NAMED, "levels=2")
    learn_levels(settings)
    player = load_level(tmp_path, 2)
    assert type(player.network) is PolicyNetwork
    value, policy_logits = player.network(torch.zeros(5, *GAME.observation_shape))
    assert (value.shape, policy_logits.shape) == ((5,), (5, 9))
    assert player.network.body[1].out_features == 8
    assert not train_level(settings, 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "PlainTensor",
            r"returns a tensor of shape \[3, 1\] for 3 observations; expected Output with a value",
        ),
        ("FewActions", r"returns policy_logits of shape \[3, 3\] for 3 observations; expected \[3, 9\]$"),
        ("not_a_class", "'tests.support.outside_training:not_a_class' is not a torch.nn.Module class$"),
        ("Missing", "architecture 'tests.support.outside_training:Missing' cannot be imported"),
    ],
)
def test_a_head_of_the_wrong_shape_is_refused_with_both_shapes(name, message):
    with pytest.raises(SettingError, match=message) as caught:
        build(f"{MODULE}:{name}")
    assert "\n" not in str(caught.value)
    kind = getattr(outside_training, name, None)
    if inspect.isclass(kind):
        with pytest.raises(SettingError, match="the network of value net returns"):
            ValueNetPlayer(GAME, kind(GAME.observation_shape))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Raising",
            r"architecture={} fails on observations of shape \[2, 3, 3\]: KeyError: 'hm' \({}, .*in output_of\)",
        ),
        ("NotANumber", "architecture={} returns a value of nan for observations of zeros; expected finite numbers"),
        ("Detached", r"architecture={} returns a value without a gradient: it must depend on weights \(torch.nn.Param"),
        ("Uninitialised", r"architecture '{}' cannot be built: cannot assign module before .* \({}, .*in __init__\)"),
        (
            "UninitialisedWithoutLayers",
            r"architecture '{}' cannot be built: write super\(\).__init__\(\) in its __init__",
        ),
        ("WithoutShape", "architecture '{}' does not take the shape of the observations; write def __init__"),
    ],
)
def test_a_faulty_network_is_refused_in_one_line_before_anything_is_learned(tmp_path, name, message):
    name = f"{MODULE}:{name}"
    expected = message.format(re.escape(name), re.escape(outside_training.__file__))
    with pytest.raises(SettingError, match=f"^{expected}") as caught:
        learn_levels(tiny_settings(tmp_path, "architecture=custom", f"architecture.name={name}"))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("level_*"))


def test_a_network_that_computes_with_its_first_weights_is_built_in_memory():
    architecture = {"name": f"{MODULE}:ComputingWithWeights"}
    shapes = {name: tuple(tensor.shape) for name, tensor in meta_tensors(architecture, (2, 3, 3), 9).items()}
    assert shapes == {"linear.weight": (1, 18), "linear.bias": (1,)}


def test_a_network_is_also_built_where_the_caller_needs_no_gradients():
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            build(f"{MODULE}:PolicyNetwork")


def test_a_network_without_weights_is_refused_before_matches_are_played(tmp_path):
    with pytest.raises(SettingError, match=r"Weightless has no weights to learn \(torch.nn.Parameter\)$"):
        learn_levels(tiny_settings(tmp_path, "architecture=custom", f"architecture.name={MODULE}:Weightless"))
    assert not list(tmp_path.glob("level_*"))


def test_a_saved_network_of_the_wrong_shape_is_refused_when_it_is_loaded(tmp_path):
    network = outside_training.TwoValues(GAME.observation_shape)
    save_checkpoint(tmp_path / "agent", network, GAME, 1, {"name": f"{MODULE}:TwoValues"}, {})
    with pytest.raises(
        InvalidFileError, match=r"returns a value of shape \[3, 2\] for 3 observations; expected \[3\]$"
    ):
        load_checkpoint(tmp_path / "agent", GAME)
