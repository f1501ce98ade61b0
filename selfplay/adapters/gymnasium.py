"""Our games as environments of Gymnasium (https://gymnasium.farama.org): one agent against one of our players.

    from selfplay.adapters.gymnasium import OpponentEnv

    env = OpponentEnv("tictactoe", "level:10")

Importing this module registers the games, so that `gymnasium.make("selfplay/ConnectFour-v0", opponent="medium")` makes
an environment.

Needs the package gymnasium.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.adapters import Observation, check_render_mode, dtype_of_observations, needs_extra, observed
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import NotNowError, SettingError
from selfplay.games import GAMES, Game, make_game
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import FollowsMatch, capability
from selfplay.players.player import Player

with needs_extra("gymnasium"):
    import gymnasium
    from gymnasium import spaces

LARGEST_SEED = 2**31


class OpponentEnv(gymnasium.Env):  # type: ignore[misc]
    """Matches against a player of this program, from one seat or from both in turns.

    Observations are dictionaries of `observation` and `action_mask`; the mask is in `info` too. The reward is that of
    the match for the agent, -1, 0 or 1 at its end. An illegal action ends the match with the reward -1, and
    `info["illegal"]` is then true.

    Args:
        game: the game, or its name, such as "othello" or "my_module:MyGame".
        opponent: the player to play against, or its name, such as "random", "perfect", "level:3" or
            "my_module:MyPlayer".
        run_dir: the run of the levels that the name refers to; None: the usual one of the game.
        seat: 0: the agent moves first; 1: second; None: in turns, first in the first match.
        render_mode: None, or "ansi" for boards as text.

    Raises:
        SettingError: an unknown game, player, seat or render mode; or a player that plays only whole matches, such as
            an engine.
        StageError, InvalidFileError: a file of the player is missing or broken.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        game: Game | str,
        opponent: Player | str = "random",
        *,
        run_dir: str | Path | None = None,
        seat: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if seat not in (0, 1, None):
            raise SettingError(f"seat={seat}: must be 0, 1 or None")
        check_render_mode(render_mode)
        self.game = make_game(game)
        self.opponent = make_player(opponent, self.game, run_dir)
        if capability(self.opponent, FollowsMatch):
            raise SettingError(f"opponent={self.opponent.name}: plays only whole matches; choose another player")
        self.render_mode, self._seat_setting = render_mode, seat
        self.seat, self._match, self._ply, self._key = 0, -1, 0, 0
        observation = spaces.Box(0, 1, self.game.observation_shape, dtype_of_observations(self.game))
        mask = spaces.Box(0, 1, (self.game.num_distinct_actions,), np.int8)
        self.observation_space = spaces.Dict({"observation": observation, "action_mask": mask})
        self.action_space = spaces.Discrete(self.game.num_distinct_actions)
        self.state_of_match = self.game.init()
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a match, with the opponent's first action if it moves first. The same seed gives the same matches."""
        super().reset(seed=seed)
        if seed is not None or self._match < 0:
            self._key = stream_key(int(self.np_random.integers(LARGEST_SEED)), 0, Activity.NAMED_PLAYERS)
            self._match = -1
        self._match += 1
        self._ply = 0
        self.seat = self._match % 2 if self._seat_setting is None else self._seat_setting
        self.state_of_match, self._is_over = self.game.init(), False
        self._let_opponent_act()
        return self._observation(), self._info()

    def step(self, action: int | str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action and let the opponent reply: (observation, reward, terminated, truncated, info).

        Raises:
            IllegalActionError: the action is neither a whole number nor the text of an action.
            NotNowError: no match has begun, or it is over.
        """
        action = self.game.number_of(action)
        if self._is_over:
            raise NotNowError("no match is being played; call reset first")
        if not (0 <= action < self.game.num_distinct_actions and self.action_masks()[action]):
            self._is_over = True
            return self._observation(), -1.0, True, False, self._info() | {"illegal": True}
        self._play(action)
        self._let_opponent_act()
        self._is_over = bool(self.state_of_match.terminated)
        returns = float(self.state_of_match.returns)
        return self._observation(), returns if self.seat == 0 else -returns, self._is_over, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """bool[A]: the legal actions, as MaskablePPO of sb3-contrib asks for them."""
        return self._observation()["action_mask"].astype(np.bool_)

    def _play(self, action: int) -> None:
        self.state_of_match = self.game.step(self.state_of_match, action)
        self._ply += 1

    def _let_opponent_act(self) -> None:
        while not bool(self.state_of_match.terminated) and int(self.state_of_match.current_player) != self.seat:
            draws = Draws(self._key, torch.tensor([self._match]), self._ply)
            self._play(int(self.opponent.act(self.state_of_match, draws)))

    def _observation(self) -> Observation:
        return observed(self.game, self.state_of_match, self.seat)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._observation()["action_mask"], "seat": self.seat}

    def render(self) -> str | None:
        """The board as text, with render_mode="ansi"."""
        return self.game.presentation.board_text(self.state_of_match) if self.render_mode == "ansi" else None


for _name in GAMES:
    gymnasium.register(
        f"selfplay/{_name.title().replace('_', '')}-v0",
        f"{__name__}:{OpponentEnv.__name__}",
        kwargs={"game": _name},
    )
