"""The experience player: known wins, blocks, random choices otherwise; and learning while playing."""

import pytest
import torch

from selfplay import play_matches
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.players.experience import ExperiencePlayer, load_experience_player
from selfplay.players.player import RandomPlayer
from tests.support.experience_tools import GAME, PlainGraph, learn, new_store, random_match

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


def test_a_player_that_does_not_learn_leaves_its_store_unchanged(tmp_path):
    player = load_experience_player(tmp_path / "store.sqlite", GAME, learns=False)
    list(play_matches(GAME, (player, RANDOM), range(10), KEY))
    assert player.status().matches == 0
