"""Our players as bots of OpenSpiel (https://github.com/google-deepmind/open_spiel), and its bots as our players.

    import pyspiel
    from selfplay.adapters.open_spiel import PlayerBot

    bot = PlayerBot("connect_four", "search:negascout?depth=6")
    bot.step(pyspiel.load_game("connect_four").new_initial_state())

A bot of OpenSpiel is the player `openspiel:BOT` wherever a player is named: `opponent=openspiel:mcts?simulations=1000`.
Needs the package open_spiel. The actions of both libraries have the same numbers, except in `OTHER_ACTIONS`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from selfplay.adapters import needs_extra
from selfplay.compute.random_numbers import Activity, Draws, Purpose, stream_key
from selfplay.errors import NotNowError, SettingError
from selfplay.games import Game, State, make_game, name_of_game
from selfplay.games.match import Match
from selfplay.named_players.make import make_player
from selfplay.names_of_games import parts_of_game_name
from selfplay.players.capabilities import FollowsMatch, capability
from selfplay.players.player import Player

with needs_extra("openspiel"):
    import pyspiel
    from open_spiel.python.algorithms import mcts

SPIEL_GAMES = {
    **{"tictactoe": "tic_tac_toe", "connect_four": "connect_four", "othello": "othello"},
    **{f"breakthrough_{n}x{n}": f"breakthrough(rows={n},columns={n})" for n in (6, 8)},
}
"""OpenSpiel's names of games that it has on this board. On 5x5 squares, its Breakthrough has one row of stones."""
SPIEL_BOARDS = {
    "tictactoe": "mnk(m={0.width},n={0.width},k={0.width})",
    "hex": "hex(board_size={0.width})",
    "gomoku": "mnk(m={0.width},n={0.height},k={0.length})",
    "go": "go(board_size={0.width},komi={0.komi})",
    "dots_and_boxes": "dots_and_boxes(num_rows={0.boxes},num_cols={0.boxes})",
    "nine_mens_morris": "nine_mens_morris",
    "draughts": "checkers",
}
"""OpenSpiel's names of games that it has on all boards.

OpenSpiel also ends a match of Go, as a draw, where a move repeats an earlier position; and one of draughts after 40
plies without a capture."""

BOTS = ("mcts", "random")

OBSERVATION = "egocentric_obs_tensor"
"""A parameter of games in OpenSpiel that does not change their rules."""


def spiel_game(game: Game) -> Any:
    """OpenSpiel's own version of one of our games. Raises SettingError if it has none."""
    name = name_of_game(game)
    parts = parts_of_game_name(name)
    theirs = SPIEL_GAMES.get(name) or SPIEL_BOARDS.get(parts.base)
    if theirs is None:
        names = ", ".join({**SPIEL_GAMES, **SPIEL_BOARDS})
        raise SettingError(f"game={name}: OpenSpiel does not have it; it has {names}")
    for parameter, value in parts.parameters.items():
        if f"{{0.{parameter}}}" not in theirs:
            raise SettingError(f"game={name}: OpenSpiel has {parts.base}, but not with {parameter}={value}")
    return pyspiel.load_game(theirs.format(game))


def our_action(game: Game, action: int) -> int:
    """Our number of an action of OpenSpiel's version of `game`."""
    convert = OTHER_ACTIONS.get(parts_of_game_name(game.name).base)
    return action if convert is None else convert(game, action)


def spiel_action(game: Game, position: Any, action: int) -> int:
    """The number of our action in a position of OpenSpiel, where it is legal."""
    return next(int(number) for number in position.legal_actions() if our_action(game, number) == action)


def _pair_in_breakthrough(game: Any, action: int) -> int:
    """The pair of squares of an action, which is (row, column, direction, whether it captures).

    There, the first player moves down the board, so its rows are ours from the bottom.
    """
    width: int = game.width
    row, column, direction, _ = (int(part) for part in np.unravel_index(action, (width, width, 6, 2)))
    ahead, aside = (1 if direction < 3 else -1), direction % 3 - 1
    squares = [(width - 1 - row) * width + column, (width - 1 - row - ahead) * width + column + aside]
    number: int = game.pairs.index(tuple(sorted(squares)))
    return number


def _line_in_dots_and_boxes(game: Any, action: int) -> int:
    """The place of a line: there, the horizontal ones come first."""
    boxes: int = game.boxes
    if action < boxes * (boxes + 1):
        row, column = divmod(action, boxes)
        return 2 * row * (2 * boxes + 1) + 2 * column + 1
    row, column = divmod(action - boxes * (boxes + 1), boxes + 1)
    return (2 * row + 1) * (2 * boxes + 1) + 2 * column


def _move_in_draughts(game: Game, action: int) -> int:
    """The action between two squares; there, it is (row, column, direction clockwise, whether it captures)."""
    row, column, direction, captures = (int(part) for part in np.unravel_index(action, (8, 8, 4, 2)))
    down, right = ((-1, -1), (-1, 1), (1, 1), (1, -1))[direction]
    squares = 8 * row + column, 8 * (row + down * (1 + captures)) + column + right * (1 + captures)
    return next(
        number
        for number in range(game.num_distinct_actions)
        if tuple(game.presentation.pointed_squares(number)) == squares
    )


OTHER_ACTIONS: dict[str, Callable[[Game, int], int]] = {
    "breakthrough": _pair_in_breakthrough,
    "dots_and_boxes": _line_in_dots_and_boxes,
    "draughts": _move_in_draughts,
}
"""Our numbers of actions, by the name of the game, where OpenSpiel has others."""


def _kind_of(game: Any) -> str:
    """The name of a game of OpenSpiel and the parameters of its rules."""
    rules = {name: value for name, value in game.get_parameters().items() if name != OBSERVATION}
    return f"{game.get_type().short_name}({', '.join(f'{name}={value}' for name, value in sorted(rules.items()))})"


class PlayerBot(pyspiel.Bot):  # type: ignore[misc]
    """One of our players as a bot of OpenSpiel.

    Args:
        game: our game, or its name.
        player: the player, or its name, such as "perfect" or "level:3".
        run_dir: the run of the levels that the name refers to; None: the usual one of the game.
        seed: of the player's random numbers.

    Raises SettingError for an unknown name, or a player that plays only whole matches.
    """

    def __init__(
        self, game: Game | str, player: Player | str, run_dir: str | Path | None = None, seed: int = 0
    ) -> None:
        pyspiel.Bot.__init__(self)
        self.game = make_game(game)
        self._spiel = spiel_game(self.game)
        self.player = make_player(player, self.game, run_dir)
        if capability(self.player, FollowsMatch):
            raise SettingError(f"player {self.player.name}: plays only whole matches; choose another player")
        self._key, self._match = stream_key(seed, 0, Activity.NAMED_PLAYERS), -1

    def restart(self) -> None:
        """Begin another match, with other random numbers."""
        self._match += 1

    def restart_at(self, state: Any) -> None:
        """Begin another match at this position."""
        self.restart()

    def step(self, state: Any) -> int:
        """The player's action in a position of OpenSpiel, whose history is replayed.

        Raises:
            SettingError: it is of another game, has other parameters, or did not begin at the start of the game.
            NotNowError: the match is over.
        """
        if (theirs := _kind_of(state.get_game())) != (own := _kind_of(self._spiel)):
            raise SettingError(f"the position is of {theirs}; this bot plays {own}")
        replayed = self._spiel.new_initial_state()
        for action in state.history():
            replayed.apply_action(action)
        if str(replayed) != str(state):
            raise SettingError("the position did not begin at the start of the game; its history does not lead to it")
        if state.is_terminal():
            raise NotNowError("the match is over; give the bot another position")
        ours = self.game.follow([our_action(self.game, action) for action in state.history()])
        draws = Draws(self._key, torch.tensor([max(self._match, 0)]), len(state.history()))
        return spiel_action(self.game, state, int(self.player.act(ours, draws)))


class SpielPlayer(Player):
    """A bot of OpenSpiel as a player. It follows one match at a time.

    Args:
        game: a game that OpenSpiel has too.
        bot: "random", or "mcts" for Monte-Carlo tree search with random rollouts.
        simulations: of each search.

    Raises SettingError if OpenSpiel does not have the game or the bot.
    """

    def __init__(self, game: Game, bot: str = "mcts", simulations: int = 100) -> None:
        if bot not in BOTS or simulations < 1:
            names = " or ".join(f"openspiel:{name}" for name in BOTS)
            raise SettingError(f"openspiel:{bot}?simulations={simulations}: write {names}")
        self.game, self.bot, self.simulations = game, bot, simulations
        self.name = f"openspiel:{bot}"
        self._spiel = spiel_game(game)
        self._match = Match(game)

    def follow(self, match: Match) -> None:
        if match.is_set_up:
            raise NotNowError(f"{self.name} only plays matches that begin at the start of the game")
        self._match = match

    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[1]: the bot's action in a batch of one, the match that it has followed; a random one where the match is
        over by the rules of OpenSpiel."""
        position = self._spiel.new_initial_state()
        for action in self._match.actions:
            position.apply_action(spiel_action(self.game, position, action))
        seed = int(draws.bits(Purpose.RANDOM_ACTION)[0]) & 0x7FFFFFFF
        if position.is_terminal():
            legal = self.game.legal_action_mask(state)[0].nonzero()[:, 0]
            return legal[seed % len(legal)][None]
        action = self._made_bot(seed, position.current_player()).step(position)
        return torch.tensor([our_action(self.game, action)])

    def _made_bot(self, seed: int, player: int) -> Any:
        if self.bot == "random":
            return pyspiel.make_uniform_random_bot(player, seed)
        random = np.random.RandomState(seed)
        evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=random)
        return mcts.MCTSBot(self._spiel, 2.0, self.simulations, evaluator, random_state=random)
