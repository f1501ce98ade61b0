"""Our games as environments of PettingZoo (https://pettingzoo.farama.org), for agents of other libraries.

    from selfplay.adapters.pettingzoo import BoardGameEnv

    env = BoardGameEnv("connect_four")

Needs the package pettingzoo.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.adapters import Observation, check_render_mode, dtype_of_observations, needs_extra, observed
from selfplay.errors import NotNowError
from selfplay.games import Game, make_game

with needs_extra("pettingzoo"):
    from gymnasium import spaces
    from pettingzoo import AECEnv

AGENTS = ["player_0", "player_1"]


class BoardGameEnv(AECEnv):  # type: ignore[misc]
    """A game as an AEC environment: two agents that move in turns, player_0 first.

    Observations are dictionaries of `observation` and `action_mask`, as in PettingZoo's classic environments. Rewards
    are 0 until the end of the match and then -1, 0 or 1. An illegal action raises IllegalActionError.

    Args:
        game: the game, or its name, such as "othello" or "my_module:MyGame".
        render_mode: None, or "ansi" for boards as text.

    Raises SettingError for an unknown game or render mode.
    """

    def __init__(self, game: Game | str, render_mode: str | None = None) -> None:
        super().__init__()
        check_render_mode(render_mode)
        self.game = make_game(game)
        self.metadata = {"name": f"selfplay_{self.game.name}_v0", "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        observation = spaces.Box(0, 1, self.game.observation_shape, dtype_of_observations(self.game))
        mask = spaces.Box(0, 1, (self.game.num_distinct_actions,), np.int8)
        both = {"observation": observation, "action_mask": mask}
        self.observation_spaces = {agent: spaces.Dict(dict(both)) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(self.game.num_distinct_actions) for agent in AGENTS}
        self.reset()
        self._has_begun = False

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of the agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The space of the agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. The games have no chance, so the seed changes nothing."""
        self.state_of_match = self.game.init()
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[0]
        self._has_begun = True

    def observe(self, agent: str) -> Observation:
        """What an agent observes; a finished match has no legal actions."""
        return observed(self.game, self.state_of_match, AGENTS.index(agent))

    def step(self, action: int | str | None) -> None:
        """Take the action of the selected agent.

        Raises:
            IllegalActionError: the action is not legal.
            NotNowError: no match has begun.
        """
        if not self._has_begun:
            raise NotNowError("no match is being played; call reset first")
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        after = self.game.step(self.state_of_match, self.game.number_of(action))
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.state_of_match = after
        if bool(self.state_of_match.terminated):
            first = float(self.state_of_match.returns)
            self.rewards = {AGENTS[0]: first, AGENTS[1]: -first}
            self.terminations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[int(self.state_of_match.current_player)]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The board as text, with render_mode="ansi"."""
        return self.game.presentation.board_text(self.state_of_match) if self.render_mode == "ansi" else None

    def state(self) -> NDArray[np.uint8 | np.float32]:
        """The board as the player who is not to move sees it."""
        return self.game.observe(self.state_of_match)[0].numpy().astype(dtype_of_observations(self.game))

    def close(self) -> None:
        """Do nothing: the environment holds nothing open."""
