"""The players `mcts:...`: names, capabilities, matches in batches, and extension from outside."""

import pickle
from pathlib import Path

import pytest
import torch

from selfplay import play_matches
from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import EvaluatesOnDevice
from selfplay.players.mcts import MctsPlayer
from selfplay.players.perfect import perfect_player_of
from selfplay.runs.run_folder import RunFolder
from selfplay.search.mcts.rule import Rule, make_rule, uct
from tests.search.mcts.hashed_evaluator import HashedEvaluator
from tests.support.wheels import install_entry_points

GAME = make_game("tictactoe")
KEY = stream_key(3, 0, Activity.NAMED_PLAYERS)
ROLLOUTS = "mcts:rollouts?simulations=40"


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with untrained levels: 1 with a policy head, 2 with tables, 3 with neither."""
    run_dir = tmp_path_factory.mktemp("run")
    for level, name in enumerate(("alphazero_mlp", "ntuple", "mlp"), start=1):
        path = RunFolder(run_dir).agent(level)
        path.parent.mkdir()
        network = build_network({"name": name}, GAME.observation_shape, GAME.num_distinct_actions)
        save_checkpoint(path, network, GAME, level, {"name": name}, {})
    return run_dir


def matches_of(player, matches, batch_size):
    records = play_matches(GAME, (player, perfect_player_of(GAME)), matches, KEY, batch_size=batch_size)
    return [
        (int(match), [int(ply[row]) for ply in record.actions if ply[row] >= 0])
        for record in records
        for row, match in enumerate(record.match)
    ]


def test_a_match_does_not_depend_on_the_batch_size(run_dir: Path) -> None:
    name = f"{ROLLOUTS}&reuse=true"
    player = make_player(name, GAME, run_dir)
    everything = matches_of(player, range(6), 6)
    assert matches_of(player, range(6), 4) == everything
    assert matches_of(player, range(3, 5), 1) == everything[3:5]
    assert len({tuple(actions) for _, actions in everything}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2])
def test_levels_with_and_without_a_policy_head_search(run_dir: Path, level: int) -> None:
    player = make_player(f"mcts:level:{level}?simulations=30&rule=puct", GAME, run_dir)
    # O to move must take 5.
    state = GAME.state_at(torch.tensor([[0b000000001, 0b000011000]]))
    assert int(player.act(state, Draws(KEY, torch.tensor([0]), 3))) == 5
    assert player.name == f"mcts:level:{level}?simulations=30&rule=puct"


@pytest.mark.parametrize(
    "name",
    [
        ROLLOUTS,
        *(pytest.param(f"mcts:level:{level}", marks=pytest.mark.slow) for level in ("1?rule=puct", "2?rule=puct")),
    ],
)
def test_a_player_can_be_pickled_and_plays_the_same(run_dir: Path, name: str) -> None:
    """By rollouts, by a network that is asked for a batch, and by tables inside the search."""
    player = make_player(name, GAME, run_dir)
    state, draws = GAME.init(2), Draws(KEY, torch.arange(2), 0)
    assert torch.equal(pickle.loads(pickle.dumps(player)).act(state, draws), player.act(state, draws))


@pytest.mark.slow
def test_it_offers_values_visits_and_a_policy(run_dir: Path) -> None:
    player = make_player(ROLLOUTS, GAME, run_dir)
    assert isinstance(player, EvaluatesOnDevice)
    state = GAME.state_after(["1,1", "0,0"])
    # What it plays is random, in a way that it does not know; a search with tables is not.
    assert player.policy(state) is None
    level = make_player("mcts:level:2", GAME, run_dir)
    values, visits, policy = player.action_values(state), player.value_actions(state).visits, level.policy(state)
    assert values.shape == visits.shape == policy.shape == (1, 9)
    assert values.dtype == torch.float32
    assert values[0, [0, 4]].isnan().all()
    assert int(visits.sum()) == 40
    assert policy.sum() == policy.max() == 1
    assert torch.equal(policy, level.policy(state))


def test_a_search_can_continue_the_tree_of_its_match(run_dir: Path) -> None:
    player = make_player("mcts:rollouts?simulations=400&reuse=true", GAME, run_dir)
    # Its actions depend on the match, not only on the position.
    assert player.policy(GAME.init()) is None
    assert make_player("mcts:level:2?reuse=true", GAME, run_dir).policy(GAME.init()) is None
    # The first action is the most visited one of the first search.
    first, later = GAME.init(), GAME.state_after(["2,0", "1,1"])
    for ply, state in ((0, first), (2, later)):
        visits = player.value_actions(state, Draws(KEY, torch.tensor([5]), ply)).visits
    assert int(visits.sum()) > 400
    alone = make_player("mcts:rollouts?simulations=400", GAME, run_dir)
    assert torch.equal(player.value_actions(first).visits, alone.value_actions(first).visits)
    # A position of another match has no tree yet.
    assert int(player.value_actions(later, Draws(KEY, torch.tensor([6]), 2)).visits.sum()) == 400


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("mcts:level:9", StageError, "has no level 9"),
        ("mcts:rollouts?rule=best", SettingError, "unknown rule of tree search 'best'; choose from gumbel, puct, uct"),
        (
            "mcts:rollouts?rule=gumbel&reuse=true",
            SettingError,
            "reuse=true: rule=gumbel divides its simulations from an",
        ),
        ("mcts:rollouts?rule=puct&c=2", SettingError, "rule=puct has no constant 'c'; it has c_init"),
        ("mcts:rollouts?prior_temperature=2", SettingError, "remove prior_temperature; rollouts have no network"),
        ("mcts:rollouts?rollout_share=1", SettingError, "remove rollout_share; rollouts have no network"),
        ("mcts:level:1?rollouts=4", SettingError, "remove rollouts; without rollout_share, only mcts:rollouts plays"),
        ("mcts:level:1?rollout_share=2", SettingError, "rollout_share=2.0: must be from 0 to 1"),
    ],
)
def test_bad_names_are_refused(run_dir: Path, name: str, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        make_player(name, GAME, run_dir)


def boldly(c: float = 2.0) -> Rule:
    """A rule from outside the package."""
    return uct(c)._replace(name="boldly")


def hashed(game):
    """An evaluator from outside the package."""
    return HashedEvaluator(game.num_distinct_actions)


def test_rules_and_evaluators_can_be_added_from_outside(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert make_rule(f"{__name__}:boldly", {"c": 3.0}).name == "boldly"
    points = (
        f"[selfplay.search_rules]\nboldly = {__name__}:boldly\n[selfplay.mcts_evaluators]\nhashed = {__name__}:hashed\n"
    )
    install_entry_points(tmp_path, points)
    monkeypatch.syspath_prepend(tmp_path)
    player = make_player("mcts:hashed?rule=boldly&simulations=3", GAME, run_dir)
    assert isinstance(player, MctsPlayer)
    assert player.search.rule.name == "boldly"


@pytest.mark.slow
def test_with_a_temperature_actions_are_drawn_from_the_policy(run_dir: Path) -> None:
    player = make_player("mcts:level:2?rule=puct&simulations=40&temperature=0.5", GAME, run_dir)
    visits = player.value_actions(GAME.init()).visits.double()
    torch.testing.assert_close(player.policy(GAME.init()), visits**2 / (visits**2).sum())
    actions = player.act(GAME.init(50), Draws(KEY, torch.arange(50), 0))
    assert len(actions.unique()) > 4
