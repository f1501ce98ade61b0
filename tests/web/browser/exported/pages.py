"""Pages of networks with random weights, and positions to compare: helpers of the tests of exported pages."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Page
from torch import Tensor

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.compute.words import word_of_parts
from selfplay.games import Game, make_game
from selfplay.games.state import State
from selfplay.players.value_net import ValueNetPlayer
from selfplay.runs.run_folder import RunFolder

POLICY = "alphazero_mlp"
NETWORKS: dict[str, dict[str, Any]] = {
    POLICY: {},
    "alphazero_residual": {"channels": 5, "blocks": 2, "value_channels": 2, "policy_channels": 3, "dropout": 0.5},
    "alphazero_convolutional": {
        "channels": 5,
        "blocks": 1,
        "value_channels": 3,
        "policy_channels": 2,
        "board_blocks": [1],
    },
    "columns": {"name": "alphazero_convolutional", "channels": 5, "blocks": 1, "policy_channels": 3},
    "conv": {"channels": 5, "dropout": 0.5},
    "residual": {"channels": 6, "blocks": 2},
    "ntuple": {
        "patterns": [f"{'/' * row}.x.x.x.x/x.x.x.x" for row in (0, 2, 4, 6)],
        "phases": 2,
        "marks": 2,
        "upright": 4,
        "sets": [5],
    },
}
"""Options of the networks of `network_run`, by architecture or a name of their own, which is that of a page."""
GAME_OF = {name: {"ntuple": "draughts", "columns": "connect_four"}.get(name, "tictactoe") for name in NETWORKS}
"""The game of each page."""


def network_run(run_dir: Path, architecture: str = POLICY, change: float = 0.0, name: str = "") -> Path:
    """A run with one level: a network with random weights.

    `name`: its game, if not that of GAME_OF.
    `change`: the standard deviation of relative random changes of the weights.
    """
    game, options = make_game(name or GAME_OF[architecture]), {"name": architecture} | NETWORKS[architecture]
    network = build_network(options, game.observation_shape, game.num_distinct_actions, game)
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


def packed_texts(positions: Tensor) -> list[str]:
    """Packed positions (int64[B, W]) as the decimal numbers that JavaScript reads."""
    return [str(int(word_of_parts(row))) for row in positions.tolist()]


def rows_of(state: State) -> list[tuple[str, int]]:
    return list(zip(packed_texts(state.position), state.current_player.tolist(), strict=True))


ANSWERS = """
async ({ positions }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game, bestOf } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  return positions.map(([packed, player]) => {
    const state = { position: game.rules.unpacked(BigInt(packed)), player, isOver: false };
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
    # The player of an agent with tables would compile a search.
    player = ValueNetPlayer(game, agent.network, outcome=agent.checkpoint.metadata["outcome"])
    values = player.action_values(state).numpy()
    shown = np.array([answer["values"] for answer in answers], dtype=np.float32)
    np.testing.assert_allclose(shown, values, rtol=0, atol=1e-5)
    assert [answer["best"] for answer in answers] == np.nanargmax(values, axis=1).tolist()
