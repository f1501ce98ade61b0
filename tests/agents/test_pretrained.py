"""The agents that come with the program."""

from pathlib import Path
from zlib import compress

import pytest
import torch

from selfplay.agents.agent import Agent
from selfplay.agents.pretrained import (
    OTHER_SIZES,
    PRETRAINED_FOLDER,
    find_pretrained,
    pretrained_agent,
    pretrained_agents,
    search_depth,
)
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.named_players.make import files_of_player, make_player
from selfplay.named_players.strengths import judge_name, strengths
from selfplay.players.value_net import ValueNetPlayer
from selfplay.playing.open_session import open_session, usual_player
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings, WebSettings
from selfplay.settings.run import Run
from selfplay.web.offers import offered_players

DRAWS = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.arange(1), 0)
GAMES = sorted(pretrained_agents())
NAMES = ["pretrained", "search:negascout?depth=3&evaluation=pretrained", "mcts:pretrained?simulations=20"]


DEEP = ["breakthrough", "breakthrough_6x6", "breakthrough_8x8", "draughts", "nine_mens_morris", "othello_6x6"]
"""Games whose agents look further ahead."""


def test_larger_games_have_one() -> None:
    assert set(GAMES) == {
        "connect_four",
        "go",
        "go_7x7",
        "go_13x13",
        "gomoku",
        "gomoku_other_sizes",
        "hex",
        "othello",
        *DEEP,
    }
    # As in the wheel, which is compressed.
    size = sum(len(compress(path.read_bytes())) for path in PRETRAINED_FOLDER.rglob("*") if path.is_file())
    assert size < 15_000_000


@pytest.mark.parametrize(
    "name", ["breakthrough", *(pytest.param(name, marks=pytest.mark.slow) for name in DEEP if name != "breakthrough")]
)
def test_agents_that_look_further_ahead_do_so_wherever_they_play(name: str, tmp_path: Path) -> None:
    game, depth = make_game(name), search_depth(name, 1)
    assert depth > 3
    assert f"evaluation=pretrained&depth={depth}&" in strengths(game)["strongest"].player
    assert f"evaluation=pretrained&depth={depth - 1}" in strengths(game)["hard"].player
    assert f"depth={depth}&table_bits=14&evaluation=pretrained" in judge_name(game)[0]
    assert usual_player(game, RunFolder(tmp_path)) == f"pretrained?depth={depth}"
    offered = offered_players(game, tmp_path, WebSettings(str(tmp_path), GameSettings(name)), ["pretrained"])
    assert [offer.label for offer in offered] == ["Pretrained", f"Pretrained, {depth} plies"]


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_it_plays_like_the_level_of_its_run(name: str, tmp_path: Path) -> None:
    game = "gomoku" if "mcts" in name else "connect_four"
    state, run_dir = make_game(game).init(), pretrained_agent(game).parent.parent
    level = RunFolder(run_dir).newest_level()
    same = name.replace("pretrained", f"level:{level}")
    players = [make_player(text, make_game(game), folder) for text, folder in ((name, tmp_path), (same, run_dir))]
    actions = [player.act(state, DRAWS) for player in players]
    assert torch.equal(*actions)
    assert pretrained_agent(game) in files_of_player(name, tmp_path)


@pytest.mark.parametrize(
    "name", ["connect_four", *(pytest.param(name, marks=pytest.mark.slow) for name in ("hex", *DEEP))]
)
def test_it_beats_the_random_player(name: str) -> None:
    game = make_game(name)
    # One ply ahead, for which no search is compiled.
    player = ValueNetPlayer(game, Agent.load(pretrained_agent(name), game, "pretrained").network)
    other = make_player("random", game, "")
    wins = 0
    for match in range(10):
        state, ply = game.init(), 0
        while not bool(state.terminated[0]):
            draws = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.tensor([match]), ply)
            state, ply = game.step(state, (player, other)[int(state.current_player)].act(state, draws)), ply + 1
        wins += int(state.returns[0] > 0)
    assert wins >= 9


@pytest.mark.slow
def test_boards_that_no_agent_was_trained_on_have_one_for_all_sizes(tmp_path: Path) -> None:
    agents = ((game, folder, max(sizes)) for game, of_game in OTHER_SIZES.items() for folder, sizes in of_game.items())
    for game, folder, size in agents:
        board = make_game(game, size=size)
        assert strengths(board)["hard"].player.startswith("mcts:pretrained?")
        assert judge_name(board)[0].startswith("mcts:pretrained?")
        assert usual_player(board, RunFolder(tmp_path)) == "mcts:pretrained"
        path = pretrained_agent(board.name)
        assert path.parents[1].name == folder
        assert Agent.load(path, board).network(board.observe(board.init())).policy_logits.shape[1] >= board.num_squares
        offered = offered_players(board, tmp_path, WebSettings(str(tmp_path), GameSettings(board.name)), ["pretrained"])
        assert next(iter(offered)).about.endswith("learned by self-play on another size of the board")
    assert pretrained_agent("gomoku").parents[1].name == "gomoku"
    assert find_pretrained("gomoku_7x7") is find_pretrained("hex_5x5") is None
    # Of other rules than those that were learned there is none.
    assert find_pretrained("gomoku_15x15_length=4") is None


def test_a_game_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SettingError,
        match=r"^no pretrained agent for game=tictactoe; games with one: breakthrough, breakthrough_6x6, b",
    ):
        make_player("pretrained", make_game("tictactoe"), tmp_path)


def test_a_person_without_a_run_meets_it(tmp_path: Path) -> None:
    settings = compose_settings_of(PlaySettings, "play", ["game=connect_four", f"run_dir={tmp_path / 'none'}"])
    _, opponent = open_session(Run.of(settings)).players
    assert opponent is not None
    assert opponent.name == "pretrained"


@pytest.mark.slow
def test_an_agent_with_a_policy_plays_inside_a_tree_search(tmp_path: Path) -> None:
    game = make_game("gomoku")
    settings = compose_settings_of(PlaySettings, "play", ["game=gomoku", f"run_dir={tmp_path / 'none'}"])
    _, opponent = open_session(Run.of(settings)).players
    assert opponent is not None
    assert opponent.name == "mcts:pretrained"
    # Black has four in a row with one end open, and takes it; White closes it where White is to move.
    moves = ["e5", "e9", "e6", "a1", "e7", "b1", "e8", "e4"]
    assert game.action_to_string(int(opponent.act(game.state_after(moves[:7]), DRAWS))) == "e4"
    moves = ["e5", "e9", "e6", "a1", "e7", "b1", "e8", "i1"]
    assert game.action_to_string(int(opponent.act(game.state_after(moves), DRAWS))) == "e4"
