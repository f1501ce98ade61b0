"""N-tuple networks: entries, shared weights, phases, and compiled searches."""

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from selfplay import play_matches
from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.architectures import build_network
from selfplay.architectures.ntuple import NTuple, largest_windows
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.pattern_planes import FurtherBoard
from selfplay.games.random_positions import random_positions
from selfplay.games.state import State
from selfplay.players.player import RandomPlayer
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.search.searcher import Searcher
from selfplay.training.fitting import seeded
from tests.games.test_default_observations import Fields
from tests.support.amazons import Amazons
from tests.support.searches import position_values

OTHELLO = OmegaConf.to_container(OmegaConf.load(CONFIG_FOLDER / "architecture" / "ntuple_othello.yaml"))
BY_GAME = {
    "tictactoe": {"patterns": ["xx/.x", "xxx", ".../.x"], "symmetries": "square", "phases": 3},
    "othello": {option: OTHELLO[option] for option in ("patterns", "symmetries", "phases")},
}
games = pytest.mark.parametrize("name", sorted(BY_GAME))


def network_of(name, **options):
    """The architecture of that game, with weights drawn at random."""
    options = {**BY_GAME.get(name, {}), **options}
    game = make_game(name)
    network = build_network({"name": "ntuple", **options}, game.observation_shape, game.num_distinct_actions)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        network.weight.copy_(torch.randn(network.weight.shape, generator=generator) / 20)
    return network


def boards_of(name, count=60):
    """float32[count, 2, R, C]: random boards, filled more and more."""
    _, rows, columns = make_game(name).observation_shape
    generator = np.random.default_rng(8)
    filled = generator.random((count, rows, columns)) < np.linspace(0, 1, count)[:, None, None]
    first = generator.random((count, rows, columns)) < 0.5
    return torch.from_numpy(np.stack([filled & first, filled & ~first], axis=1).astype(np.float32))


def open_states(name):
    game = make_game(name)
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), range(20), 7)
    states = State(*(torch.cat(field) for field in zip(*record.states, strict=True)))
    return game, states.select(~states.terminated)


# ---------------------------------------------------------------------- entries and weights


@games
def test_the_value_is_tanh_of_the_sum_of_the_weights_of_the_phase(name):
    network, boards = network_of(name), boards_of(name)
    patterns, phases = network.patterns, BY_GAME[name]["phases"]
    values = network(boards).value.tolist()
    seen = set()
    for board, value in zip(boards.flatten(2).long().tolist(), values, strict=True):
        stones = [just_moved + 2 * to_move for just_moved, to_move in zip(*board, strict=True)]
        phase = sum(stone > 0 for stone in stones) * phases // (len(stones) + 1)
        seen.add(phase)
        total = 0.0
        for image, offset in zip(patterns.images, patterns.offsets.tolist(), strict=True):
            entry = offset + sum(stones[square] * 3**digit for digit, square in enumerate(image))
            total += network.weight[phase, patterns.weight_of_entry[entry]].item()
        assert value == pytest.approx(np.tanh(total), abs=1e-6)
    assert seen == set(range(phases))


@pytest.mark.parametrize(
    ("drawing", "images", "weights"),
    [
        # A reversal exchanges fillings of an edge; those that are palindromes are alone.
        ("xxxxxxxx", 4, (3**8 + 3**4) // 2),
        ("x/.x/..x/...x/....x/.....x/......x/.......x", 2, (3**8 + 3**4) // 2),
        # The mirror on the diagonal leaves three squares of the corner and exchanges three pairs.
        ("xxx/xxx/xxx", 4, (3**9 + 3**6) // 2),
        ("xxxxx/xxxxx", 8, 3**10),
    ],
)
def test_fillings_that_are_images_of_each_other_share_a_weight(drawing, images, weights):
    patterns = network_of("othello", patterns=[drawing]).patterns
    assert (len(patterns.images), patterns.num_weights) == (images, weights)


# ---------------------------------------------------------------------- compiled


@games
def test_compiled_searches_get_the_negated_value_of_the_module(name):
    game, states = open_states(name)
    network = network_of(name)
    evaluation = Agent(Checkpoint(network, {"outcome": "return"}), game, "level 1").evaluation()
    expected = -network(game.observe(states)).value.double()
    torch.testing.assert_close(position_values(evaluation, game, states), expected, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2])
def test_searches_which_value_several_positions_at_a_time_find_the_values_of_the_module(depth):
    game, states = open_states("tictactoe")
    agent = Agent(Checkpoint(network_of("tictactoe"), {"outcome": "return"}), game, "level 1")
    found = Searcher(game, agent.evaluation(), "negascout").search_batch(states, depth).values
    np.testing.assert_allclose(found, best_values(agent.player(), game, states, depth), atol=1e-6)


def best_values(player, game, states, depth):
    """float64[B]: the values of unfinished positions, `depth` plies ahead."""
    values = player.action_values(states).double()
    if depth > 1:
        for action in range(values.shape[1]):
            rows = (~values[:, action].isnan()).nonzero()[:, 0]
            after = game.step(states.select(rows), torch.full_like(rows, action))
            rows, after = rows[~after.terminated], after.select(~after.terminated)
            values[rows, action] = -best_values(player, game, after, depth - 1)
    return values.nan_to_num(nan=-np.inf).amax(dim=1)


# ---------------------------------------------------------------------- further planes


PLANES = {
    "breakthrough": {"patterns": ["xx/xx", "x.x"], "symmetries": "mirror", "upright": 2, "phases": 3},
    "draughts": {"patterns": [".x.x/x.x", "////.x.x/x.x/.x"], "marks": 2, "upright": 4, "sets": [5, 7]},
    "nine_mens_morris": {"patterns": ["x..x..x", "//..xxx"], "symmetries": "square", "sets": [2, 3, 4, 5, 10]},
}


@pytest.mark.parametrize(
    "name", ["draughts", *(pytest.param(name, marks=pytest.mark.slow) for name in PLANES if name != "draughts")]
)
def test_networks_and_searches_see_marks_turned_boards_and_sets(name):
    """The value by its definition, from the fields of the positions; that of the module; and that of searches."""
    game, states = open_states(name)
    states = states.select(torch.arange(0, states.batch_size, 7))
    network = network_of(name, **PLANES[name])
    found = network(game.observe(states)).value
    evaluation = Agent(Checkpoint(network, {"outcome": "return"}), game, "level 1").evaluation()
    torch.testing.assert_close(position_values(evaluation, game, states), -found.double(), rtol=0, atol=1e-6)
    patterns, phases = network.patterns, PLANES[name].get("phases", 1)
    seen = set()
    for p, value in zip(game.positions(states), found.tolist(), strict=True):
        squares = range(network.num_squares)
        kings, is_turned = getattr(p, "kings", 0), getattr(p, "up", 1) == 0
        contents = [(p.opp >> s & 1) + 2 * (p.own >> s & 1) + 2 * (kings >> s & 1) for s in squares]
        contents, base = contents[::-1] if is_turned else contents, 5 if name == "draughts" else 3
        number = {
            "breakthrough": lambda p=p: 0,
            "draughts": lambda p=p: (p.quiet & 1) + 2 * (p.quiet >> 2 & 1),
            "nine_mens_morris": lambda p=p: p.own_left + 16 * p.removing,
        }[name]()
        row = number * phases + sum(map(bool, contents)) * phases // (len(contents) + 1)
        total = 0.0
        for image, offset in zip(patterns.images, patterns.offsets.tolist(), strict=True):
            entry = offset + sum(contents[square] * base**place for place, square in enumerate(image))
            total += network.weight[row, patterns.weight_of_entry[entry]].item()
        assert value == pytest.approx(np.tanh(total), abs=1e-6)
        seen.add((row, is_turned, kings != 0))
    assert len(seen) > 3


def make_draughts():
    return make_game("draughts")


WITH_BOARDS = {Amazons: ("arrows", 4, 3), Fields: ("walls", 6, 3), make_draughts: ("kings", 5, 2)}
"""A further board that tables see by default, the number of contents of a square, and what this board adds to them."""


@pytest.mark.parametrize(
    "make", [pytest.param(Amazons, marks=pytest.mark.slow), Fields, make_draughts], ids=lambda make: make.__name__
)
def test_networks_and_searches_see_a_board_besides_those_of_the_stones_by_default(make):
    name, base, added = WITH_BOARDS[make]
    game = make()
    states = random_positions(game, game.max_game_length).state.select(torch.arange(30))
    with seeded(2):
        options = {"name": "ntuple", "patterns": ["xx/xx", "x.x"], "symmetries": "mirror"}
        network = build_network(options, game.observation_shape, game.num_distinct_actions, game).eval()
        torch.nn.init.normal_(network.weight, std=0.1)
    found = network(game.observe(states)).value
    evaluation = NTuple.evaluation(network, "network", game, 1.0, 0.0)
    torch.testing.assert_close(position_values(evaluation, game, states), -found.double(), rtol=0, atol=1e-6)
    patterns, marked = network.patterns, 0
    for p, value in zip(game.positions(states), found.tolist(), strict=True):
        board = getattr(p, name)
        contents = [(p.opp >> s & 1) + 2 * (p.own >> s & 1) + added * (board >> s & 1) for s in range(game.num_squares)]
        total = 0.0
        for image, offset in zip(patterns.images, patterns.offsets.tolist(), strict=True):
            entry = offset + sum(contents[square] * base**place for place, square in enumerate(image))
            total += network.weight[0, patterns.weight_of_entry[entry]].item()
        assert value == pytest.approx(np.tanh(total), abs=1e-6)
        marked += board != 0
    assert marked > 3


def test_windows_are_smaller_where_their_tables_would_be_too_large():
    game = Amazons()
    sizes = {}
    for name, further in (("arrows", FurtherBoard(2, False, True)), ("any", FurtherBoard(2, True, True))):
        sizes[name] = {len(image) for image in NTuple(game.observation_shape, further=further).patterns.images}
    assert sizes == {"arrows": {9}, "any": {4}}
    # 36 tables of 4 ** 9 entries are 9 million, and 6 ** 9 entries in each would be 363 million.
    assert [largest_windows(8, 8, contents)[0].count("x") for contents in (3, 4, 6)] == [9, 9, 4]


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patterns": ["xo/xx"]}, r"^architecture.patterns: 'xo/xx' is not x and \. in up to 3 rows of 3 with / "),
        ({"patterns": ["..."]}, "architecture.patterns: '...' has 0 squares; it must have 1 to 12"),
        ({"patterns": [7]}, "architecture.patterns: 7 must be a drawing such as xxx/xxx/xxx"),
        ({"patterns": ["xxxx"]}, r"in up to 3 rows of 3 .*; set architecture=ntuple for a board of another size$"),
        ({"patterns": []}, "architecture.patterns: must be one or more drawings"),
        ({"symmetries": "all"}, "architecture.symmetries=all: must be none, mirror or, on a square board, square"),
        ({"phases": 0}, "architecture.phases=0: must be an integer of at least 1"),
        ({"marks": 2}, "architecture.marks=2: must be the number of a plane of this game's observation"),
    ],
    ids=str,
)
def test_options_that_do_not_fit_the_board_are_refused_in_one_line(options, message):
    with pytest.raises(SettingError, match=message) as caught:
        network_of("tictactoe", **options)
    assert "\n" not in str(caught.value)
