"""The experience player: known wins, blocks, random choices otherwise; and learning while playing."""

import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.matches.arena import play_matches
from selfplay.players.experience import ExperiencePlayer, load_experience_player
from selfplay.players.random import RandomPlayer
from selfplay.playing.console import Console
from selfplay.playing.session import Session
from tests.support.experience_tools import GAME, PlainGraph, boards_of, learn, new_store, random_match

KEY = stream_key(0, 0, Activity.VERSUS_RANDOM)
RANDOM = RandomPlayer(GAME)


def after(moves):
    return GAME.state_after([GAME.action_to_string(move) for move in moves])


def machine(folder, matches, **rule):
    """A player that has seen these matches."""
    store = new_store(folder, **rule)
    for moves in matches:
        learn(store, moves)
    return ExperiencePlayer(store)


def choice(player, moves):
    """The action that `player` certainly takes; None if it chooses at random among the empty squares."""
    state = after(moves)
    policy = player.policy(state)
    action = int(player.act(state, Draws(KEY, torch.tensor([0]), len(moves))))
    assert policy[0, action] > 0
    if policy.max() == 1:
        return action
    assert torch.equal(policy, RANDOM.policy(state))
    return None


@pytest.fixture(params=[False, True], ids=["plain", "canonical"])
def canonical(request):
    return request.param


# ---------------------------------------------------------------------- the choice


def test_with_an_empty_store_the_choice_is_random(tmp_path, canonical):
    player = machine(tmp_path, [], canonical=canonical)
    assert choice(player, []) is None
    state = GAME.init(2000)
    draws = Draws(KEY, torch.arange(2000), 0)
    assert torch.equal(player.act(state, draws), RANDOM.act(state, draws))


def test_each_side_plays_where_it_has_won(tmp_path):
    first = machine(tmp_path / "first", [[0, 3, 1, 4, 2]])
    assert [choice(first, [0, 3, 1, 4, 2][:ply]) for ply in (0, 2, 4)] == [0, 1, 2]
    second = machine(tmp_path / "second", [[0, 3, 1, 4, 8, 5]])
    assert [choice(second, [0, 3, 1, 4, 8][:ply]) for ply in (1, 3, 5)] == [3, 4, 5]


def test_each_side_takes_the_square_by_which_the_other_has_won(tmp_path, canonical):
    # X X .
    # O . .     O to move: O 4 was answered by X 2. The player takes 2 itself.
    # . . .
    assert choice(machine(tmp_path / "first", [[0, 3, 1, 4, 2]], canonical=canonical), [0, 3, 1]) == 2
    assert choice(machine(tmp_path / "second", [[0, 3, 1, 4, 8, 5]], canonical=canonical), [0, 3, 1, 4]) == 5


def test_the_block_is_against_the_opponents_best_answer_to_the_worst_action(tmp_path):
    # After X 4, O 1 X 2 led to a win of X in two (0.81) on one way and at once (1) on the other: 3 for O is worst.
    slow, fast = [4, 1, 2, 6, 5, 0, 3], [4, 1, 2, 0, 6]
    player = machine(tmp_path, [slow, fast])
    assert choice(player, [4, 1, 2]) == 6


def test_a_win_goes_before_a_block_and_the_nearer_win_before_the_farther(tmp_path):
    # X . O
    # X . O     X to move, having seen it lose by O 8, win by 6 at once and win by 4 later.
    # . . .
    start = [0, 2, 3, 5]
    player = machine(tmp_path, [[*start, 7, 8], [*start, 4, 8], [*start, 6]])
    assert choice(player, start) == 6


def test_of_equal_boards_the_first_one_seen_is_chosen(tmp_path):
    start = [0, 2, 3, 5]
    for number, order in enumerate(([[4, 6, 8], [1, 8, 6]], [[1, 6, 4, 8, 7], [4, 6, 8]])):
        player = machine(tmp_path / str(number), [[*start, *end] for end in order if len(end) == 3])
        assert choice(player, start) == 4


def test_where_only_draws_are_known_the_choice_is_random(tmp_path, canonical):
    drawn = [0, 1, 2, 4, 3, 5, 7, 6, 8]
    player = machine(tmp_path, [drawn], canonical=canonical)
    assert [choice(player, drawn[:ply]) for ply in range(8)] == [None] * 8


def test_all_choices_equal_those_of_a_plain_implementation(tmp_path):
    plain, store = PlainGraph(), new_store(tmp_path)
    for seed in range(150):
        plain.see(random_match(seed))
        learn(store, random_match(seed))
    player = ExperiencePlayer(store)
    boards = {key: tuple(entry["state"]) for key, entry in plain.boards.items()}
    state = store.form.state(list(boards.values()))
    policy = player.policy(state)
    sure = 0
    for row, (key, board) in enumerate(boards.items()):
        # With one empty square left, chance has no choice either.
        if board.count(0) > 1 and not bool(state.terminated[row]):
            expected = plain.choice(key)
            assert expected == (int(policy[row].argmax()) if policy[row].max() == 1 else None), board
            sure += expected is not None
    assert 50 < sure < len(boards)
    assert not policy[state.terminated].any()


def test_a_canonical_store_plays_the_same_in_every_image_of_a_board(tmp_path):
    player = machine(tmp_path, [random_match(seed) for seed in range(100)], canonical=True)
    for seed in range(100, 110):
        moves = random_match(seed)[:4]
        images = [[int(actions[move]) for move in moves] for actions in GAME.symmetries.actions]
        boards = {player.store.form.of(boards_of(image)[-1]) for image in images}
        sure = [bool(player.policy(after(image)).max() == 1) for image in images]
        assert len(boards) == 1
        assert len(set(sure)) == 1


def test_a_batch_gives_the_same_as_single_matches(tmp_path):
    player = machine(tmp_path, [random_match(seed) for seed in range(100)])
    states = [after(random_match(seed)[:5]) for seed in range(200, 210)]
    batch = type(states[0])(*map(torch.cat, zip(*states, strict=True)))
    draws = Draws(KEY, torch.arange(10), 5)
    actions = player.act(batch, draws)
    for row, state in enumerate(states):
        if not bool(state.terminated):
            assert int(actions[row]) == int(player.act(state, draws._replace(match=torch.tensor([row]))))


def test_values_are_the_scores_for_the_player_to_move(tmp_path):
    player = machine(tmp_path, [[0, 3, 1, 4, 2]])
    nan = float("nan")
    # Nothing is known of the other empty squares.
    expected = [nan, nan, nan, nan, -0.9, nan, nan, nan, nan]
    assert player.action_values(after([0, 3, 1]))[0].tolist() == pytest.approx(expected, nan_ok=True)
    values = player.action_values(after([0, 3, 1, 4]))[0]
    assert values[2] == 1
    assert player.action_values(after([0, 3, 1, 4, 2]))[0].isnan().all()


def test_each_choice_has_a_reason(tmp_path, canonical):
    player = machine(tmp_path, [[0, 3, 1, 4, 2]], canonical=canonical)
    assert player.reason(after([0, 3, 1, 4])) == "a predicted win, with the best known score +1.00"
    assert player.reason(after([0, 3])) == "a predicted win, with the best known score +0.81"
    assert player.reason(after([0, 3, 1])) == "a block, because the worst known score is -0.90"
    assert player.reason(after([4, 0])) == "at random, because it knows no board after this one"
    drawn = machine(tmp_path / "drawn", [[0, 1, 2, 4, 3, 5, 7, 6, 8]], canonical=canonical)
    assert drawn.reason(after([0, 1])) == "at random, because every known score is 0"


def test_a_hint_is_its_choice_with_the_reason_not_the_best_known_score(tmp_path):
    session = Session(GAME, (None, machine(tmp_path, [[0, 3, 1, 4, 2]])), KEY)
    session.new_match(1)
    session.resume([0, 3, 1])
    written, answers = [], iter(["hint", "quit"])
    Console(session, lambda prompt: next(answers), written.append, asks_who_is_first=False).play()
    assert "experience would play 0,2: a block, because the worst known score is -0.90." in written


# ---------------------------------------------------------------------- learning


def test_every_match_is_learned_before_the_next_and_seats_are_swapped(tmp_path):
    player, plain = machine(tmp_path, []), new_store(tmp_path / "plain")
    results = []
    for record in play_matches(GAME, (player, RANDOM), range(30), KEY):
        learn(plain, record.action_sequences()[0].tolist())
        results.append(float(record.returns()[0]))
        assert player.store.boards() == plain.boards()
    first, second = player.status().results
    for record, own in ((first, results[0::2]), (second, results[1::2])):
        assert tuple(record) == tuple(own.count(result) for result in (1.0, 0.0, -1.0))
    assert player.status().matches == 30


def test_matches_against_itself_are_learned_and_are_neither_won_nor_lost(tmp_path):
    player = machine(tmp_path, [])
    list(play_matches(GAME, (player, player), range(10), KEY))
    assert (player.status().matches, player.status().results) == (10, ((0, 0, 0), (0, 0, 0)))
    assert str(player.status()).endswith(
        "from 10 matches; against others it has won 0, drawn 0, lost 0 (moving first 0-0-0, second 0-0-0)"
    )


def test_a_player_that_does_not_learn_leaves_its_store_unchanged(tmp_path):
    player = load_experience_player(tmp_path / "store.sqlite", GAME, learns=False)
    list(play_matches(GAME, (player, RANDOM), range(10), KEY))
    assert player.status().matches == 0


def test_players_of_the_same_file_share_what_they_learn(tmp_path):
    one, other = (load_experience_player(tmp_path / "store.sqlite", GAME) for _ in range(2))
    assert one.name == "experience store"
    assert load_experience_player(tmp_path / "experience_2.sqlite", GAME).name == "experience_2"
    learn(one.store, [0, 3, 1, 4, 2])
    assert choice(other, []) == 0


def test_a_player_learns_from_a_person_at_the_console(tmp_path):
    player = machine(tmp_path, [])
    # All squares repeatedly; occupied ones are refused.
    squares = (f"{row},{column}" for _ in range(9) for row in range(3) for column in range(3))

    def read(prompt):
        return "y" if "first?" in prompt else "n" if "again?" in prompt else next(squares)

    Console(Session(GAME, (None, player), KEY), read, lambda text: None).play()
    assert player.status().matches == 1
    assert len(player.store) >= 6


def test_a_new_store_is_reported(tmp_path, caplog):
    caplog.set_level("INFO", logger="selfplay")
    path = tmp_path / "experince.sqlite"
    load_experience_player(path, GAME).store.close()
    assert caplog.messages == [f"created a new experience store at {path}"]
    load_experience_player(path, GAME)
    assert len(caplog.messages) == 1
