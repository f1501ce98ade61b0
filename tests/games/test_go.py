"""Go: numbers of legal positions, captures, ko, the end of a match and its score, and the rules of other programs."""

import os
import shutil

import pytest
import torch

from selfplay import play_matches
from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_words import load, word_rows
from selfplay.compute.positions import field_values, packed_array, packed_fields
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import Game, State, make_game
from selfplay.games.chains import chain_rules
from selfplay.games.conformance import check_game
from selfplay.games.go import Go
from selfplay.games.go_rules import go_rules
from selfplay.games.kernels import compile_kernels
from selfplay.games.random_positions import random_positions
from selfplay.players.player import RandomPlayer
from selfplay.protocols.gtp.notation import Vertices, ask_gtp, colour_of
from selfplay.protocols.process import FOLDERS, EngineProcess

GNU_GO = shutil.which("gnugo", path=os.pathsep.join([os.environ["PATH"], *FOLDERS]))


def after(game: Game, moves: str) -> State:
    return game.position_after(moves)


def legal(game: Game, state: State) -> set[str]:
    return {game.action_to_string(action) for action in game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()}


# ---------------------------------------------------------------------- positions


def reachable_boards(width: int) -> int:
    """The number of boards that can be reached, each seen by the player to move, with passes and without a limit."""
    size = width * width
    rules = go_rules(width, 0.0)
    kernels = compile_kernels(rules, size)

    def fields(positions: torch.Tensor, *names: str) -> torch.Tensor:
        """Positions with these fields as `own`, `opp` and `ko`, at the first ply."""
        values = [field_values(rules.position, positions.numpy(), name) for name in names]
        return torch.from_numpy(packed_fields(rules.position, dict(zip(("own", "opp", "ko"), values, strict=False))))

    found = new = torch.zeros(1, 2, dtype=torch.int64)
    while len(new):
        nobody = torch.zeros(len(new), dtype=torch.int8)
        state = State(new, nobody, nobody.bool(), nobody.float())
        rows, actions = kernels.legal_action_mask(state, size + 1)[:, :size].nonzero(as_tuple=True)
        reached = fields(kernels.step(state.select(rows), actions).position, "own", "opp", "ko")
        known = len(found)
        found, places = torch.cat([found, fields(new, "opp", "own"), reached]).unique(dim=0, return_inverse=True)
        is_new = torch.ones(len(found), dtype=torch.bool)
        is_new[places[:known]] = False
        new = found[is_new]
    return len(fields(found, "own", "opp").unique(dim=0))


@pytest.mark.parametrize(("width", "count"), [(2, 57), (3, 12_675)])
def test_the_boards_that_can_be_reached_are_tromps_legal_positions(width: int, count: int) -> None:
    """Tromp & Farnebäck, "Combinatorics of Go", 2007."""
    assert reachable_boards(width) == count


@pytest.mark.slow
def test_4x4_has_tromps_number_of_positions_in_which_each_chain_has_a_liberty() -> None:
    connected = chain_rules(4).connected

    @compiled
    def count_positions(stones: Words, others: Words) -> int:
        count = 0
        for i in range(len(stones)):
            for j in range(len(stones)):
                own, opp = load(stones, i) | (load(stones, j) << 8), load(others, i) | (load(others, j) << 8)
                empty = ~(own | opp) & 0xFFFF
                count += connected(own, empty) == own and connected(opp, empty) == opp
        return count

    halves = torch.zeros(1, 2, dtype=torch.int64)
    for square in range(8):
        stones = [torch.tensor([black << square, white << square]) for black, white in ((0, 0), (1, 0), (0, 1))]
        halves = torch.cat([halves | stone for stone in stones])
    assert count_positions(*(word_rows(column.contiguous()) for column in halves.unbind(1))) == 24_318_165


# ---------------------------------------------------------------------- captures, ko and suicide


def test_a_single_stone_that_captured_one_may_not_be_captured_at_once() -> None:
    game = make_game("go_5x5")
    moves = "B4 C4 A3 D3 B2 C2 E1 B3 C3"
    board = [
        "   A B C D E",
        " 5 . . . . .",
        " 4 . X O . .",
        " 3 X . X O .",
        " 2 . X O . .",
        " 1 . . . . X",
    ]
    state = after(game, moves)
    assert game.presentation.board_text(state).splitlines()[:-1] == board
    with pytest.raises(IllegalActionError, match="action B3 is not legal here: the position would repeat"):
        game.step(state, torch.tensor([game.string_to_action("B3")]))
    # After one move each, white may capture, and then it is black who may not.
    assert "B3" in legal(game, after(game, f"{moves} E5 A1"))
    recaptured = after(game, f"{moves} E5 A1 B3")
    assert "C3" not in legal(game, recaptured)
    assert game.squares(recaptured)[0, [11, 12]].tolist() == [-1, 0]


def test_the_capture_of_two_stones_may_be_answered_by_a_capture_at_once() -> None:
    game, moves = make_game("go_5x5"), "A1 A2 B1 B2 D1 E5 C2 C1"
    assert game.squares(after(game, moves))[0, 20:].tolist() == [0, 0, -1, 1, 0]
    assert game.squares(after(game, f"{moves} B1"))[0, 20:].tolist() == [0, 1, 0, 1, 0]


def test_no_chain_may_lose_its_last_liberty_by_its_own_move() -> None:
    game = make_game("go_5x5")
    # Black has an eye in the corner of one crossing, and one of two crossings beside it.
    moves = "A2 E5 B2 E4 C2 E3 D1 E2"
    state = after(game, f"{moves} pass")
    assert {"A1", "B1", "C1"} <= legal(game, state)
    state = after(game, f"{moves} pass A1 pass B1 pass")
    assert "C1" not in legal(game, state)  # of three stones
    assert "C1" in legal(game, after(game, f"{moves} pass A1 pass B1"))  # captures two


# ---------------------------------------------------------------------- the end and the score


def test_a_match_ends_after_two_passes_or_at_the_limit() -> None:
    game = make_game("go_3x3")
    assert not bool(after(game, "pass B2 pass").terminated)
    assert bool(after(game, "B2 pass pass").terminated)
    record = next(play_matches(game, (RandomPlayer(game), RandomPlayer(game)), range(200), key=0))
    passes, lengths = game.string_to_action("pass"), set()
    for row in range(200):
        actions = record.actions_of(row)
        lengths.add(len(actions))
        assert len(actions) == 18 or actions[-2:] == [passes, passes]
        assert [passes, passes] not in [actions[ply : ply + 2] for ply in range(len(actions) - 2)]
    assert {2, 18} <= lengths


@pytest.mark.parametrize(
    ("komi", "moves", "score"),
    [
        (None, "pass pass", -7.5),
        (None, "C3 pass pass", 17.5),
        (25.0, "C3 pass pass", 0.0),
        (0.5, "pass C3 pass pass", -25.5),
        # Columns A and B are black's, D and E white's, and C belongs to nobody.
        (0.0, "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 pass pass", 0.0),
        (-1.0, "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 pass pass", 1.0),
        # Dead stones count as alive: white's stone on A1 keeps A2 to A5 from being black's.
        (0.0, "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 pass A1 pass pass", -6.0),
    ],
)
def test_stones_and_what_they_surround_are_counted(komi: float | None, moves: str, score: float) -> None:
    game = Go(5, komi)
    state = after(game, moves)
    assert bool(state.terminated)
    assert float(game.score(state)) == score
    to_move = game.state_at(state.position).returns
    assert float(torch.where(state.current_player == 0, to_move, -to_move)) == (score > 0) - (score < 0)


def test_every_crossing_counts_for_its_owner() -> None:
    game = make_game("go_5x5")
    state = after(game, "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 pass pass")
    assert game.owners(state).tolist() == [[1, 1, 0, -1, -1] * 5]
    (ended,) = game.positions(state)
    exchanged = torch.from_numpy(packed_array([ended._replace(own=ended.opp, opp=ended.own)]))
    assert game.owners(game.state_at(exchanged)).tolist() == [[-1, -1, 0, 1, 1] * 5]


def test_captured_stones_are_counted_by_player() -> None:
    game, actions = make_game("go_5x5"), "A1 A2 B1 B2 D1 E5 C2 C1 B1 pass A1"
    states = [game.state_after(actions.split()[:count]) for count in range(12)]
    batch = State(*map(torch.cat, zip(*states, strict=True)))
    assert [game.presentation.captured_stones(batch.select(torch.arange(n))) for n in (8, 9, 12)] == [
        [0, 0],
        [0, 2],
        [1, 2],
    ]


def test_a_position_is_set_up_without_ko_and_passes() -> None:
    game = make_game("go", 3, komi=2.0)
    board = [0, 1, 0, 1, 0, 1, -1, 1, 0]
    with pytest.raises(IllegalActionError, match="the stone on A1 is in a chain without a liberty; take it off"):
        game.set_up([*board[:6], -1, 1, 1], 1)
    board[6] = 0
    for to_move in (0, 1):
        state = game.set_up(board, to_move)
        assert int(state.current_player) == to_move
        assert game.squares(state).tolist() == [board]
        # No crossing is forbidden by ko, and white's are all suicide.
        assert len(legal(game, state)) == (6 if to_move == 0 else 1)
        # All crossings are black's: 9 to 2, and to 4 more if these are handicap stones, after which white moves.
        ended = game.follow([9, 9], state)
        assert (float(game.score(ended)), float(ended.returns)) == (3.0 if to_move else 7.0, 1.0)
        assert game.komi_in(state) == (6.0 if to_move else 2.0)


def test_the_points_for_handicap_stones_stay_the_same_while_the_match_goes_on_or_has_another_komi() -> None:
    game, other = make_game("go_5x5"), make_game("go_5x5", komi=2.5)
    start = game.set_up([1, 0, 1] + [0] * 22, 1)
    state = game.follow([12, 3, 25, 4, 25, 9, 25, 25], start)
    assert bool(state.terminated)
    assert [game.komi_in(one) for one in (start, state, game.resumed(state, 0))] == [9.5] * 3
    assert other.komi_in(other.set_up_as_in(game, start)) == 4.5
    # A stone alone, or black to move, is no handicap.
    assert [game.komi_in(game.set_up([1] * n + [0] * (25 - n), seat)) for n, seat in ((1, 1), (2, 0))] == [7.5] * 2


def chain_of(stones: list[int], square: int, width: int) -> tuple[set[int], set[int]]:
    """The crossings of the chain with a stone, and its liberties."""
    chain, liberties, waiting = {square}, set[int](), [square]
    while waiting:
        row, column = divmod(waiting.pop(), width)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < width and 0 <= c < width:
                beside = width * r + c
                if stones[beside] == 0:
                    liberties.add(beside)
                elif stones[beside] == stones[square] and beside not in chain:
                    chain.add(beside)
                    waiting.append(beside)
    return chain, liberties


@pytest.mark.parametrize("width", [5, 9])
def test_observations_show_the_stones_of_chains_with_one_liberty_two_and_three(width: int) -> None:
    game = make_game(f"go_{width}x{width}")
    positions = random_positions(game, 60).state
    rows = torch.arange(0, positions.batch_size, max(1, positions.batch_size // 60))
    state = positions.select(rows)
    planes = game.observe(state).flatten(2).bool()
    own, opp = (game.square_bits(game.field(state, name)).bool() for name in ("own", "opp"))
    seen = set[int]()
    for row in range(state.batch_size):
        stones = (own[row].int() - opp[row].int()).tolist()
        for square, stone in enumerate(stones):
            count = len(chain_of(stones, square, width)[1]) if stone else 0
            first = 2 if stone == 1 else 5
            shown = [plane for plane in range(2, 8) if planes[row, plane, square]]
            assert shown == ([first + count - 1] if 1 <= count <= 3 else [])
            seen.update(shown)
    assert seen == {*range(2, 8)}


def test_komi_and_board_are_parts_of_the_name() -> None:
    assert [make_game("go", size).name for size in (9, 7)] == ["go", "go_7x7"]
    assert [make_game("go", size).komi for size in (5, 7, 9)] == [7.5, 9.0, 7.0]
    assert (Go(7, 9.0).name, Go(7, 5.5).name) == ("go_7x7", "go_7x7_komi=5.5")
    assert (Go(7, -0.0).name, Go(7, -0.0).presentation.title) == ("go_7x7_komi=0", "Go 7x7, komi 0")
    for width, komi in ((7, 0.25), (2, None), (20, None), (5, 26.0)):
        with pytest.raises(SettingError, match=r"must be|has the sizes"):
            Go(width, komi)


def test_crossings_are_named_as_in_the_go_text_protocol() -> None:
    game = make_game("go")
    texts = [game.action_to_string(action) for action in (0, 8, 72, 80, 81)]
    assert texts == ["A9", "J9", "A1", "J1", "pass"]
    assert texts[:4] == [Vertices(game).text(action) for action in (0, 8, 72, 80)]
    for text in ("", "I1", "A10", "A0", "A"):
        with pytest.raises(IllegalActionError, match="is not a move; write a crossing from A1 to J9, or pass"):
            game.string_to_action(text)


@pytest.mark.slow
def test_a_larger_board_conforms() -> None:
    check_game("go_5x5")


# ---------------------------------------------------------------------- other programs


@pytest.mark.slow
@pytest.mark.parametrize("width", [5, 7, 9])
def test_matches_are_those_of_open_spiel(width: int) -> None:
    """OpenSpiel ends a match as drawn when a position repeats; such matches are compared up to there."""
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed (pip install -e '.[openspiel]')")
    game, matches, passing = make_game("go", width), 1000, width * width
    theirs = pyspiel.load_game(f"go(board_size={width},komi={game.komi})")
    positions, open_rows = [theirs.new_initial_state() for _ in range(matches)], set(range(matches))
    key, numbers, state = stream_key(0, 0, Activity.MEASUREMENT), torch.arange(matches), game.init(matches)
    seen = [{(0,) * passing} for _ in range(matches)]
    for ply in range(game.max_game_length):
        masks = game.legal_action_mask(state)
        actions = game.kernels.random_actions(state, Draws(key, numbers, ply))
        state = game.step_unchecked(state, actions)
        boards = game.squares(state).tolist()
        for row in [row for row in open_rows if not positions[row].is_terminal()]:
            position, board = positions[row], tuple(boards[row])
            assert position.legal_actions() == masks[row].nonzero()[:, 0].tolist(), position
            position.apply_action(int(actions[row]))
            if int(actions[row]) != passing and board in seen[row]:
                assert position.is_terminal()
                open_rows.remove(row)
            seen[row].add(board)
    assert len(open_rows) > 0.9 * matches
    for row in open_rows:
        assert positions[row].is_terminal()
        assert positions[row].returns()[0] == float(state.returns[row])


@pytest.mark.skipif(GNU_GO is None, reason="GNU Go is not installed (Debian's package gnugo)")
def test_legal_actions_are_those_of_gnu_go() -> None:
    game, passing = make_game("go"), 81
    key, vertices, state = stream_key(0, 0, Activity.MEASUREMENT), Vertices(game), game.init()
    engine = EngineProcess([str(GNU_GO), "--mode", "gtp"])
    try:
        ask_gtp(engine, "boardsize 9", 30)
        for ply in range(game.max_game_length):
            colour = colour_of(int(state.current_player))
            allowed = {vertices.action(text) for text in ask_gtp(engine, f"all_legal {colour}", 30).split()}
            assert allowed | {passing} == set(game.legal_action_mask(state)[0].nonzero()[:, 0].tolist())
            action = game.kernels.random_actions(state, Draws(key, torch.tensor([1]), ply))
            ask_gtp(engine, f"play {colour} {vertices.text(int(action))}", 30)
            state = game.step(state, action)
            if bool(state.terminated):
                break
    finally:
        engine.end()
    assert ply > 81


@pytest.mark.parametrize("width", [5, 9])
def test_compiled_code_is_the_same_for_every_komi(width: int) -> None:
    one, other = Go(width, -3), Go(width, 0.5)
    assert one.rules != other.rules
    assert one.compiled_rules is other.compiled_rules
    assert one.kernels is other.kernels
    ends = [game.step(after(game, "pass"), torch.tensor([game.any_pass])) for game in (one, other)]
    assert [float(end.returns) for end in ends] == [1, -1]


def test_the_caption_tells_the_lead_once_a_third_of_the_crossings_have_stones():
    game = make_game("go", 3, komi=0.5)
    captions = [game.presentation.caption(after(game, moves)) for moves in ("B2", "B2 A1 B3", "B2 pass pass")]
    alive = "(all stones count as alive; komi 0.5)"
    assert captions == ["komi 0.5", f"black leads by 0.5 {alive}", f"black leads by 8.5 {alive}"]
