"""The store of an experience graph: scores and symmetry."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.experience.graph import rescored
from selfplay.experience.rule import BACKUPS
from tests.support.experience_tools import GAME, X_WINS, boards_of, learn, new_store, random_match


def scores(store, moves):
    """The score of each board of a match."""
    by_squares = {board.squares: board.score for board in store.boards().values()}
    return [by_squares[store.form.of(board)] for board in boards_of(moves)]


# ---------------------------------------------------------------------- scores


def test_a_won_board_gives_the_one_before_it_nine_tenths_and_the_start_059(tmp_path):
    store = new_store(tmp_path)
    learn(store, X_WINS)
    assert scores(store, X_WINS) == pytest.approx([0.9**5, 0.9**4, 0.9**3, 0.9**2, 0.9, 1])
    assert f"{scores(store, X_WINS)[0]:.2f}" == "0.59"
    assert [board.is_end for board in store.boards().values()] == [False] * 5 + [True]


def test_of_two_threats_absolute_backup_takes_the_nearer_and_minimax_the_movers_choice(tmp_path):
    # X . O
    # X O .     X to move: the left column wins (+1), anything else lets O win on the diagonal (-0.9).
    # . . .
    start = [0, 4, 3, 2]
    absolute, minimax = (new_store(tmp_path / name, backup=name) for name in BACKUPS)
    for store in (absolute, minimax):
        learn(store, [*start, 8, 6])
        learn(store, [*start, 6])
    assert scores(absolute, start)[-1] == scores(minimax, start)[-1] == pytest.approx(0.9)
    # O . .
    # X X O     O to move: it can block; absolute only sees that X could win, minimax sees the draw.
    # X . .
    start = [3, 0, 4, 5, 6]
    for store in (absolute, minimax):
        learn(store, [*start, 1, 2])
        learn(store, [*start, 2, 8, 7, 1])
        assert scores(store, [*start, 2])[-1] == 0
    assert scores(absolute, start)[-1] == pytest.approx(0.9**2)
    assert scores(minimax, start)[-1] == 0


@settings(max_examples=25)
@given(
    seeds=st.lists(st.integers(0, 60), max_size=30), backup=st.sampled_from(sorted(BACKUPS)), canonical=st.booleans()
)
def test_incremental_updates_equal_recomputing_the_whole_graph(tmp_path_factory, seeds, backup, canonical):
    store = new_store(tmp_path_factory.mktemp("store"), backup=backup, canonical=canonical)
    for seed in seeds:
        learn(store, random_match(seed))
        boards = store.boards()
        assert boards == rescored(boards, store.rule)
    store.close()


# ---------------------------------------------------------------------- symmetry


@pytest.mark.parametrize("canonical", [False, True])
def test_one_of_eight_symmetric_boards_is_kept(tmp_path, canonical):
    store = new_store(tmp_path, canonical=canonical)
    moves = [0, 1, 5, 2, 4, 6, 8]
    for actions in GAME.symmetries.actions:
        learn(store, [int(actions[move]) for move in moves])
    ply_counts = [sum(map(abs, board.squares)) for board in store.boards().values()]
    assert [ply_counts.count(ply) for ply in range(8)] == [1] * 8 if canonical else [1, 4, 8, 8, 8, 8, 8, 8]
