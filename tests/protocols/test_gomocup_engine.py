"""Players as engines of the Gomocup protocol: dialogues as text."""

from textwrap import dedent

import pytest

from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.installation import __version__
from selfplay.playing.open_session import make_engine
from selfplay.protocols.gomocup.engine import GomocupEngine
from selfplay.protocols.line_engine import answer_lines
from selfplay.search.deadline import current_deadline
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import GomocupSettings
from selfplay.settings.run import Run
from tests.support.runs import COMMAND, PROJECT, run_forked
from tests.support.stub_players import FirstLegal


def engine(make=FirstLegal):
    return GomocupEngine(make_game("gomoku"), make, 0)


def dialogue(engine, text):
    """Feed the lines that begin with `> `; the other lines are what must come back."""
    said = []
    answer_lines(engine, [f"{line[2:]}\r\n" for line in text.splitlines() if line.startswith(">")], said.append)
    assert "".join(said).splitlines() == [line for line in text.splitlines() if not line.startswith(">")]


def test_a_match():
    # FirstLegal takes the first free crossing from the top left along the rows.
    dialogue(
        engine(),
        f"""\
> ABOUT
name="selfplay", version="{__version__}"
> BEGIN
ERROR START must come first
> START 15
OK
> INFO timeout_turn 5000
> INFO rule 0
> INFO folder somewhere
> BEGIN
0,0
> BEGIN
ERROR the board is not empty
> TURN 7,7
1,0
> TURN 1,0
ERROR 1,0 is not empty
> turn 15,0
ERROR '15,0' is not a crossing of a board of 15x15
> TAKEBACK 7,7
ERROR it is not a stone of the player who moved last
> TAKEBACK 1,0
OK
> TAKEBACK 7,7
OK
> TURN 2,0
1,0

> RESTART
OK
> TURN 0,0
1,0
> PLAY 14,14
14,14
> FLY
UNKNOWN command
> RECTSTART 20,15
ERROR rectangular boards are not supported
> START 40
ERROR size=40: gomoku has the sizes 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
> END
> ABOUT
""".replace("\n\n", "\n"),
    )


@pytest.mark.parametrize(
    ("stones", "answer"),
    [
        # White is to move: its own stone is marked 1.
        (["8,8,2", "0,0,1", "4,4,2"], "1,0"),
        # Black is to move; the order of the lines does not matter.
        (["0,0,2", "8,8,2", "1,0,1", "4,4,1"], "2,0"),
        ([], "0,0"),
        (["0,0,1", "1,0,1"], "ERROR the numbers of stones are not those of a match"),
        (["0,0,3"], "ERROR '0,0,3' is not a stone marked 1 or 2"),
        (["0,0,1", "9,0,2"], "ERROR '9,0' is not a crossing of a board of 9x9"),
    ],
)
def test_a_board_is_set_up(stones, answer):
    lines = "".join(f"> {line}\n" for line in ["BOARD", *stones, "DONE"])
    dialogue(engine(), f"> START 9\nOK\n{lines}{answer}\n> RESTART\nOK\n> BEGIN\n0,0\n")


def test_the_session_that_the_documentation_shows():
    page = (PROJECT / "docs" / "engines.md").read_text()
    shown = dedent("".join(page.partition("    > START 9\n")[1:]).partition("\n\n")[0]).splitlines()
    said = []
    answer_lines(engine(), [line[2:] for line in shown if line.startswith(">")], said.append)
    expected = [line for line in shown if not line.startswith(">")]
    assert len(said) == len(expected) == 5
    assert all(line == answer.rstrip() for line, answer in zip(expected, said, strict=True) if line != "...")


def test_the_manager_chooses_whether_longer_lines_win():
    row = "".join(f"> {column},4,2\n> {column},8,1\n" for column in (0, 1, 3, 4, 5))
    six = f"> BOARD\n{row}> 2,4,2\n> DONE\n"
    dialogue(
        engine(),
        f"> START 9\nOK\n> INFO rule 1\n{six}0,0\n> RESTART\nOK\n> INFO rule 0\n{six}"
        "ERROR the match is over\n> INFO rule 4\n> RESTART\nOK\n> BEGIN\n"
        "ERROR only the rules 0 (five or more) and 1 (exactly five) are played\n",
    )
    exact = make_engine(
        GomocupEngine, Run.of(compose_settings_of(GomocupSettings, "gomocup", ["game.exact=true", "player=random"]))
    )
    dialogue(exact, "> START 9\nOK\n")
    assert exact.game.name == "gomoku_exact=1"


def test_a_line_ends_the_match():
    won = "".join(f"> {column},4,2\n> {column},8,1\n" for column in range(4))
    dialogue(
        engine(),
        f"> START 9\nOK\n> BOARD\n{won}> 4,4,2\n> DONE\nERROR the match is over\n> TURN 5,5\nERROR the match is over\n",
    )


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (["timeout_turn 5000", "time_left 2147483647"], 0.9 * 5),
        # A second of the match is kept, and 40 of its moves are expected on the empty board.
        (["timeout_turn 5000", "time_left 82000"], 0.9 * 2),
        (["timeout_turn 5000", "timeout_match 0"], 0.9 * 5),
        (["timeout_match 82000"], 0.9 * 2),
        (["timeout_turn 0"], 0.001),
        (["timeout_match 82000", "time_left -20"], 0.001),
        (["timeout_turn soon"], float("inf")),
    ],
)
def test_moves_take_the_time_that_the_manager_gives(told, seconds):
    class Timed(FirstLegal):
        def act(self, state, draws):
            limits.append(current_deadline().left)
            return super().act(state, draws)

    limits = []
    dialogue(engine(Timed), "\n".join(["> START 9", "OK", *(f"> INFO {line}" for line in told), "> BEGIN", "0,0"]))
    assert limits[0] <= seconds
    assert limits[0] > seconds - 1 or limits[0] == seconds


@pytest.mark.parametrize("prepares", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_without_a_name_the_engine_is_the_usual_player_of_each_board(tmp_path, prepares, monkeypatch):
    if not prepares:
        monkeypatch.setattr("selfplay.playing.open_session.prepare_player", lambda *_: None)
    made = make_engine(
        GomocupEngine, Run.of(compose_settings_of(GomocupSettings, "gomocup", [f"run_dir={tmp_path / 'none'}"]))
    )
    dialogue(made, "> START 9\nOK\n")
    assert made.player.name == "mcts:pretrained"
    dialogue(made, "> START 6\nOK\n")
    assert (made.game.name, made.player.name) == ("gomoku_6x6", "mcts:rollouts?simulations=25000")
    dialogue(made, "> INFO rule 1\n> START 9\nOK\n")
    assert (made.game.name, made.player.name) == ("gomoku_exact=1", "mcts:pretrained")


@pytest.mark.parametrize("game", ["othello", "connect_four", "gomoku height=8"])
def test_a_game_that_the_protocol_does_not_know_is_rejected(game):
    name, *parameters = game.split()
    chosen = [f"game={name}", *(f"game.{one}" for one in parameters)]
    with pytest.raises(SettingError, match="the Gomocup protocol is for Gomoku on square boards"):
        make_engine(GomocupEngine, Run.of(compose_settings_of(GomocupSettings, "gomocup", chosen)))


def test_the_program_writes_only_answers_to_stdout():
    result = run_forked(COMMAND, "gomocup", "player=random", stdin="START 9\nINFO max_memory 0\nBEGIN\nEND\nBEGIN\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("OK\n")
    assert result.stdout.count("\n") == 2


def test_lines_up_to_done_are_one_answer_also_of_commands_that_are_not_known():
    dialogue(
        engine(),
        """\
> START 9
OK
> YXBOARD
> 4,4,1
> 3,3,2
> DONE
> TURN 5,5
0,0
> SWAP2BOARD
> 4,4,1
> DONE
UNKNOWN command SWAP2BOARD
""",
    )
