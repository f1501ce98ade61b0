"""Names of learned agents, alone and in names of searches."""

from pathlib import Path

import pytest
import torch

from selfplay.agents.agent import Agent
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.named_players.make import files_of_player, make_player
from selfplay.named_players.names import Option, PlayerKind
from selfplay.runs.run_folder import RunFolder
from tests.support.wheels import install_entry_points

GAME = make_game("tictactoe")
DRAWS = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.arange(1), 0)


def file_of(name, run_dir):
    """The file of the level before the newest by the number in the name."""
    run = RunFolder(Path(name.options["run_dir"] or run_dir))
    return run.agent(run.newest_level() - int(name.argument))


def before_newest(name, game, run_dir):
    return Agent.load(file_of(name, run_dir), game)


KIND = PlayerKind(
    "before_newest:N",
    "the level N before the newest",
    lambda name, game, run_dir: before_newest(name, game, run_dir).player(),
    (Option("run_dir"),),
    files=lambda name, run_dir: [file_of(name, run_dir)],
    agent=before_newest,
)


@pytest.fixture(autouse=True)
def offered(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package offers the kind."""
    folder = tmp_path_factory.mktemp("installed")
    install_entry_points(folder, f"[selfplay.players]\nbefore_newest = {__name__}:KIND\n")
    monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize(
    "name",
    [
        "before_newest:1",
        pytest.param("mcts:before_newest:1?simulations=8", marks=pytest.mark.slow),
        "search:negascout?depth=2&evaluation=before_newest:1",
    ],
)
def test_a_kind_from_outside_plays_alone_and_in_searches(tiny_run: Path, tmp_path: Path, name: str) -> None:
    same = make_player(name.replace("before_newest:1", "level:2"), GAME, tiny_run)
    player = make_player(name, GAME, tiny_run)
    values = player.action_values(GAME.init())
    torch.testing.assert_close(values, same.action_values(GAME.init()), rtol=0, atol=0, equal_nan=True)
    assert torch.equal(player.act(GAME.init(), DRAWS), same.act(GAME.init(), DRAWS))

    # The option run_dir of the whole name is passed on.
    separator = "&" if "?" in name else "?"
    assert files_of_player(f"{name}{separator}run_dir={tiny_run}", tmp_path) == [RunFolder(tiny_run).agent(2)]


def test_the_policy_of_a_level_is_made_from_its_file(tiny_run: Path) -> None:
    assert files_of_player("policy:2", tiny_run) == [RunFolder(tiny_run).agent(2)]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mcts:pretrained:3", "player 'pretrained:3': write pretrained"),
        ("mcts:level:3?depth=2", "'depth=2' is not an option of mcts:EVALUATOR"),
        ("search:negascout?evaluation=level:3?depth=2", "the level must be a whole number"),
    ],
)
def test_bad_names_of_learned_agents_are_refused(tiny_run: Path, name: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        make_player(name, GAME, tiny_run)


@pytest.mark.parametrize("name", ["search:negascout?evaluation=level:9", "policy:9"])
def test_a_level_that_the_run_does_not_have_is_refused(tiny_run: Path, name: str) -> None:
    with pytest.raises(StageError, match="has no level 9"):
        make_player(name, GAME, tiny_run)
    with pytest.raises(StageError, match="has no level 9"):
        files_of_player(name, tiny_run)


def test_the_error_for_unknown_evaluators_lists_learned_agents(tiny_run: Path) -> None:
    with pytest.raises(
        SettingError,
        match=r"choose EVALUATOR from rollouts, level:L, pretrained, itself, before_newest:N, module:attribute, such",
    ):
        make_player("mcts:crystal_ball", GAME, tiny_run)
