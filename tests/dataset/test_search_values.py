"""Values of searches as targets."""

from pathlib import Path

import pytest
import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.searched_targets import with_values
from selfplay.dataset.target_rules import PlayedMatches, full, is_move, watkins
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.outcomes import disc_difference, match_return
from selfplay.matches.arena import play_batch
from selfplay.named_players.make import make_player
from selfplay.players.exploring import EpsilonGreedyPlayer, OpeningPlayer, opening_lengths
from selfplay.players.kept_searches import KeepsSearches
from selfplay.players.player import Player, RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.training.fitting import initial_network
from tests.support.runs import tiny_settings

KEY = stream_key(3, 1, Activity.GENERATION)


def played_by(player: Player, name: str, number: int = 12, **options: object) -> PlayedMatches:
    game, matches = make_game(name), torch.arange(number)
    exploring = EpsilonGreedyPlayer(game, player, [0.5])
    record = play_batch(game, (exploring, exploring), matches, torch.zeros(number, dtype=torch.int8), KEY)
    return PlayedMatches(game, record, (exploring, exploring), KEY, 1.0, **{"value_share": 1.0, **options})


def targets_of(played: PlayedMatches) -> torch.Tensor:
    return with_values(played, watkins(played))


def search_with_random_weights(name: str, options: str) -> SearchPlayer:
    """The search of a level of the game with this name, which has random weights."""
    game = make_game(name)
    network = initial_network(game, {"name": "ntuple"})
    torch.nn.init.normal_(network.weight, std=0.1, generator=torch.Generator().manual_seed(0))
    outcome = "return" if game.rules.margin is None else "disc_difference"
    agent = Agent(Checkpoint(network, {"outcome": outcome}), game, "level 1")
    player = make_player(f"search:negascout?{options}", game, itself=agent)
    assert isinstance(player, SearchPlayer)
    return player


@pytest.mark.parametrize("name", ["tictactoe", pytest.param("othello_4x4", marks=pytest.mark.slow)])
def test_a_target_is_the_value_of_the_action_to_a_search_that_looks_one_ply_further(name: str) -> None:
    found, outcome = set[float](), match_return if name == "tictactoe" else disc_difference
    for depth in (1, 2, 3):
        played = played_by(KeepsSearches(search_with_random_weights(name, f"depth={depth}")), name, outcome=outcome)
        targets, further = targets_of(played), search_with_random_weights(name, f"depth={depth + 1}")
        for ply, action in enumerate(played.record.actions):
            rows = is_move(played.game, action).nonzero()[:, 0]
            expected = further.action_values(played.record.states[ply])[rows, action[rows]]
            assert torch.allclose(targets[ply, rows], expected, atol=1e-6)
        found |= set(targets.flatten().tolist())
    assert len(found) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("options", ["depth=3&endgame=6", "depth=3&endgame=6&slack=0"])
def test_positions_that_the_player_solves_have_values_on_the_scale_of_the_outcome(options: str) -> None:
    player = KeepsSearches(search_with_random_weights("othello_4x4", options))
    played = played_by(player, "othello_4x4", outcome=disc_difference)
    targets, exact, late = targets_of(played), played._replace(exact_from=6).exact_values(), 0
    for ply, values in enumerate(exact[1:]):
        rows = is_move(played.game, played.record.actions[ply]) & ~values.isnan()
        assert torch.allclose(targets[ply][rows], -values[rows])
        late += int(rows.sum())
    assert late > 12


@pytest.mark.slow
def test_late_afterstates_have_their_exact_values() -> None:
    player = KeepsSearches(search_with_random_weights("othello_4x4", "depth=3"))
    played = played_by(player, "othello_4x4", outcome=disc_difference, exact_from=6)
    targets = targets_of(played)
    exact = played.exact_values()
    known = 0
    for ply, values in enumerate(exact[1:]):
        late = is_move(played.game, played.record.actions[ply]) & ~values.isnan()
        assert torch.equal(targets[ply][late], -values[late] + 0.0)
        known += int(late.sum())
    assert known > 12


@pytest.mark.slow
def test_the_rest_of_a_share_is_the_target_of_the_rule() -> None:
    player = KeepsSearches(search_with_random_weights("othello_4x4", "depth=3"))
    played = played_by(player, "othello_4x4", outcome=disc_difference)
    mixed = targets_of(played._replace(value_share=0.25))
    assert torch.allclose(mixed, 0.25 * targets_of(played) + 0.75 * watkins(played))
    assert not torch.allclose(mixed, watkins(played), atol=0.05)


def test_level_0_has_the_targets_of_full() -> None:
    game, matches = make_game("othello_4x4"), torch.arange(20)
    record = play_batch(game, (RandomPlayer(game),) * 2, matches, torch.zeros(20, dtype=torch.int8), KEY)
    how = {"exact_from": 5, "value_share": 0.5}
    played = PlayedMatches(game, record, (RandomPlayer(game),) * 2, KEY, 1.0, match_return, **how)
    assert torch.equal(targets_of(played), full(played))


def test_positions_before_the_last_random_ply_of_the_opening_become_no_rows() -> None:
    game, matches = make_game("tictactoe"), torch.arange(40)
    player = OpeningPlayer(game, make_player("search:minimax?depth=1", game, ""), 4)
    record = play_batch(game, (player, player), matches, torch.zeros(40, dtype=torch.int8), KEY)
    played = PlayedMatches(game, record, (player, player), KEY, 1.0, opening_plies=4)
    rows, lengths = match_rows(played, full), opening_lengths(Draws(KEY, matches, 0), 4)
    assert set(lengths.tolist()) == {0, 1, 2, 3, 4}
    for match, length in enumerate(lengths.tolist()):
        plies = rows.ply[rows.match == match].tolist()
        last = int((torch.stack(record.actions)[:, match] >= 0).sum()) - 1
        assert plies == list(range(max(0, length - 1), last + 1))


def test_a_discount_is_refused(tmp_path: Path) -> None:
    message = (
        r"^learner.gamma=0.9: cannot be combined with learner.value_share=0.5, whose values are not discounted; "
        "set learner.gamma=1$"
    )
    with pytest.raises(SettingError, match=message):
        tiny_settings(tmp_path, "learner.value_share=0.5")
