"""GTP engines as players: the commands sent, the matches, and the names."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from selfplay import play_matches
from selfplay.compute.bit_algebra import bit_count, rule
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.games.tictactoe import TicTacToe, tictactoe_rules
from selfplay.named_players.make import make_player
from selfplay.named_players.names import parse_name
from selfplay.players.capabilities import FollowsMatch, chosen_action
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import RandomPlayer
from selfplay.protocols.gtp.player import GtpPlayer
from selfplay.protocols.process import FOLDERS
from tests.support.gtp_tools import GAME, KEY, assert_all_ended, command, fake, sequences, told
from tests.support.stub_players import Drawing, FirstLegal

PLACES = os.pathsep.join([os.environ["PATH"], *FOLDERS])
RHINO, GNU_GO = shutil.which("gtp-rhino", path=PLACES), shutil.which("gnugo", path=PLACES)

# ---------------------------------------------------------------------- the conversation


def test_each_ply_is_sent_to_an_engine_once(tmp_path: Path) -> None:
    player = fake(tmp_path)
    # B2 is the action 4; the engine takes A1, B1 and C1.
    match = Match(GAME).play(4)
    assert chosen_action(player, match, None) == 0
    assert chosen_action(player, match.play(0).play(8), None) == 1
    assert told(tmp_path) == [
        *("list_commands", "boardsize 3"),
        *("clear_board", "play B B2", "genmove W", "play B C3", "genmove W"),
    ]
    # Another match, of which it does not know the start.
    assert chosen_action(player, Match(GAME), None) == 0
    assert told(tmp_path)[-2:] == ["clear_board", "genmove B"]
    player.close()
    assert told(tmp_path)[-1] == "quit"
    assert_all_ended(tmp_path)


MARKS = tictactoe_rules(3)
Position: Any = MARKS.position
mark: Any = MARKS.play


@rule
def has_second_stone(p: Any) -> bool:
    return bit_count(p.own | p.opp) % 2 == 0


@rule
def play(p: Any, action: int) -> Any:
    after = mark(p, action)
    if has_second_stone(after):
        return Position(after.opp, after.own)
    return after


class Pairs(TicTacToe):
    """After the first stone, players place two stones each."""

    rules = MARKS._replace(play=play, moves_again=has_second_stone)

    def __init__(self) -> None:
        super().__init__()
        self.rules = type(self).rules


def test_plies_are_sent_with_the_colour_of_the_player_who_took_them(tmp_path: Path) -> None:
    game, actions = Pairs(), [8, 4, 5]
    player = GtpPlayer(game, command(tmp_path))
    assert chosen_action(player, Match(game).play_all(actions), None) == 0
    assert told(tmp_path)[-4:] == ["play B C3", "play W B2", "play W C2", "genmove B"]
    player.close()


def test_an_engine_plays_the_same_matches_as_the_equivalent_player(tmp_path: Path) -> None:
    opening_plies = 3
    against = Drawing(GAME)
    ours = sequences((FirstLegal(GAME), against), range(4), opening_plies=opening_plies, batch_size=1)
    assert sequences((fake(tmp_path), against), range(4), opening_plies=opening_plies) == ours


def test_the_match_is_resent_to_an_engine_whose_actions_are_replaced(tmp_path: Path) -> None:
    exploring = EpsilonGreedyPlayer(GAME, fake(tmp_path), [0.5])
    same = EpsilonGreedyPlayer(GAME, FirstLegal(GAME), [0.5])
    against = RandomPlayer(GAME)
    assert isinstance(exploring.unwrapped, FollowsMatch)
    assert exploring.policy(GAME.init()) is None
    assert sequences((exploring, against), range(10)) == sequences((same, against), range(10), batch_size=1)


@pytest.mark.slow
@pytest.mark.parametrize("passes", ["skip", "send"])
def test_our_engine_plays_the_same_match_as_its_player(passes: str) -> None:
    """Uses othello_4x4, which has many passes."""
    game, name = make_game("othello_4x4"), "search:negascout?depth=2&evaluation=discs"
    own = f"{sys.executable} -m selfplay gtp game=othello_4x4 player={name} rows=bottom"
    engine = make_player(f"gtp:{own}?rows=bottom&passes={passes}", game, ".")
    direct, against = make_player(name, game, "."), RandomPlayer(game)
    through = sequences((engine, against), range(10), game, opening_plies=2)
    assert through == sequences((direct, against), range(10), game, opening_plies=2, batch_size=1)
    assert any(game.pass_action in actions for actions, _ in through)


# ---------------------------------------------------------------------- sessions and names


@pytest.mark.parametrize(
    ("text", "argument", "options"),
    [
        ("gtp:gtp-rhino -l 2?time_limit=5", "gtp-rhino -l 2", {"time_limit": 5.0}),
        ("gtp:a b=c?depth=2?time_limit=5&rows=top", "a b=c?depth=2", {"time_limit": 5.0, "rows": "top"}),
    ],
)
def test_a_command_may_contain_a_question_mark(text: str, argument: str, options: dict[str, object]) -> None:
    name = parse_name(text)
    assert (name.kind, name.argument, name.given) == ("gtp", argument, options)


# ---------------------------------------------------------------------- third-party engines


@pytest.mark.parametrize(
    ("name", "command"),
    [
        pytest.param(
            "othello",
            "gtp-rhino -l 1",
            marks=pytest.mark.skipif(RHINO is None, reason="gtp-rhino is not installed (Debian's package grhino)"),
        ),
        pytest.param(
            "go",
            "gnugo --mode gtp --chinese-rules --capture-all-dead --level 1",
            marks=pytest.mark.skipif(GNU_GO is None, reason="GNU Go is not installed (Debian's package gnugo)"),
        ),
    ],
)
def test_a_third_party_engine_plays_whole_matches_by_the_rules(name: str, command: str) -> None:
    game = make_game(name)
    players = RandomPlayer(game), make_player(f"gtp:{command}", game, ".")
    for record in play_matches(game, players, range(1), KEY, opening_plies=4):
        assert record.forfeits == ()
        state = game.init()
        for action in record.actions:
            state = game.step(state, action)
        assert bool(state.terminated)
