"""Players as engines of the Universal Chess Interface: dialogues as text."""

from textwrap import dedent
from time import sleep

import pytest

from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.playing.open_session import make_engine
from selfplay.protocols.uci.engine import UciEngine
from selfplay.search.deadline import LEAST_SECONDS, current_deadline
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import UciSettings
from selfplay.settings.run import Run
from tests.support.engine_dialogue import dialogue
from tests.support.runs import COMMAND, PROJECT, run_forked
from tests.support.stub_players import FirstLegal


def engine(name="breakthrough_8x8", player=FirstLegal):
    return UciEngine(make_game(name), player, 0)


def test_a_match_as_a_board_sends_it():
    # FirstLegal takes the pair of squares that comes first: straight ahead, from the top and the left.
    dialogue(
        engine(),
        """\
> uci
id name selfplay ... first legal
id author selfplay
option name UCI_Variant type combo default breakthrough var breakthrough var breakthrough5 var breakthrough6
uciok
> setoption name Hash value 16
> setoption name UCI_Variant value breakthrough
info string variant breakthrough files 8 ranks 8 pocket 0 template fairy startpos pppppppp/pppppppp/8/8/8/8/PPPP...
> ucinewgame
> isready
readyok
> position startpos
> go depth 8
bestmove a2a3
> position startpos moves a2a3
> go movetime 50
bestmove a7a6
> position startpos moves a2a3 a7a6
> go wtime 1000 btime 1000 winc 10 binc 10
bestmove a3a4
> position startpos moves b2c3
> go infinite
> isready
readyok
> stop
bestmove a7a6
> position startpos moves a2a4
info string error: 'a2a4' is not legal after 0 moves
> position startpos moves a2a3 a7a6 a3a4
> go nodes 5
bestmove a8a7
> position fen pppppppp/pppppppp/8/8/8/8/PPPPPPPP/PPPPPPPP w - - 0 1 moves a2a3
> go
bestmove a7a6
> position fen 8/P7/8/8/8/8/p7/8 w - - 0 1
info string error: game=breakthrough_8x8: its positions cannot be set up; give the moves that lead to them
> go
bestmove (none)
> fly
> quit
> isready
""",
    )


def test_positions_are_set_up_and_a_match_that_is_over_has_no_move():
    dialogue(
        engine("tictactoe"),
        """\
> position fen PP1/pp1/3 w - - 0 1
> go
bestmove P@c3
> position fen PP1/pp1/3 w - - 0 1 moves P@c3
> go
bestmove (none)
> position fen 3/3 w
info string error: '3/3 w' is not a position (FEN) of tictactoe
> position somewhere
info string error: a position is startpos or fen
> position startpos
> go
bestmove P@a3
""",
    )


def test_words_that_are_not_known_before_a_command_are_ignored():
    dialogue(
        engine("tictactoe"),
        """\
> fly isready
readyok
> fly position startpos moves P@a3
> fly go
bestmove P@b3
> register name go code quit
> debug go
> isready
readyok
""",
    )


@pytest.mark.parametrize("position", ["fen PP1/pp1/3 w - - 0 1 moves P@c3", "startpos moves P@d9"])
def test_an_endless_search_without_a_move_answers_when_it_is_stopped(position):
    said, talker = [], engine("tictactoe")
    talker.answer(f"position {position}")
    talker.answer("go infinite")
    talker.background.start(said.append)
    sleep(0.1)
    assert said == []
    talker.background.end()
    assert said == ["bestmove (none)\n"]


class Patient(FirstLegal):
    """Thinks as long as it may; counts how often it was stopped."""

    stopped = 0

    def act(self, state, draws):
        deadline = current_deadline()
        while not deadline.is_over:
            if deadline.is_cancelled:
                self.stopped += 1
            deadline.check()
            sleep(0.01)
        return super().act(state, draws)


@pytest.mark.parametrize("go", ["go depth 3", "go movetime 600000", "go infinite"])
def test_a_search_that_is_stopped_answers_at_once(go):
    talker = engine(player=Patient)
    dialogue(talker, f"> position startpos\n> {go}\n> isready\nreadyok\n> stop\nbestmove a2a3\n")
    assert talker.player.stopped == 1


@pytest.mark.parametrize("go", ["go wtime -50 btime 90000", "go wtime 0", "go movetime -5"])
def test_an_overdrawn_clock_leaves_the_least_time(go):
    class Timed(FirstLegal):
        def act(self, state, draws):
            limits.append(current_deadline().left)
            return super().act(state, draws)

    limits = []
    dialogue(engine(player=Timed), f"> position startpos\n> {go}\nbestmove a2a3\n")
    assert limits[0] <= LEAST_SECONDS


def test_another_board_of_the_game_is_a_variant():
    talker = engine()
    dialogue(
        talker,
        """\
> setoption name UCI_Variant value Breakthrough5
info string variant breakthrough5 files 5 ranks 5 pocket 0 template fairy startpos ppppp/ppppp/5/PPPPP/PPPPP ...
> setoption name UCI_Variant value chess
info string error: 'chess' is not one of the variants breakthrough, breakthrough5, breakthrough6
> position startpos moves c2c3
> go
bestmove a4a3
""",
    )
    assert (talker.game.name, talker.player.game.name) == ("breakthrough", "breakthrough")


def test_stones_are_dropped_and_passes_are_moves():
    dialogue(
        engine("connect_four"), "> position startpos moves P@d1 P@d2\n> go\nbestmove P@a1\n> go ponder\nbestmove P@a1\n"
    )
    moves = "P@d2 P@d1 P@a3 P@d3 P@c1 P@a2 P@b1 P@a1"
    dialogue(engine("othello_4x4"), f"> position startpos moves {moves}\n> go\nbestmove 0000\n")


def test_the_usual_player_is_that_of_the_board(tmp_path):
    made = make_engine(UciEngine, Run.of(compose_settings_of(UciSettings, "uci", [f"run_dir={tmp_path / 'none'}"])))
    assert (made.game.name, made.player.name.partition("?")[0]) == ("breakthrough_8x8", "pretrained")


@pytest.mark.slow
def test_the_session_that_the_documentation_shows():
    page = (PROJECT / "docs" / "engines.md").read_text()
    talker = engine("breakthrough_8x8", lambda game: make_player("random", game))
    dialogue(talker, dedent("".join(page.partition("    > uci\n")[1:]).partition("\n\n")[0]))


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("sumto100", "UCI is for games on boards"),
        ("dots_and_boxes", "UCI writes different moves alike"),
        # After a mill a stone of the other player is taken off.
        ("nine_mens_morris", "UCI cannot write moves that change the board as they do"),
    ],
)
def test_a_game_that_the_protocol_cannot_tell_is_rejected(game, reason):
    with pytest.raises(SettingError, match=reason):
        make_engine(UciEngine, Run.of(compose_settings_of(UciSettings, "uci", [f"game={game}"])))


def test_the_program_writes_only_answers_to_stdout():
    result = run_forked(COMMAND, "uci", "player=random", stdin="isready\nquit\nisready\n")
    assert (result.returncode, result.stdout, result.stderr) == (0, "readyok\n", "")
