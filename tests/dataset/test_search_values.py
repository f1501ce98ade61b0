"""Values of searches as targets."""

from pathlib import Path

import pytest
import torch

from selfplay import learn_levels
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.dataset.target_rules import full, rootstrap, watkins
from selfplay.dataset.targets import PlayedMatches, exact_values, is_move
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.outcomes import disc_difference, match_return
from selfplay.matches.arena import play_batch
from selfplay.named_players.make import make_player
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.runs.levels import load_level
from tests.support.runs import files_of, tiny_settings

KEY = stream_key(3, 1, Activity.GENERATION)


def played_by(player: Player, name: str, number: int = 12, **options: object) -> PlayedMatches:
    game, matches = make_game(name), torch.arange(number)
    exploring = EpsilonGreedyPlayer(game, player, [0.5])
    record = play_batch(game, (exploring, exploring), matches, torch.zeros(number, dtype=torch.int8), KEY)
    return PlayedMatches(game, record, (exploring, exploring), KEY, 1.0, **options)


@pytest.mark.parametrize(("architecture", "depths"), [("mlp", [1, 2]), ("ntuple", [1, 2, 3])])
def test_a_target_is_the_value_of_the_action_to_a_player_that_looks_one_ply_further(
    architecture: str, depths: list[int], tmp_path: Path
) -> None:
    learn_levels(tiny_settings(tmp_path, f"architecture={architecture}", "levels=1"))
    found = set[float]()
    for depth in depths:
        played = played_by(load_level(tmp_path), "tictactoe", rootstrap_depth=depth)
        targets, further = rootstrap(played), load_level(tmp_path, depth=depth + 1)
        for ply, action in enumerate(played.record.actions):
            rows = is_move(played.game, action).nonzero()[:, 0]
            expected = further.action_values(played.record.states[ply])[rows, action[rows]]
            assert torch.allclose(targets[ply, rows], expected, atol=1e-6)
        found |= set(targets.flatten().tolist())
    assert len(found) >= 10


def test_late_afterstates_have_their_exact_values() -> None:
    player = make_player("search:negascout?depth=1&evaluation=discs", make_game("othello_4x4"), "")
    played = played_by(player, "othello_4x4", outcome=disc_difference, exact_from=6)
    targets = rootstrap(played)
    exact = exact_values(played)
    known = 0
    for ply, values in enumerate(exact[1:]):
        late = is_move(played.game, played.record.actions[ply]) & ~values.isnan()
        assert torch.equal(targets[ply][late], -values[late] + 0.0)
        known += int(late.sum())
    assert known > 12


def test_the_rest_of_a_share_is_the_target_of_watkins() -> None:
    player = make_player("search:negascout?depth=1&evaluation=discs", make_game("othello_4x4"), "")
    played = played_by(player, "othello_4x4", outcome=disc_difference)
    mixed = rootstrap(played._replace(rootstrap_share=0.25))
    assert torch.allclose(mixed, 0.25 * rootstrap(played) + 0.75 * watkins(played))
    assert not torch.allclose(mixed, watkins(played), atol=0.05)
    # Against another player the search counts alone.
    against = played._replace(players=(played.players[0], RandomPlayer(played.game)))
    assert torch.equal(rootstrap(against._replace(rootstrap_share=0.25)), rootstrap(against))


def test_level_0_has_the_targets_of_full() -> None:
    game, matches = make_game("othello_4x4"), torch.arange(20)
    record = play_batch(game, (RandomPlayer(game),) * 2, matches, torch.zeros(20, dtype=torch.int8), KEY)
    played = PlayedMatches(game, record, (RandomPlayer(game),) * 2, KEY, 1.0, match_return, exact_from=5)
    assert torch.equal(rootstrap(played), full(played))


def test_a_discount_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"^gamma=0.9: cannot be combined .* does not discount; set gamma=1$"):
        tiny_settings(tmp_path, "targets=rootstrap")


def test_a_depth_that_the_network_cannot_search_is_refused_before_any_match(tmp_path: Path) -> None:
    settings = tiny_settings(tmp_path, "targets=rootstrap", "gamma=1", "rootstrap_depth=4")
    with pytest.raises(SettingError, match=r"^rootstrap_depth=4: architecture=mlp searches at most 3 plies ahead$"):
        learn_levels(settings)
    assert files_of(tmp_path) == {}
