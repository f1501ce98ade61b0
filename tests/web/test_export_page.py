"""What cannot be exported is refused in one line; an interrupted export is repeated."""

import json
import shutil
from collections.abc import Callable
from inspect import getsourcelines
from pathlib import Path

import pytest
from torch import Tensor, nn

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint, save_checkpoint
from selfplay.agents.pretrained import pretrained_agent, search_depth
from selfplay.architectures import Output, build_network
from selfplay.architectures.capabilities import LayerLists
from selfplay.compute.bit_algebra import Word
from selfplay.compute.layer_steps import PRODUCTS, TANH
from selfplay.errors import SettingError, StageError
from selfplay.games import game_names, make_game
from selfplay.named_players.strengths import STRENGTHS, strengths
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.export_page import export_page, rules_of
from selfplay.web.exported_network import exported_network
from selfplay.web.exported_opponents import MOST_PLIES, MOST_WORK, exported_strengths
from selfplay.web.rules_in_javascript import javascript_of
from tests.support.kills import is_killed_at_change
from tests.support.runs import files_of

OFFSETS = [1, 7]


def with_two_kinds(own: Word) -> Word:
    if own > 3:
        return own, own
    return own ^ 1


def with_another_field(own: Word) -> Word:
    return own.squares


def with_division(own: Word) -> Word:
    return own / 2


def with_library(own: Word) -> Word:
    return divmod(own, 3)


def with_list(own: Word) -> Word:
    return own << OFFSETS


def with_negated_comparison(own: Word) -> Word:
    return ~(own > 2)


def with_large_number(own: Word) -> Word:
    return own & 0x10000000000000000


def calling_one(own: Word) -> Word:
    return with_division(own)


REFUSED = {
    with_two_kinds: "return own ^ 1",
    with_another_field: "own.squares",
    with_division: "own / 2",
    with_library: "divmod(own, 3)",
    with_list: "OFFSETS",
    with_negated_comparison: "~(own > 2)",
    with_large_number: "18446744073709551616",
    calling_one: "own / 2",
}


@pytest.mark.slow
def test_strengths_look_less_far_ahead_where_a_browser_would_take_seconds(tmp_path: Path) -> None:
    export_page(
        ExportPageSettings(
            str(tmp_path), GameSettings("draughts"), opponent="pretrained", output_dir=str(tmp_path / "site")
        )
    )
    description = json.loads((tmp_path / "site" / "local" / "game.json").read_text())
    depth = MOST_PLIES["draughts"]
    assert [description["ways"][name]["depth"] for name in ("hard", "strongest")] == [depth, depth]
    assert search_depth("draughts", 0) > depth
    game = make_game("gomoku_15x15")
    assert strengths(game)["strongest"].player.startswith("mcts:pretrained?simulations=2000")
    offered = exported_strengths(game, Agent.load(pretrained_agent(game.name), game), tmp_path)
    assert {way["simulations"] for way in offered.values()} == {MOST_WORK // 2_258_256}


@pytest.mark.parametrize("rule", REFUSED)
def test_a_rule_that_is_not_known_is_refused_with_its_line(rule: Callable[[Word], Word]) -> None:
    with pytest.raises(SettingError) as caught:
        javascript_of({"rule": (rule, [1])})
    message = str(caught.value)
    assert "\n" not in message
    assert repr(REFUSED[rule]) in message
    refused = with_division if rule is calling_one else rule
    lines, first = getsourcelines(refused)
    place = next(number for number, line in enumerate(lines) if REFUSED[rule] in line or "0x1" in line)
    assert f"{refused.__name__} in {__name__}, line {first + place}:" in message


@pytest.mark.parametrize("game", game_names())
def test_the_rules_of_every_game_can_be_translated(game: str) -> None:
    """What they compute is compared in a browser."""
    assert "export const legalActions" in rules_of(make_game(game))


def refusal(tmp_path: Path, game: str = "tictactoe", **changed: str) -> str:
    folders = {"run_dir": str(tmp_path / "run"), "output_dir": str(tmp_path / "site")}
    with pytest.raises((SettingError, StageError)) as caught:
        export_page(ExportPageSettings(game=GameSettings(game), **(folders | changed)))
    message = str(caught.value)
    assert "\n" not in message
    assert not (tmp_path / "site").exists()
    return message


def test_without_levels_the_agent_that_comes_with_the_program_is_exported(tmp_path: Path, tiny_run: Path) -> None:
    def exported(game: str, run_dir: Path) -> str:
        settings = ExportPageSettings(str(run_dir), GameSettings(game), output_dir=str(tmp_path / game))
        return export_page(settings).agent

    assert exported("connect_four", tmp_path / "run") == "pretrained"
    assert exported("go_7x7", tmp_path / "run") == "pretrained"
    assert exported("tictactoe", tiny_run) == "level 3"


def test_strengths_of_another_agent_are_not_offered(tmp_path: Path) -> None:
    def offered(game: str) -> list[str]:
        run, options = RunFolder(tmp_path / game / "run"), {"name": "mlp", "hidden_sizes": [4]}
        made = make_game(game)
        network = build_network(options, made.observation_shape, made.num_distinct_actions)
        run.agent(1).parent.mkdir(parents=True)
        save_checkpoint(run.agent(1), network, made, 1, options, {})
        site = tmp_path / game / "site"
        export_page(ExportPageSettings(str(run.path), GameSettings(game), output_dir=str(site)))
        return list(json.loads((site / "local/game.json").read_text())["ways"])

    others = ["level-1", "level-1-search", "random"]
    assert offered("hex_5x5") == [*STRENGTHS, *others]
    # Hard is not offered where its temperature was not measured.
    assert offered("gomoku_13x13_length=4") == ["beginner", "easy", "medium", "strongest", *others]
    # The strengths draw by the values of the pretrained agent, and this one is another.
    assert offered("gomoku") == others


def test_what_cannot_be_exported_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    assert "board" in refusal(tmp_path, "sumto100")
    assert "does not exist" in refusal(tmp_path)
    assert "opponent=perfect: must be a learned agent" in refusal(tmp_path, opponent="perfect")
    assert "pretrained" in refusal(tmp_path, opponent="pretrained")
    (tmp_path / "index.html").touch()
    for folder in (tmp_path, tmp_path / "index.html"):
        assert "must be a new or empty folder" in refusal(tmp_path, output_dir=str(folder))


class WithoutList(nn.Module):
    """A network of another package that says nothing of its layers."""


class WithLayers(nn.Module):
    """One with these layers, one after another."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: Tensor) -> Output:
        return Output(self.layers(observations).squeeze(1))

    def listed_layers(self) -> LayerLists:
        return LayerLists(value=[self.layers])


class Doubled(WithLayers):
    """One whose value is not that of its layers."""

    def forward(self, observations: Tensor) -> Output:
        return Output(2 * self.layers(observations).squeeze(1))


def agent_with(network: nn.Module) -> Agent:
    metadata = {"architecture": {"name": "my_module:MyNetwork"}, "outcome": "return"}
    return Agent(Checkpoint(network.eval(), metadata), make_game("tictactoe"), "level 1")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (WithoutList(), "give its class WithoutList a method listed_layers "),
        (WithLayers(nn.GELU()), r"its layer GELU\(.*\) is not one of nn\.Linear, "),
        (WithLayers(nn.Conv2d(2, 4, 3)), r"its layer Conv2d\(2, 4, .*\) is not one of "),
        (WithLayers(nn.Conv2d(2, 4, 3, padding=1, stride=2)), "its layer Conv2d"),
        (WithLayers(nn.Conv2d(2, 4, (3, 1), padding=(1, 0))), "its layer Conv2d"),
        (WithLayers(nn.Conv2d(2, 4, 2, padding="same")), "its layer Conv2d"),
        (WithLayers(nn.Conv2d(2, 4, 3, padding=1, padding_mode="circular")), "its layer Conv2d"),
        (WithLayers(nn.Linear(3, 1), nn.Flatten(), nn.Linear(6, 1)), "its listed_layers, one after another, do not "),
        (WithLayers(nn.Flatten(), nn.Linear(18, 2)), "its listed_layers"),
        (Doubled(nn.Flatten(), nn.Linear(18, 1)), "its listed_layers"),
    ],
)
def test_a_network_that_the_page_cannot_compute_is_refused(network: nn.Module, message: str) -> None:
    prefix = "^level 1: a network with architecture=my_module:MyNetwork cannot be exported; "
    with pytest.raises(SettingError, match=prefix + message) as caught:
        exported_network(agent_with(network))
    assert "\n" not in str(caught.value)


def test_layers_of_other_packages_are_exported_if_they_are_those_that_the_page_computes() -> None:
    convolution = nn.Conv2d(2, 4, 5, padding="same", bias=False)
    network = WithLayers(nn.Identity(), convolution, nn.Flatten(), nn.Linear(36, 1), nn.Tanh())
    description, arrays = exported_network(agent_with(network))
    assert [step["kind"] for step in description["steps"]] == [PRODUCTS, PRODUCTS, TANH]
    assert {name: (array.size, str(array.dtype)) for name, array in arrays.items() if name != "indices"} == {
        "observation": (18, "int32"),
        "logits": (0, "int32"),
        # Sixteen sums of products and a bias each.
        "weights": (16 * (2 * 25 + 1) + 16 * (36 + 1), "float32"),
    }


def test_an_exported_page_plays_and_judges_by_the_best_that_is_known_in_a_run(tmp_path: Path) -> None:
    run, name = RunFolder(tmp_path / "run"), "tests.support.clobber:Clobber"
    game, options = make_game(name), {"name": "alphazero_mlp", "hidden_sizes": [4]}
    network = build_network(options, game.observation_shape, game.num_distinct_actions)
    for level in (1, 2):
        run.level(level).mkdir(parents=True)
        save_checkpoint(run.agent(level), network, game, level, options, {})
        run.versus_rollouts(level).write_text(f"level,simulations,rollouts,score\n{level},15,140,0.4\n")

    def exported(**changed: str) -> tuple[str, dict[str, dict[str, object]]]:
        site = tmp_path / "site"
        export_page(ExportPageSettings(str(run.path), GameSettings(name), output_dir=str(site), **changed))
        description = json.loads((site / "local/game.json").read_text())
        return description["judge"], description["ways"]

    judge, ways = exported()
    assert (judge, ways[judge]["kind"], ways[judge]["evaluation"]) == ("rollouts-search", "tree_search", "rollouts")
    assert {"level-2", "level-2-search"} < ways.keys()
    assert ways["strongest"]["evaluation"] == "rollouts"
    # Level 1 is better than random matches, and level 2 is not.
    run.versus_rollouts(1).write_text("level,simulations,rollouts,score\n1,15,140,0.6\n")
    judge, ways = exported()
    assert (judge, ways[judge]["evaluation"], ways["strongest"]["evaluation"]) == ("level-1-search", "agent", "agent")
    assert list(ways) == [*STRENGTHS, "level-1", "level-1-search", "random"]
    # Its values are better if they are mixed with random matches.
    mixed = "level,simulations,rollouts,score,rollout_share,mixed_rollouts\n1,15,140,0.6,0.5,4\n"
    run.versus_rollouts(1).write_text(mixed)
    judge, ways = exported()
    mixing = [(ways[name]["rollout_share"], ways[name]["rollouts"]) for name in ("hard", "strongest", judge)]
    assert mixing == [(0.5, 4)] * 3
    # The strengths are another level than the one of this page.
    assert list(exported(opponent="level:2")[1]) == ["level-2", "level-2-search", "random"]


@pytest.mark.slow
def test_an_export_that_was_killed_is_finished_by_the_same_command(tmp_path: Path) -> None:
    game, architecture, run = make_game("tictactoe"), {"name": "mlp"}, RunFolder(tmp_path / "run")
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    run.level(1).mkdir(parents=True)
    save_checkpoint(run.agent(1), network, game, 1, architecture, {})
    site = tmp_path / "site"
    settings = ExportPageSettings(game=GameSettings("tictactoe"), run_dir=str(run.path), output_dir=str(site))
    export_page(settings)
    whole = files_of(site)
    for change in (1, 2, 3, 4, len(whole), 2 * len(whole)):
        shutil.rmtree(site)
        assert is_killed_at_change(change, export_page, settings, below=site)
        export_page(settings)
        assert files_of(site) == whole
