"""Players as engines of the NBoard protocol: dialogues as text."""

from textwrap import dedent

import pytest

from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.playing.open_session import make_engine
from selfplay.protocols.nboard import NBoardEngine
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import NBoardSettings
from selfplay.settings.run import Run
from tests.support.engine_dialogue import dialogue
from tests.support.runs import COMMAND, PROJECT, run_forked
from tests.support.stub_players import FirstLegal

START = "BO[8 ---------------------------O*------*O--------------------------- *]"


def engine(player="", name="othello"):
    return NBoardEngine(make_game(name), (lambda game: make_player(player, game)) if player else FirstLegal, 0)


def test_a_match_as_nboard_sends_it():
    # FirstLegal takes the first square from a1 along the rows; the board only changes by set game and move.
    dialogue(
        engine(),
        f"""\
> nboard 2
set myname selfplay first legal
> set depth 12
> set contempt 0
> set game (;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[one]PW[two]RE[?]TI[15:00]TY[8]{START}B[F5]W[F6];)
> ping 7
pong 7
> go
=== D3//...
> go
=== D3//...
> move E6/1.20/0.3
> go
=== F4//...
> move A1
status error: action a1 is not legal here: a disc has to enclose ...
> set game (;GM[Othello]TY[10];)
status error: ...
> go
status error: the last match that was sent could not be read; send another one
> hint 2
status error: the last match that was sent could not be read; send another one
> set game (;GM[Othello]TY[8]{START}B[D3];)
> go
=== C3//...
> fly
> learn
learned
> quit
> ping 8
""",
    )


def test_hints_and_an_analysis():
    # b1 leaves black four discs and white one; each reply turns one.
    dialogue(
        engine("search:minimax?depth=1&evaluation=discs", "othello_4x4"),
        """\
> set game (;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]B[b1];)
> hint 2
search A1 0.00 0 1 ...
search C1 0.00 0 1 ...
> hint
search A1 ...
> analyze
analysis 0 3.00
analysis 1 0.00
""",
    )


def test_a_pass_and_the_end():
    game = make_game("othello_4x4")
    talker = engine(name="othello_4x4")
    dialogue(talker, "".join(f"> move {move}\n" for move in ["D3", "D4", "A2", "D2", "C4", "A3", "B4", "A4"]))
    dialogue(talker, "> go\n=== PA//...\n> move PA\n> move D1\n> move pa\n> move A1/2.0/0.1\n")
    assert game.score(talker.match.state) == -16
    dialogue(talker, "> go\nstatus error: the match is over\n> hint 2\nstatus the match is over\n")


def test_a_match_that_ends_in_a_pass_goes_on_with_the_other_colour():
    moves = "B[d3]W[d4]B[a2]W[d2]B[c4]W[a3]B[b4]W[a4]B[pass]"
    text = f"> set game (;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]{moves};)\n"
    dialogue(engine(name="othello_4x4"), f"{text}> go\n=== A1//...\n")


def test_a_player_that_values_nothing_gives_no_hints():
    dialogue(engine(), "> hint 3\nstatus this player does not value moves\n> analyze\n")


def test_a_match_on_another_board_has_the_usual_player_of_that_board(tmp_path):
    made = make_engine(
        NBoardEngine, Run.of(compose_settings_of(NBoardSettings, "nboard", [f"run_dir={tmp_path / 'none'}"]))
    )
    assert (made.game.name, made.player.name) == ("othello", "pretrained")
    made.answer("set game (;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *];)")
    assert (made.game.name, made.player.name) == ("othello_4x4", "negascout?depth=4&evaluation=article")


@pytest.mark.slow
def test_the_session_that_the_documentation_shows():
    page = (PROJECT / "docs" / "engines.md").read_text()
    dialogue(engine("greedy_discs"), dedent("".join(page.partition("    > nboard 2\n")[1:]).partition("\n\n")[0]))


def test_a_game_that_the_protocol_does_not_know_is_rejected():
    with pytest.raises(SettingError, match="the NBoard protocol is for Othello"):
        make_engine(NBoardEngine, Run.of(compose_settings_of(NBoardSettings, "nboard", ["game=go"])))


def test_the_program_writes_only_answers_to_stdout():
    result = run_forked(COMMAND, "nboard", "player=random", stdin="nboard 2\nset depth 1\nping 1\nquit\nping 2\n")
    assert (result.returncode, result.stdout, result.stderr) == (0, "set myname selfplay random\npong 1\n", "")
