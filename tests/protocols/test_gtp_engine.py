"""Players as GTP engines: dialogues as text, and the program."""

import re
from pathlib import Path
from textwrap import dedent
from time import sleep
from typing import ClassVar

import pytest
import torch

from selfplay.games import Game, make_game
from selfplay.games.go import Go
from selfplay.installation import __version__
from selfplay.playing.open_session import make_engine, open_session
from selfplay.protocols.clock import Clock
from selfplay.protocols.gtp.engine import GtpEngine
from selfplay.protocols.line_engine import answer_lines, prepare_player
from selfplay.search.deadline import current_deadline
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import GtpSettings, PlaySettings
from selfplay.settings.run import Run
from tests.support.runs import COMMAND, PROJECT, run_forked
from tests.support.stub_players import FirstLegal

DATA = Path(__file__).parents[1] / "data"
PREPARATION = "selfplay.playing.open_session.prepare_player"
"""What compiles the searches of a player; tests of which player it is need no search."""


def engine(name="othello", **options):
    game = make_game(name)
    return GtpEngine(game, FirstLegal, 0, **options)


def dialogue(engine, text):
    """Feed the lines that begin with `> `; the other lines are what must come back, an empty one after each answer."""
    said = []
    answer_lines(engine, [line[2:] for line in text.splitlines() if line.startswith(">")], said.append)
    expected = [line for line in text.splitlines() if not line.startswith((">", "#"))]
    assert "".join(said) == "".join(f"{line}\n" for line in expected)


def test_a_dialogue():
    # The legal first moves of black are d3 c4 f5 e6; FirstLegal takes the first from a1 along the rows.
    dialogue(
        engine(),
        """\
> # hello
> 1 protocol_version
=1 2

> name
= selfplay first legal

>
> known_command genmove
= true

> 2 boardsize 9
?2 unacceptable size

> boardsize 8
=

> clear_board
=

> play B e3
? illegal move

> play green d3
? syntax error

> genmove W
? it is black's turn

> 3 genmove black
=3 D3

> reg_genmove w
= C3

> genmove w
= C3

> undo
=

> play white c5
=

> showboard
=
   a b c d e f g h
 1 . . . . . . . .
 2 . . . . . . . .
 3 . . . X . . . .
 4 . . . X X . . .
 5 . . O O O . . .
 6 . . . . . . . .
 7 . . . . . . . .
 8 . . . . . . . .
black (X) 3, white (O) 3

> final_score
? cannot score

> undo
=

> undo
=

> undo
? cannot undo

> fly
? unknown command

> quit
=

""",
    )


def test_rows_can_be_numbered_from_the_bottom():
    # d3 from the bottom is d6 from the top, which is not legal.
    dialogue(engine(rows="bottom"), "> play b d3\n? illegal move\n\n> play b e3\n=\n\n> genmove w\n= F5\n\n")


def match_with_pass():
    """The plies of a match of othello_4x4 that has a pass in the middle, and the ply of that pass."""
    game = make_game("othello_4x4")
    for seed in range(200):
        generator, state, actions = torch.Generator().manual_seed(seed), game.init(), []
        while not state.terminated:
            mask = game.legal_action_mask(state)[0].double()
            actions.append(int(torch.multinomial(mask, 1, generator=generator)))
            state = game.step(state, torch.tensor(actions[-1:]))
        if game.pass_action in actions:
            return game, actions, actions.index(game.pass_action), state
    raise AssertionError


@pytest.mark.parametrize("told", [True, False], ids=["passes told", "passes left out"])
def test_passes_may_be_sent_or_omitted(told):
    game, actions, _, end = match_with_pass()
    talker = engine("othello_4x4")
    commands = [
        f"play {'BW'[ply % 2]} {game.action_to_string(action)}"
        for ply, action in enumerate(actions)
        if told or action != game.pass_action
    ]
    assert {talker.answer(command) for command in commands} == {"=\n\n"}
    assert list(talker.match.actions) == actions
    black, white = game.points(end)[0].tolist()
    leader = "B" if black > white else "W"
    assert talker.answer("final_score") == (f"= {leader}+{abs(black - white):g}\n\n" if black != white else "= 0\n\n")
    # After the end both may pass, as referees that wait for two passes let them.
    dialogue(talker, "> genmove b\n= PASS\n\n> play w pass\n=\n\n> play w a1\n? illegal move\n\n")
    for _ in range(len(commands) + 2):
        assert talker.answer("undo") == "=\n\n"
    assert list(talker.match.actions) == []
    assert talker.answer("undo") == "? cannot undo\n\n"


def test_the_script_writes_only_answers_to_stdout():
    player, game = "player=search:negascout?depth=1", "game=othello_4x4"
    result = run_forked(COMMAND, "gtp", player, game, stdin="1 genmove b\n\n2 quit\nname\n")
    assert (result.returncode, result.stdout, result.stderr) == (0, "=1 B1\n\n=2\n\n", "")


def test_control_characters_comments_and_leading_spaces_are_left_out_of_a_command():
    made = engine("tictactoe")
    assert made.answer("\x01 12\tna\x7fme\x1b # a comment") == "=12 selfplay first legal\n\n"
    assert made.answer("\x02 # nothing else") == ""


def test_a_game_without_squares_is_rejected_in_one_line():
    result = run_forked(COMMAND, "gtp", "player=random", "game=sumto100")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: game=sumto100: the Go Text Protocol needs")
    assert result.stderr.count("\n") == 1


def test_go_has_rows_from_the_bottom_passes_at_any_time_a_komi_and_points():
    dialogue(
        engine("go_3x3"),
        """\
> play b b2
=

> genmove w
= A3

> play b pass
=

> play w pass
=

> play w pass
=

> final_score
= W+7.5

""",
    )


def test_another_komi_counts_from_now_on_with_the_same_stones_also_after_moves_are_taken_back():
    dialogue(
        engine("go_5x5"),
        """\
> set_free_handicap B2 D4
=

> play w c3
=

> komi 2.5
=

> undo
=

> play w pass
=

> play b pass
=

> final_score
= B+20.5

""",
    )


def test_another_komi_leaves_white_to_move_on_an_empty_board(tmp_path):
    (tmp_path / "white.sgf").write_text("(;GM[1]SZ[3]PL[W];W[bb])")
    dialogue(
        engine("go_3x3"),
        f"""\
> loadsgf {tmp_path / "white.sgf"}
=

> komi 2.5
=

> printsgf
= (;FF[4]AP[selfplay:{__version__}]CA[UTF-8]GM[1]KM[2.5]PL[W]RU[Chinese]SZ[3];W[bb])

""",
    )


class GoFromTheStart(Go):
    """Positions cannot be set up."""

    check_set_up = Game.check_set_up


def test_a_game_whose_positions_cannot_be_set_up_takes_another_komi_too():
    dialogue(
        engine(f"{__name__}:GoFromTheStart_3x3"),
        """\
> play b B2
=

> komi 2.5
=

> play w pass
=

> play b pass
=

> final_score
= B+6.5

""",
    )


def test_all_commands_in_a_session_of_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DATA / "gtp_go.txt").read_text().replace("VERSION", __version__)
    played = engine("go")
    known = set(played.answer("list_commands").removeprefix("=").split())
    said = {line.split()[1] for line in text.splitlines() if line.startswith(">")}
    others = {"version", "list_commands", "lz-analyze", "cputime", "lz-genmove_analyze", "kata-genmove_analyze"}
    others |= {"gogui-analyze_commands", "gogui-setup", "gogui-setup_player"}
    clocks = {"kgs-time_settings", "kata-time_settings", "kata-list_time_settings"}
    assert known - said == others | clocks
    dialogue(played, text)


@pytest.mark.slow
def test_the_session_that_the_documentation_shows():
    page = (PROJECT / "docs" / "engines.md").read_text()
    shown = dedent("".join(page.partition("    > list_commands")[1:]).partition("\n`boardsize`")[0])
    made = make_engine(
        GtpEngine,
        Run.of(compose_settings_of(GtpSettings, "gtp", ["game=go", "player='mcts:rollouts?simulations=1000'"])),
    )
    said = []
    answer_lines(made, [line[2:] for line in shown.splitlines() if line.startswith(">")], said.append)
    expected = "".join(f"{line}\n" for line in shown.splitlines() if not line.startswith(">")) + "\n"
    assert re.fullmatch(re.escape(expected).replace(r"\.\.\.", ".*?"), "".join(said), re.DOTALL)


def test_hex_has_the_letter_i_as_its_programs_write_it():
    dialogue(
        engine("hex"),
        """\
> boardsize 11
=

> play b i11
=

> play w j1
=

> printsgf
= (;FF[4]AP[selfplay:VERSION]CA[UTF-8]GM[11]SZ[11];B[i11];W[j1])

> fixed_handicap 2
? unknown command

""".replace("VERSION", __version__),
    )


def test_hex_is_played_with_swap():
    dialogue(
        engine("hex_3x3_swap=1"),
        """\
> play b c1
=

> play w swap
=

> undo
=

> play w swap-pieces
=

> play b swap-pieces
? illegal move

> showboard
=
   a b c
  1 . . .
   2 . . .
    3 O . .

> printsgf
= (;FF[4]AP[selfplay:VERSION]CA[UTF-8]GM[11]RU[swap]SZ[3];B[c1];W[swap-pieces])

""".replace("VERSION", __version__),
    )


def test_stones_that_cannot_live_are_dead_in_go():
    talker = engine("go_5x5")
    for vertex in ("A3", "B3", "C3", "D3", "E3"):
        assert talker.answer(f"play B {vertex}") == "=\n\n"
        assert talker.answer(f"play W {vertex[0]}2") == "=\n\n"
    dialogue(
        talker,
        """\
> play B pass
=

> play W C5
=

> play B pass
=

> play W pass
=

> final_status_list dead
= C5

> final_status_list seki
=

> final_score
= W+13.5

""",
    )
    alive = talker.answer("final_status_list alive").split()[1:]
    assert sorted(alive) == sorted(f"{column}{row}" for column in "ABCDE" for row in (2, 3))


def test_a_match_that_a_board_has_decided_does_not_go_on():
    dialogue(
        engine("tictactoe"),
        "> play b a1\n=\n\n> play w a2\n=\n\n> play b b1\n=\n\n> play w b2\n=\n\n> play b c1\n=\n\n"
        "> play w c2\n? illegal move\n\n> genmove w\n= PASS\n\n> printsgf\n"
        "? sgf: matches of tictactoe can only be written as txt\n\n",
    )


@pytest.mark.parametrize(
    ("told", "prepares"),
    [("komi 5.5\nboardsize 7", False), pytest.param("boardsize 7\nkomi 5.5", True, marks=pytest.mark.slow)],
)
def test_the_agent_that_comes_with_the_program_plays_with_any_komi_and_other_boards_have_a_player(
    told, prepares, monkeypatch
):
    if not prepares:
        monkeypatch.setattr(PREPARATION, lambda *_: None)
    made = make_engine(GtpEngine, Run.of(compose_settings_of(GtpSettings, "gtp", ["game=go"])))
    for command in told.splitlines():
        assert made.answer(command) == "=\n\n"
    assert (made.game.name, made.player.name) == ("go_7x7_komi=5.5", "mcts:pretrained")
    assert made.player.search.game is made.game
    assert made.answer("boardsize 4") == "=\n\n"
    assert (made.game.name, made.player.name) == ("go_4x4_komi=5.5", "mcts:rollouts?simulations=41000")


@pytest.mark.parametrize("name", ["gomoku", "go"])
def test_columns_have_the_letters_of_the_protocol_which_skips_i(name):
    dialogue(
        engine(name),
        """\
> play B J9
=

> play W I9
? illegal move

> reg_genmove W
= A9

""",
    )
    played = engine(name)
    answer_lines(played, ["play B j9", "play W h8"], lambda _: None)
    assert [played.game.squares(played.match.state)[0, square].item() for square in (8, 16)] == [1, -1]
    heading, first = played.answer("showboard").splitlines()[1:3]
    assert heading.upper().split() == [*"ABCDEFGHJ"]
    assert first.split() == ["9", *8 * ".", "X"]


@pytest.mark.parametrize("game", ["go", "hex", "gomoku_6x6", "tictactoe", "othello", "othello_6x6"])
def test_without_a_name_the_engine_is_the_opponent_that_the_console_has(tmp_path, game, monkeypatch):
    monkeypatch.setattr(PREPARATION, lambda *_: None)
    chosen = [f"game={game}", f"run_dir={tmp_path / 'none'}"]
    made = make_engine(GtpEngine, Run.of(compose_settings_of(GtpSettings, "gtp", chosen)))
    assert made.game.name == game
    assert made.player.name == open_session(Run.of(compose_settings_of(PlaySettings, "play", chosen))).players[1].name


def test_without_a_name_the_engine_is_the_newest_level_of_the_run(tiny_run):
    assert (
        make_engine(
            GtpEngine, Run.of(compose_settings_of(GtpSettings, "gtp", ["game=tictactoe", f"run_dir={tiny_run}"]))
        ).player.name
        == "level 3"
    )


def test_go_stones_of_one_colour_in_a_row_have_a_pass_between_them_and_are_undone_with_it():
    dialogue(
        engine("go_5x5"),
        """\
> get_komi
= 7.5

> play B a1
=

> play B b1
=

> genmove B
= A5

> undo
=

> play W c3
=

> undo
=

> play B b1
? illegal move

""",
    )


@pytest.mark.parametrize(
    ("settings", "told", "seconds"),
    [
        (None, None, None),
        ((0, 1, 0), None, None),  # the protocol's way to say that there is no limit
        # A second is kept for what the computer and the controller take; of 5 seconds too, until the end.
        ((100, 0, 0), None, 0.9 * 99 / 20),
        ((5, 0, 0), None, 0.9 * 4 / 20),
        ((2, 0, 0), None, 0.9 * 1.6 / 20),
        ((5, 0, 0), (1.2, 0), 0.9 * 0.2 / 20),
        ((5, 0, 0), (0.9, 0), 0.0),
        ((0, 30, 3), None, 9.0),
        ((0, 30, 1), None, 27.0),
        ((100, 30, 3), (40, 0), 9.0),
        ((100, 30, 3), (20, 2), 9.0),
        ((100, 0, 0), (0, 0), 0.0),
        ((10, 0, 0, 2), None, 1.8),
    ],
)
def test_the_time_for_a_move_is_a_part_of_what_is_left(settings, told, seconds):
    clock = Clock()
    if settings is not None:
        clock.set(*settings)
    if told is not None:
        clock.tell(0, *told)
    assert clock.seconds_for_move(0) == (None if seconds is None else pytest.approx(seconds))


def test_the_time_of_a_move_is_taken_from_the_main_time_and_then_the_periods_begin(monkeypatch):
    clock = Clock()
    clock.set(100, 30, 3)
    monkeypatch.setattr("selfplay.protocols.clock.monotonic", lambda: 1060.0)
    clock.spend(0, 1000.0)
    assert clock.seconds_for_move(0) == pytest.approx(0.9 * 30 / 3)
    assert clock.seconds_for_move(1, moves=9) == pytest.approx(0.9 * 30 / 3)
    clock.set(100, 0, 0)
    clock.spend(0, 1000.0)
    assert clock.seconds_for_move(0) == pytest.approx(0.9 * 39 / 20)
    assert clock.seconds_for_move(1, moves=180) == pytest.approx(0.9 * 99 / 180)
    # Where a move takes long beside its search, more is kept.
    assert clock.seconds_for_move(1, moves=180, lag=0.1) == pytest.approx(0.9 * 80 / 180)
    assert clock.seconds_for_move(1, moves=180, lag=10) == pytest.approx(0.9 * 60 / 180)
    clock.set(100, 30, 3)
    clock.spend(0, 1000.0)
    clock.spend(0, 1000.0)
    assert clock.seconds_for_move(0) == pytest.approx(0.9 * 30 / 3)


class Timed(FirstLegal):
    """Fails if its searches are not limited in time."""

    def act(self, state, draws):
        assert current_deadline().left < 600
        return super().act(state, draws)


def test_searches_get_the_time_that_the_controller_gives():
    game = make_game("go_5x5")
    timed = GtpEngine(game, Timed, 0)
    assert timed.answer("time_settings 100 0 0") == timed.answer("time_left b 40 0") == "=\n\n"
    assert timed.answer("genmove b") == "= A5\n\n"
    assert timed.answer("time_settings nan 0 0").startswith("? syntax error")
    for settings in ("none", "absolute 100", "byoyomi 100 30 5", "canadian 100 30 5", "fischer 100 5"):
        for family in ("kgs", "kata"):
            assert timed.answer(f"{family}-time_settings {settings}") == "=\n\n"
    assert timed.answer("genmove w") == "= B5\n\n"
    for settings in ("absolute", "fischer 100", "sudden 3", "byoyomi 1 2 x"):
        assert timed.answer(f"kata-time_settings {settings}") == "? syntax error\n\n"


class Gloomy(FirstLegal):
    """Expects to lose."""

    def action_values(self, state):
        return torch.where(self.game.legal_action_mask(state), -0.9, torch.nan)


def test_an_engine_resigns_when_it_has_expected_to_lose_in_three_moves():
    game = make_game("go_5x5")
    loser, brave, patient = (GtpEngine(game, Gloomy, 0, resign=resign) for resign in (-0.8, -0.95, None))
    answers = [[one.answer(f"genmove {colour}")[2:].strip() for colour in "bwbwb"] for one in (loser, brave, patient)]
    assert answers == [["A5", "B5", "C5", "D5", "resign"], *[["A5", "B5", "C5", "D5", "E5"]] * 2]
    for line in ("clear_board", "gogui-setup b E1"):
        assert loser.answer(line) == "=\n\n"
        assert loser.answer("genmove w")[:4] == "= A5"
        for colour in "bw":
            loser.answer(f"genmove {colour}")


def test_a_move_with_an_analysis_says_what_was_expected_and_is_played():
    engine = GtpEngine(make_game("go_3x3"), Gloomy, 0)
    for family in ("lz", "kata"):
        lines = engine.answer(f"{family}-genmove_analyze b 10").splitlines()
        assert (lines[0], lines[1][:12], lines[2][:5], lines[3]) == ("=", "info move A3", "play ", "")
        assert engine.answer("undo") == "=\n\n"
    assert float(engine.answer("cputime").removeprefix("= ")) > 0


def test_the_player_is_made_when_the_match_begins_and_not_for_a_board_that_is_not_played():
    made = []
    engine = GtpEngine(make_game("go"), lambda game: made.append(game.name) or FirstLegal(game), 0)
    assert engine.answer("list_commands").startswith("=")
    assert made == []
    for line in ("boardsize 5", "clear_board"):
        assert engine.answer(line) == "=\n\n"
    assert made == ["go_5x5"]
    for line in ("boardsize 9", "clear_board"):
        made.clear()
        engine = GtpEngine(make_game("go"), lambda game: made.append(game.name) or FirstLegal(game), 0)
        assert engine.answer(line) == "=\n\n"
        assert made == ["go"]


def test_the_values_that_are_said_with_a_move_are_searched_in_its_time():
    class Timed(Gloomy):
        def value_actions(self, state, draws=None):
            limits.append(current_deadline().left)
            return super().value_actions(state, draws)

    limits = []
    engine = GtpEngine(make_game("go_3x3"), Timed, 0)
    assert engine.answer("time_settings 20 0 0") == "=\n\n"
    assert engine.answer("kata-genmove_analyze b 10").startswith("=\ninfo move")
    assert 0 < limits[0] < 1


class Slow(Gloomy):
    """Searches for its values and its move until the time is over."""

    limits: ClassVar[list[float]] = []

    def act(self, state, draws):
        self._search()
        return super().act(state, draws)

    def value_actions(self, state, draws=None):
        self._search()
        return super().value_actions(state, draws)

    def _search(self):
        Slow.limits.append(current_deadline().left)
        sleep(current_deadline().left)


class SlowChoosing(Slow):
    """Has results of searches that its values do not share."""

    def chosen(self, state, draws):
        raise NotImplementedError


class SlowTree(Slow):
    """Moves by the tree with which it has valued its actions."""

    def tree_search(self):
        raise NotImplementedError

    def act(self, state, draws):
        return FirstLegal.act(self, state, draws)


@pytest.mark.parametrize(("player", "searches"), [(Slow, 2), (SlowChoosing, 2), (SlowTree, 1)])
@pytest.mark.parametrize("command", ["genmove b", "lz-genmove_analyze b", "kata-genmove_analyze b"])
def test_values_and_move_share_the_time_for_one_move(command, player, searches):
    engine = GtpEngine(make_game("go_3x3"), player, 0, resign=-0.99)
    assert engine.answer("kata-time_settings byoyomi 0 1 3") == "=\n\n"
    Slow.limits.clear()
    assert engine.answer(command).startswith("=")
    # However late a sleep ends on a busy machine, the limits are not longer.
    assert len(Slow.limits) == searches
    assert all(0.05 < limit < 0.91 / searches for limit in Slow.limits)


def test_a_new_match_has_all_its_time_and_periods_are_not_divided_among_those_that_are_left():
    limits = []

    class Timed(FirstLegal):
        def act(self, state, draws):
            limits.append(current_deadline().left)
            return super().act(state, draws)

    engine = GtpEngine(make_game("go_5x5"), Timed, 0)
    for line in ("time_settings 100 0 0", "time_left b 10 0", "genmove b", "clear_board", "genmove b"):
        assert engine.answer(line).startswith("=")
    assert limits == [pytest.approx(0.9 * 9 / 20, abs=0.1), pytest.approx(0.9 * 99 / 20, abs=0.1)]
    for line in ("kgs-time_settings byoyomi 0 30 5", "time_left b 20 5", "genmove b", "time_settings 0 30 5"):
        assert engine.answer(line).startswith("=")
    for line in ("time_left b 20 5", "genmove b"):
        assert engine.answer(line).startswith("=")
    assert limits[2:] == [pytest.approx(18, abs=0.1), pytest.approx(3.6, abs=0.1)]


def test_a_match_from_a_file_keeps_its_players_and_result_until_it_goes_on(tmp_path):
    path = tmp_path / "match.sgf"
    path.write_text("(;GM[1]SZ[5]KM[7]PB[Ann]PW[Bob]RE[B+2];B[bb];W[dd];B[];W[])")
    engine = GtpEngine(make_game("go_5x5_komi=7"), FirstLegal, 0)
    assert engine.answer(f"loadsgf {path}") == "=\n\n"
    assert "PB[Ann]PW[Bob]RE[B+2]" in engine.answer("printsgf")
    assert engine.answer("undo") == "=\n\n"
    assert "RE[" not in engine.answer("printsgf")
    assert engine.answer("clear_board") == "=\n\n"
    assert "PB[" not in engine.answer("printsgf")
    path.write_text("(;GM[1]SZ[5]KM[7]PB[Ann]RE[B+R])")
    for line in (f"loadsgf {path}", "clear_board"):
        assert engine.answer(line) == "=\n\n"
    assert "RE[" not in engine.answer("printsgf")


class Counting(FirstLegal):
    """Counts the positions in which it is asked."""

    asked = ()

    def act(self, state, draws):
        Counting.asked += (int(self.game.legal_action_mask(state).sum()),)
        return super().act(state, draws)


def test_a_player_is_prepared_at_the_start_and_near_the_end(monkeypatch):
    Counting.asked = ()
    game = make_game("tictactoe")
    prepare_player(Counting(game), game, 0)
    start, end = Counting.asked
    assert (start, 0 < end < 9) == (9, True)


def test_where_a_player_moves_again_the_answer_to_the_other_colour_names_whose_turn_it_is():
    boxes = engine("dots_and_boxes")
    for move in ("b b1", "w a2", "b c2", "w b3"):  # white closes a box
        assert boxes.answer(f"play {move}") == "=\n\n"
    assert boxes.answer("genmove b") == "? it is white's turn again\n\n"
    assert boxes.answer("genmove w") == "= D1\n\n"
    assert boxes.answer("genmove w") == "? it is black's turn\n\n"


def test_files_have_spaces_in_their_names_and_no_folders_are_made(tmp_path):
    file = tmp_path / "my match 3"
    dialogue(
        engine("go_5x5"),
        f"""\
> play b c3
=

> printsgf {file}
=

> printsgf {tmp_path / "new" / "x.sgf"}
? cannot write {tmp_path / "new" / "x.sgf"}: there is no folder {tmp_path / "new"}

> loadsgf {file}
=

> loadsgf {file} 1
=

> genmove w
= A5

""",
    )
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_match_that_goes_on_after_two_passes_keeps_its_moves():
    played = engine("go_5x5")
    for line in ("play b c3", "play w d3", "play b pass", "play w pass", "play b c4"):
        assert played.answer(line) == "=\n\n"
    assert ";B[cc];W[dc];B[cb])" in played.answer("printsgf").replace("\n", "")
    for line in ("play w pass", "play b pass", "play b c2"):
        assert played.answer(line) == "=\n\n"
    # White's pass is a move, after which black moves on.
    assert ";B[cb];W[];B[cd])" in played.answer("printsgf").replace("\n", "")
    assert [played.answer("undo") for _ in range(8)] == ["=\n\n"] * 8
    assert played.answer("undo") == "? cannot undo\n\n"


def test_gogui_sets_positions_up_and_is_told_what_it_can_ask():
    dialogue(
        engine("go_5x5"),
        """\
> gogui-setup b A1 w C3
=

> gogui-setup_player w
=

> genmove w
= A5

> printsgf
=
(;FF[4]AB[ae]AP[selfplay:VERSION]AW[cc]CA[UTF-8]GM[1]KM[7.5]PL[W]RU[Chinese]SZ[5]
;W[aa])

> gogui-setup b
? syntax error

> gogui-setup b A1 x C3
? syntax error

""".replace("VERSION", __version__),
    )
    assert "string/Score/final_score" in engine("go_5x5").answer("gogui-analyze_commands")


def test_matches_of_othello_are_files_in_sgf_too(tmp_path):
    played, file = engine("othello"), tmp_path / "match.sgf"
    for move in ("b f5", "w d6", "b c3"):
        assert played.answer(f"play {move}") == "=\n\n"
    assert played.answer(f"printsgf {file}") == "=\n\n"
    assert "GM[2]" in file.read_text()
    assert ";B[fe];W[df];B[cc]" in file.read_text().replace("\n", "")
    assert played.answer("clear_board") == played.answer(f"loadsgf {file} 3") == "=\n\n"
    assert ";B[fe];W[df])" in played.answer("printsgf").replace("\n", "")
