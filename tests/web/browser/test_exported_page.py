"""The page as static files: its rules and values are those of the library, and a match can be played."""

import random
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from selfplay.architectures import build_network
from selfplay.compute.bit_algebra import Word, bit_count, word_of
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.compute.stored_words import single_word, stored, word_tensor, words_of
from selfplay.games import Game, make_game
from selfplay.games.board_checks import winning_chain
from selfplay.games.state import State
from selfplay.installation import PACKAGE_FOLDER
from selfplay.named_players.make import make_player
from selfplay.named_players.names import parse_name
from selfplay.named_players.strengths import STRENGTHS, strengths
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import save_checkpoint
from selfplay.players.mcts import MctsPlayer
from selfplay.players.pretrained import pretrained_agent, pretrained_agents
from selfplay.runs.levels import agent_of_level
from selfplay.runs.run_folder import RunFolder
from selfplay.search.mcts.tree import TreeSearchResult
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.app import create_app
from selfplay.web.export_page import export_page
from selfplay.web.matches import MatchService
from selfplay.web.rules_in_javascript import javascript_of
from tests.web.browser.browsing import settled
from tests.web.conftest import client_of, web_settings

ANSWERS = """
async ({ positions }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game, bestOf } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  return positions.map(([own, opp, player]) => {
    const state = { own: BigInt(own), opp: BigInt(opp), player, isOver: false };
    const values = game.actionValues(state, agent);
    const after = game.legal(state).map((action) => game.step(state, action));
    return {
      legal: game.legal(state),
      ends: after.map(({ isOver, result }) => [isOver, result]),
      squares: game.squares(state),
      values: values.map((value) => (Number.isNaN(value) ? null : value)),
      best: bestOf(values),
    };
  });
}
"""

SEARCHED = """
async ({ positions, simulations }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { treeSearched } = await import("./local/tree_search.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  const { rule } = description.ways[description.judge];
  return positions.map(([own, opp, player]) => {
    const state = { own: BigInt(own), opp: BigInt(opp), player, isOver: false };
    return { ...agent.evaluation(state.own, state.opp), ...treeSearched(game, agent, rule, state, { simulations }) };
  });
}
"""
SIMULATIONS = 20
POLICY = "alphazero_mlp"
NETWORKS: dict[str, dict[str, Any]] = {
    POLICY: {},
    "alphazero_residual": {"channels": 5, "blocks": 2, "value_channels": 2, "policy_channels": 3, "dropout": 0.5},
    "conv": {"channels": 5, "dropout": 0.5},
    "residual": {"channels": 6, "blocks": 2},
}
"""Options of the networks of `network_run`, by architecture; each is also the name of a page."""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def network_run(run_dir: Path, architecture: str = POLICY, change: float = 0.0, name: str = "tictactoe") -> Path:
    """A run of the game `name` with one level: a network with random weights.

    `change`: the standard deviation of relative random changes of the weights.
    """
    game, options = make_game(name), {"name": architecture} | NETWORKS[architecture]
    network = build_network(options, game.observation_shape, game.num_distinct_actions)
    torch.manual_seed(1)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 1 + change * torch.randn_like(parameter)
    path = RunFolder(run_dir).agent(1)
    path.parent.mkdir()
    save_checkpoint(path, network, game, 1, options, {})
    return run_dir


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`network_run` of an architecture and a game, made once."""
    return cache(
        lambda architecture, name="tictactoe": network_run(tmp_path_factory.mktemp("run"), architecture, name=name)
    )


@pytest.fixture(scope="module")
def address(
    tiny_run: Path, run_of: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], str]]:
    """From the name of a game, or of one of NETWORKS, to the address of its exported page."""
    folder = tmp_path_factory.mktemp("sites")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    @cache
    def of(game: str) -> str:
        run_dir, name = (run_of(game), "tictactoe") if game in NETWORKS else (tiny_run, game)
        if game in ("breakthrough", "hex_3x3", "go_3x3"):
            run_dir = run_of(POLICY, game)
        opponent = "pretrained" if name in pretrained_agents() else None
        export_page(
            ExportPageSettings(str(run_dir), GameSettings(name), opponent=opponent, output_dir=str(folder / game))
        )
        return f"http://127.0.0.1:{server.server_port}/{game}/"

    yield of
    server.shutdown()
    server.server_close()


@pytest.fixture
def exported(browser: Browser, address: Callable[[str], str]) -> Iterator[Page]:
    """A page that may load files of the exported page only, and must not log errors."""
    page, faults = browser.new_page(), list[str]()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("response", lambda response: faults.append(response.url) if response.status >= 400 else None)
    yield page
    page.close()
    assert faults == []


def positions_of_random_matches(game: Game, count: int) -> State:
    """`count` positions of random matches, none of them finished."""
    # Random matches are longer than a third of the longest one.
    matches = 20 + count // (game.max_game_length // 3)
    generator, state, found = torch.Generator().manual_seed(5), game.init(matches), list[State]()
    while not state.terminated.all():
        found.append(state.select(~state.terminated))
        mask = game.legal_action_mask(state).float()
        mask[state.terminated, 0] = 1
        state = game.step_unchecked(state, torch.multinomial(mask, 1, generator=generator)[:, 0])
    every = State(*(torch.cat(fields) for fields in zip(*found, strict=True)))
    return every.select(torch.randperm(every.batch_size, generator=generator)[:count])


def rows_of(state: State) -> list[tuple[str, str, int]]:
    own, opp = (
        [str(int(single_word(words, row))) for row in range(state.batch_size)] for words in (state.own, state.opp)
    )
    return list(zip(own, opp, state.current_player.tolist(), strict=True))


def check_positions(page: Page, agent: Agent, count: int) -> None:
    game, state = agent.game, positions_of_random_matches(agent.game, count)
    assert state.batch_size == count
    answers: list[dict[str, Any]] = page.evaluate(ANSWERS, {"positions": rows_of(state)})
    mask, squares = game.legal_action_mask(state), game.squares(state)
    assert [answer["legal"] for answer in answers] == [row.nonzero()[:, 0].tolist() for row in mask]
    assert [answer["squares"] for answer in answers] == squares.tolist()
    matches, actions = mask.nonzero(as_tuple=True)
    after = game.step_unchecked(state.select(matches), actions)
    ends = [[over, result] for over, result in zip(after.terminated.tolist(), after.returns.tolist(), strict=True)]
    assert [end for answer in answers for end in answer["ends"]] == ends
    values = agent.player().action_values(state).numpy()
    shown = np.array([answer["values"] for answer in answers], dtype=np.float32)
    np.testing.assert_allclose(shown, values, rtol=0, atol=1e-5)
    assert [answer["best"] for answer in answers] == np.nanargmax(values, axis=1).tolist()


def agent_of(game: str, tiny_run: Path) -> Agent:
    if game == "tictactoe":
        return agent_of_level(tiny_run)
    return Agent.load(pretrained_agent(game), make_game(game), "pretrained")


def test_a_match_by_clicks_is_one_of_the_library(exported: Page, address: Callable[[str], str], tiny_run: Path) -> None:
    game, player = make_game("tictactoe"), agent_of_level(tiny_run).player()
    exported.goto(f"{address('tictactoe')}#play/tictactoe?opponent=level-3&person=first")
    settled(exported, 0)
    expect(exported.get_by_text("python -m http.server")).to_be_hidden()
    expect(exported.get_by_label("Kind of opponent")).to_have_text("EasyMediumHardLevel 3Level 3, 0.3 sRandom")
    expect(exported.locator("#proof")).to_be_hidden()
    while (legal := exported.locator("#board .legal")).count():
        legal.last.click()
        settled(exported)
    actions = game.read_transcript(parse_qs(urlparse(exported.url).fragment.partition("?")[2])["moves"][0])
    state, draws = game.init(), Draws(0, torch.tensor([0]), 0)
    for ply, action in enumerate(actions):
        assert ply % 2 == 0 or action == int(player.act(state, draws))
        state = game.step(state, torch.tensor([action]))
    result = {1: "You win.", 0: "A draw.", -1: "You lose."}[int(state.returns)]
    expect(exported.locator("#status")).to_contain_text(result)
    exported.reload()
    settled(exported, len(actions))
    expect(exported.locator("#status")).to_contain_text(result)
    exported.get_by_role("tab", name="Analyse").click()
    exported.get_by_role("button", name="One move back").click()
    expect(exported.locator("#board .value")).to_have_count(9 - len(actions) + 1)
    exported.get_by_role("button", name="Play on from here").click()
    settled(exported)


SAME_PLIES = ("seat", "action", "text", "by_person", "is_forced", "square", "origin", "turned")
SAME_ACTIONS = ("action", "text", "square", "pointed")
SAME = (
    *(
        "squares",
        "counts",
        "captured",
        "owners",
        "to_move",
        "awaits_person",
        "can_undo",
        "is_over",
        "is_practice",
        "winner",
        "winning_squares",
    ),
    *("result", "moves", "people", "person_seat", "seat_names"),
)
# Black captures two stones, and has territory at the end.
GO = "B2 A2 B1 C2 B3 A1 A3 C3 C1 pass pass"
REQUESTS: dict[str, list[dict[str, Any]]] = {
    "tictactoe": [
        {},
        {"moves": "1,1 0,0", "person": "both", "ply": 1},
        {"moves": "1,1 0,0 2,2 0,1 0,2 1,2 2,0", "seed": 3, "valued": 0},
        {"moves": "0,0 1,1 0,1 2,2 0,2", "person": "second", "is_practice": True},
    ],
    "connect_four": [{"moves": "4453", "person": "none", "partner": "easy"}],
    "othello": [
        {"moves": "f5 d6", "person": "second", "valued": 1},
        {"moves": "f5d6c3", "ply": 2, "show": ["view", "judged", "hint", "file"]},
    ],
    "go_3x3": [
        {"moves": GO, "person": who, "ply": ply} for who, ply in (("both", None), ("first", None), ("second", 6))
    ],
}


@pytest.mark.parametrize(
    "game", ["tictactoe", "connect_four", "othello", pytest.param("go_3x3", marks=pytest.mark.slow)]
)
def test_the_worker_answers_requests_as_the_server_does(
    game: str, exported: Page, address: Callable[[str], str], tiny_run: Path
) -> None:
    exported.goto(address(game))
    client = client_of(create_app(MatchService(web_settings(tiny_run))))
    for asked in REQUESTS[game]:
        request = {"game": game, "opponent": "random"} | asked
        found = exported.evaluate("async (asked) => (await import('./page/api.js')).match(asked)", request)
        assert_same_answer(found, client.post("/api/match", json=request).json())


def assert_same_answer(found: dict[str, Any], served: dict[str, Any]) -> None:
    assert found.keys() == served.keys()
    for part, expected in served.items():
        assert (found[part] is None, set(found[part] or ())) == (expected is None, set(expected or ())), part
    for name in SAME:
        assert found["match"][name] == served["match"][name], name
    for many, names in (("plies", SAME_PLIES), ("legal", SAME_ACTIONS)):
        pairs = zip(found["match"][many], served["match"][many], strict=True)
        assert all(one.keys() == other.keys() and one[name] == other[name] for one, other in pairs for name in names)


def test_moves_of_breakthrough_are_written_as_each_player_makes_them(
    exported: Page, address: Callable[[str], str]
) -> None:
    played = "opponent=level-1&person=second&moves=c2c3+b3b4+c3d4"
    exported.goto(f"{address('breakthrough')}#play/breakthrough?{played}")
    settled(exported, 3)
    expect(exported.locator("#plies .move")).to_have_text(["c2c3", "b4b3", "c3d4"])
    expect(exported.locator(".cell.origin")).to_have_accessible_name("c3, empty, left by the last move")
    exported.get_by_role("button", name="Hint").click()
    expect(exported.locator("#status")).to_have_text(re.compile(" would play ([a-e])[45][a-e][34] here"))
    exported.get_by_role("gridcell", name="e5, O").click()
    exported.get_by_role("gridcell", name="d4, X").click()
    settled(exported, 5)
    assert "moves=c2c3+b4b3+c3d4+e5d4+" in exported.url


def test_the_winning_chain_and_the_rules_of_hex_are_shown(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('hex_3x3')}#play/hex_3x3?opponent=random&person=both&moves=b2+c1+b1+b3+c2+c3+a3")
    settled(exported, 7)
    won = exported.locator("#board .cell.won")
    assert won.evaluate_all("(nodes) => nodes.map((node) => node.dataset.square)") == ["1", "4", "6"]
    exported.get_by_role("link", name="Rules").click()
    expect(exported.locator("#rules-text li")).to_have_text(list(make_game("hex_3x3").presentation.how_to_play))
    expect(exported.locator("#rules-picture .cell.won")).to_have_count(3)


CHAINS = """
async ({ boards, width }) => {
  const { winningSquares } = await import("./local/winning.js");
  const view = { rows: width, columns: width, is_rhombus: true };
  return boards.map((squares) => winningSquares({ line_length: null, view }, squares));
}
"""


def test_chains_are_those_of_the_library(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(address("hex_3x3"))
    boards = np.random.default_rng(1).choice(np.array([-1, 0, 1], np.int8), (300, 36), p=[0.45, 0.1, 0.45])
    found = exported.evaluate(CHAINS, {"boards": boards.tolist(), "width": 6})
    expected = [winning_chain(board, (6, 6)) for board in boards]
    # Of several shortest chains, both find the same.
    assert list(map(sorted, found)) == expected
    assert {bool(chain) for chain in expected} == {True, False}


def test_the_agents_of_gomoku_and_go_reply(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('gomoku')}#play/gomoku?opponent=hard&person=first")
    expect(exported.get_by_label("Kind of opponent")).to_have_text("EasyMediumHardPretrainedPretrained, 0.3 sRandom")
    settled(exported, 0)
    exported.get_by_role("gridcell", name="e5").click()
    settled(exported, 2)
    # O has to close a line of four.
    exported.goto(f"{address('gomoku')}#play/gomoku?opponent=pretrained-search&person=first&moves=e5+a5+d5+a9+c5+i1+b5")
    settled(exported, 8)
    expect(exported.locator("#plies .move").last).to_have_text("f5")
    exported.goto(f"{address('go_7x7')}#play/go_7x7?opponent=pretrained-search&person=first&moves=D4")
    settled(exported, 2)
    expect(exported.locator("#status")).to_contain_text("Pretrained, 0.3 s plays ")


def test_numbers_choose_columns_in_connect_four(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('connect_four')}#play/connect_four?opponent=random&person=first")
    settled(exported, 0)
    exported.keyboard.press("7")
    settled(exported, 2)
    expect(exported.locator("[data-square='41'] .disc.red")).to_have_count(1)


def test_seats_are_swapped_after_a_match_and_the_score_is_kept(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('tictactoe')}#play/tictactoe?opponent=medium&person=first")
    settled(exported, 0)
    while (legal := exported.locator("#board .legal")).count():
        legal.last.click()
        settled(exported)
    score = exported.locator("#score")
    expect(score).to_have_text(re.compile(r"^You (1 : 0 Medium|0 : 1 Medium|0 : 0 Medium, 1 drawn)$"))
    before = score.inner_text()
    exported.get_by_role("button", name="Rematch").click()
    settled(exported, 1)
    expect(exported.get_by_role("radio", name="Second")).to_be_checked()
    expect(score).to_have_text(before)


def test_a_page_that_is_opened_as_a_file_says_what_to_do(browser: Browser, tmp_path: Path, tiny_run: Path) -> None:
    export_page(ExportPageSettings(str(tiny_run), GameSettings("tictactoe"), output_dir=str(tmp_path)))
    for file in (tmp_path / "index.html", PACKAGE_FOLDER / "web" / "page" / "index.html"):
        page = browser.new_page()
        page.goto(file.as_uri())
        expect(page.get_by_role("alert").get_by_text("python -m http.server")).to_be_visible()
        page.close()


@pytest.mark.parametrize(("page", "level"), [("tictactoe", 3), (POLICY, 1)])
def test_the_search_finds_the_win(page: str, level: int, exported: Page, address: Callable[[str], str]) -> None:
    """O completes the middle column, after X has completed nothing."""
    played = f"opponent=level-{level}-search&person=first&moves=0,0 1,1 2,2 0,1 1,2"
    exported.goto(f"{address(page)}#play/tictactoe?{played}")
    settled(exported, 6)
    expect(exported.locator("#status")).to_have_text(f"Level {level}, 0.3 s plays 2,1. You lose.")


CANDIDATES = """
async ({ positions, strength }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { Strength } = await import("./local/strengths.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const player = new Strength(description.ways[strength], description, new Game(description), agent);
  return positions.map(([own, opp, seat]) => player.candidates({ own: BigInt(own), opp: BigInt(opp), player: seat }));
}
"""


@pytest.mark.parametrize("game", ["tictactoe", "connect_four", pytest.param("othello", marks=pytest.mark.slow)])
def test_strengths_are_the_same_players_as_in_the_library(
    game: str, exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(address(game))
    state = positions_of_random_matches(make_game(game), 100)
    for strength in STRENGTHS:
        found = exported.evaluate(CANDIDATES, {"positions": rows_of(state), "strength": strength})
        player = make_player(strength, game).unwrapped
        policy = player.policy(state)
        assert policy is not None
        expected = [row.nonzero()[:, 0].tolist() for row in policy]
        # Sums of numbers are rounded in another order, so that a value may be just within or beyond the slack.
        assert sum(one == other for one, other in zip(found, expected, strict=True)) >= 98, strength
        assert exported.evaluate(
            "(strength) => fetch('local/game.json').then((it) => it.json()).then((it) => it.ways[strength].epsilon)",
            strength,
        ) == (parse_name(strengths(make_game(game))[strength]).options["epsilon"] or 0)


TREES = """
async ({ positions, strength, ply }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { drawsOf } = await import("./local/random.js");
  const { TreeStrength } = await import("./local/strengths.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const player = new TreeStrength(description.ways[strength], description, new Game(description), agent);
  return positions.map(([own, opp, seat], match) => {
    const state = { own: BigInt(own), opp: BigInt(opp), player: seat };
    const draws = drawsOf(BigInt(description.key), match, ply);
    return { visits: player.searched(state, draws).visits, action: player.act(state, draws) };
  });
}
"""


@pytest.mark.parametrize(
    ("game", "strength"),
    [
        ("breakthrough", "medium"),
        *(
            pytest.param(game, strength, marks=pytest.mark.slow)
            for game, strength in product(("gomoku", "go_7x7"), ("medium", "hard"))
        ),
    ],
)
def test_strengths_that_search_trees_are_the_same_players_as_in_the_library(
    game: str, strength: str, exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(address(game))
    ply, state = 3, positions_of_random_matches(make_game(game), 20)
    found = exported.evaluate(TREES, {"positions": rows_of(state), "strength": strength, "ply": ply})
    player = make_player(strength, game).unwrapped
    assert isinstance(player, MctsPlayer)
    draws = Draws(stream_key(0, 0, Activity.VERSUS_PERSON), torch.arange(20), ply)
    visits = player.search.search(state, draws).visits.tolist()
    actions = player.act(state, draws).tolist()
    expected = [{"visits": row, "action": action} for row, action in zip(visits, actions, strict=True)]
    # With a network, rounding may decide a close choice.
    assert sum(one == other for one, other in zip(found, expected, strict=True)) >= (20 if strength == "medium" else 18)


@pytest.mark.slow
def test_one_of_several_wins_at_once_is_drawn_as_in_the_library(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(address("gomoku"))
    game, copies = make_game("gomoku"), 20
    state = game.init()
    for action in (30, 0, 31, 2, 32, 4, 33, 6):
        state = game.step(state, torch.tensor([action]))
    state = state.select(torch.zeros(copies, dtype=torch.int64))
    found = exported.evaluate(TREES, {"positions": rows_of(state), "strength": "hard", "ply": 8})
    draws = Draws(stream_key(0, 0, Activity.VERSUS_PERSON), torch.arange(copies), 8)
    expected = make_player("hard", game).act(state, draws).tolist()
    assert set(expected) == {29, 34}
    assert [one["action"] for one in found] == expected


def test_the_judge_of_an_exported_page_solves_the_end_and_a_hint_agrees_with_it(
    exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(f"{address('tictactoe')}#play/tictactoe?opponent=easy&person=both&moves=0,0+1,1+2,2+0,1+2,1")
    settled(exported, 5)
    # The other squares lose. Four plies are searched to the end in the time, also on a busy machine.
    exported.get_by_role("button", name="Hint").click()
    expect(exported.locator("#status")).to_contain_text("Perfect play: 2,0 draws. Best line: 2,0 0,2 ")
    expect(exported.locator(".cell.hinted")).to_have_attribute("data-square", "6")
    exported.get_by_role("tab", name="Analyse").click()
    expect(exported.locator("#board .value", has_text="win")).to_have_count(0)
    expect(exported.locator("#board .cell.best")).to_have_count(1)


def searched_by_library(run_dir: Path, state: State) -> TreeSearchResult:
    player = make_player(f"mcts:level:1?simulations={SIMULATIONS}", "tictactoe", run_dir)
    assert isinstance(player, MctsPlayer)
    return player.search.search(state)


@pytest.mark.parametrize("architecture", ["conv", "residual"])
def test_values_of_networks_are_those_of_the_library(
    architecture: str, exported: Page, address: Callable[[str], str], run_of: Callable[..., Path]
) -> None:
    exported.goto(address(architecture))
    check_positions(exported, agent_of_level(run_of(architecture)), 100)


@pytest.mark.parametrize("architecture", [POLICY, "alphazero_residual"])
def test_tree_search_and_its_network_are_those_of_the_library(
    architecture: str, exported: Page, address: Callable[[str], str], run_of: Callable[..., Path], tmp_path: Path
) -> None:
    """Compared in positions in which no choice of the search is so close that rounding could decide it."""
    exported.goto(address(architecture))
    run_dir = run_of(architecture)
    agent = agent_of_level(run_dir)
    check_positions(exported, agent, 300)
    state = positions_of_random_matches(agent.game, 300)
    searched = searched_by_library(run_dir, state)
    changed = searched_by_library(network_run(tmp_path, architecture, change=1e-5), state)
    state = state.select((searched.visits == changed.visits).all(dim=1).nonzero()[:, 0])
    assert state.batch_size > 250
    searched = searched_by_library(run_dir, state)
    found = exported.evaluate(SEARCHED, {"positions": rows_of(state), "simulations": SIMULATIONS})
    evaluated = agent.policy().evaluate(state)
    np.testing.assert_allclose([one["value"] for one in found], evaluated.value.numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose([one["logits"] for one in found], evaluated.logits.numpy(), rtol=0, atol=1e-5)
    assert [one["action"] for one in found] == searched.actions.tolist()
    assert [one["visits"] for one in found] == searched.visits.tolist()
    values = np.array([one["values"] for one in found], dtype=np.float64)
    np.testing.assert_allclose(values, searched.action_values.numpy(), rtol=0, atol=1e-5)
    assert (searched.visits.sum(dim=1) == SIMULATIONS).sum() > 30


@pytest.mark.parametrize(
    ("game", "count"),
    [
        ("connect_four", 300),
        *(pytest.param(game, 10_000, marks=pytest.mark.slow) for game in ("tictactoe", "connect_four", "othello")),
        *(pytest.param(game, 100, marks=pytest.mark.slow) for game in ("gomoku", "go_7x7")),
    ],
)
def test_rules_values_and_actions_are_those_of_the_library(
    game: str, count: int, exported: Page, address: Callable[[str], str], tiny_run: Path
) -> None:
    exported.goto(address(game))
    check_positions(exported, agent_of(game, tiny_run), count)


SIXTY_THREE = 63


def sum_of(own: Word, opp: Word) -> Word:
    return own + opp


def every_operation(own: Word, opp: Word) -> tuple[Word, Word]:
    """Every operation that rules may have; results leave 64 bits, and numbers are negative."""
    total, few, count = sum_of(own, opp), bit_count(own) // 7 - 5, opp & SIXTY_THREE
    for step in range(1, 4):
        total = total ^ (own << step) * (opp >> (2 * step)) - step
        count += step * (few < 0) + (few >> 1)
    count += (opp != 3) + (own < opp) * 2 + (own <= opp) * 4 + (own > opp) * 8 + (own == opp) * 16
    sign = -1 * (bit_count(opp) > 9)
    return -total & (opp ^ (own & sign)), ~(count | (own << (opp & 31))) * (own >= opp) + (sign >> 3)


EVALUATED = "async ([code, pairs]) => {"
EVALUATED += " const { rule } = await import(`data:text/javascript,${encodeURIComponent(code)}`);"
EVALUATED += " return pairs.map(([own, opp]) => rule(BigInt(own), BigInt(opp)).map(String)); }"


def test_operations_of_rules_give_the_same_words(exported: Page) -> None:
    edges = [0, 1, -1, 2**63 - 1, -(2**63), 0x5555555555555555]
    words = [*edges, *torch.randint(-(2**62), 2**62, (40,), generator=torch.Generator().manual_seed(1)).tolist()]
    check_operations(exported, every_operation, [word % 2**64 for word in words], 64)


WIDTH = 150
MASK = word_of(range(5, 150, 3), WIDTH)
STEPS = (1, 70, 130)


def every_operation_across_parts(own: Word, opp: Word) -> tuple[Word, Word]:
    """The same with words that enclosing functions and tuples hold."""
    total = own
    for number in range(3):
        total = total ^ ((own << STEPS[number]) * ((opp >> (2 * number)) & 7) - (~opp >> STEPS[number]))
    count = bit_count(total) + (own < opp) * 2 + (own <= opp) * 4 + (own > opp) * 8 + (own == MASK) * 16
    return -total & (MASK | own), ~(count | (own << 31)) * (own != opp)


def test_operations_of_rules_give_the_same_words_of_several_parts(exported: Page) -> None:
    draws = random.Random(1)
    words = [0, 1, int(MASK), (1 << 192) - 1, 1 << 191, 1 << 64, *(draws.getrandbits(192) for _ in range(20))]
    check_operations(exported, every_operation_across_parts, words, WIDTH)
    check_operations(exported, every_operation, words, WIDTH)


def check_operations(exported: Page, rule: Callable[..., Any], words: list[int], bits: int) -> None:
    pairs = list(product(words, words))
    code = javascript_of({"rule": rule}, bits)
    found = exported.evaluate(EVALUATED, [code, [list(map(str, pair)) for pair in pairs]])
    own, opp = (words_of(word_tensor(column, bits), bits) for column in zip(*pairs, strict=True))
    for number, words_found in enumerate(rule(own, opp)):
        expected = [int(single_word(stored(words_found), row)) for row in range(len(pairs))]
        assert [int(pair[number]) for pair in found] == expected
