"""How levels are offered as opponents: what they are, and inside a search."""

import re
from pathlib import Path

from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.games import Game, make_game
from selfplay.players.search import SearchPlayer
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import WebSettings
from selfplay.web.offers import judge_offer, level_offers
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.search_offers import level_search_offers

LIMITS = WebSettings(".", search_seconds=2.0, deepest_search=8)


def save_level(run_dir: Path, level: int, name: str, game: Game) -> None:
    network = build_network({"name": name}, game.observation_shape, game.num_distinct_actions)
    path = RunFolder(run_dir).agent(level)
    path.parent.mkdir(parents=True)
    save_checkpoint(path, network, game, level, {"name": name}, {}, "disc_difference")


def test_the_newest_level_is_offered_inside_a_search(tmp_path: Path) -> None:
    game = make_game("othello_4x4")
    save_level(tmp_path, 1, "mlp", game)
    assert list(level_search_offers(game, tmp_path, LIMITS)) == []
    save_level(tmp_path, 2, "ntuple", game)
    offers = list(level_search_offers(game, tmp_path, LIMITS))
    assert [offer.id for offer in offers] == [f"level-2-search-{depth}" for depth in range(2, 9)]
    chosen = [offer for offer in offers if offer.is_default]
    assert [offer.label for offer in chosen] == ["Level 2, looking 6 plies ahead"]
    assert (
        chosen[0].about
        == "tables of patterns, learned by self-play, inside a search, and plays the last 12 squares perfectly"
    )
    player = chosen[0].make()
    assert isinstance(player, SearchPlayer)
    assert (player.depth, player.endgame, player.time_limit) == (6, 12, LIMITS.search_seconds / 3)
    assert player.points_per_value == 16
    # Two matches use the same tables, which are read once, but separate searches.
    other = chosen[0].make()
    assert isinstance(other, SearchPlayer)
    assert other.searcher is not player.searcher
    assert other.searcher.evaluation is player.searcher.evaluation


def test_a_level_that_cannot_be_read_is_still_listed(tmp_path: Path) -> None:
    game = make_game("othello_4x4")
    save_level(tmp_path, 1, "ntuple", game)
    RunFolder(tmp_path).agent(1).write_bytes(b"broken")
    assert [offer.label for offer in level_offers(game, tmp_path, LIMITS)] == ["Level 1"]
    assert list(level_search_offers(game, tmp_path, LIMITS)) == []


def test_in_a_game_of_ones_own_strengths_and_judge_are_what_a_run_knows_by_now(tmp_path: Path) -> None:
    game, run = make_game("tests.support.kalah:Kalah"), RunFolder(tmp_path)
    catalog = OpponentCatalog(WebSettings(str(tmp_path), game=GameSettings("tests.support.kalah:Kalah")))
    game = catalog.game(game.name)
    save_level(tmp_path, 1, "alphazero_mlp", game)
    run.versus_rollouts(1).write_text("level,simulations,rollouts,score\n1,150,1400,0.45\n")
    assert judge_offer(game, tmp_path).label == "Tree search, 4,000 random matches"
    assert [offer.file for offer in (judge_offer(game, tmp_path), catalog.opponent(game, "strongest"))] == [None, None]
    save_level(tmp_path, 2, "alphazero_mlp", game)
    run.versus_rollouts(2).write_text("level,simulations,rollouts,score\n2,150,1400,0.55\n")
    judge = judge_offer(game, tmp_path)
    assert re.fullmatch("Level 2, [0-9,]+ simulations", judge.label)
    assert judge.file == run.agent(2)
    assert judge.make().name.capitalize() == judge.label
    assert [catalog.opponent(game, name).file for name in ("beginner", "strongest")] == [run.agent(2)] * 2
