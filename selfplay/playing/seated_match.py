"""The current match between two players: who holds which seat, whose turn it is, and how it ended."""

from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player
from selfplay.playing.match_history import MatchHistory, Ply

HUMAN = "human"
"""The name of a person, where names of players are expected."""

Players = tuple[Player | None, Player | None]
"""Two players; None is a person."""


class SeatedMatch:
    """The state of the current match; `selfplay.playing.session.Session` adds playing.

    Attributes:
        players: the two players.
        first_player: which of the players (0 or 1) moves first.
    """

    def __init__(self, game: Game, players: Players, first_player: int) -> None:
        self.game, self.players, self.first_player = game, players, first_player
        self._history = MatchHistory(game.init())
        self._legal: tuple[State, tuple[int, ...]] | None = None

    @property
    def state(self) -> State:
        """The current position, a batch of one."""
        return self._history.states[-1]

    def state_before(self, ply: int | None) -> State:
        """The position before a ply of the match, numbered from 0; None: the current position."""
        return self._history.states[-1 if ply is None else ply]

    @property
    def plies(self) -> tuple[Ply, ...]:
        return tuple(self._history.plies)

    @property
    def is_over(self) -> bool:
        return bool(self.state.terminated)

    @property
    def to_move(self) -> int:
        """The seat to move: 0 moves first, 1 second. Meaningless if the match is over."""
        return int(self.state.current_player)

    @property
    def seats(self) -> Players:
        """The player who moves first, and the other."""
        return self.players[self.first_player], self.players[1 - self.first_player]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the players who move first and second."""
        one, other = (HUMAN if player is None else player.name for player in self.seats)
        return one, other

    @property
    def legal_actions(self) -> tuple[int, ...]:
        """The legal actions in ascending order; empty if the match is over."""
        # Cached, because it is needed several times in each position.
        if self._legal is None or self._legal[0] is not self.state:
            actions = tuple(self.game.legal_action_mask(self.state)[0].nonzero()[:, 0].tolist())
            self._legal = (self.state, actions)
        return self._legal[1]

    @property
    def can_only_pass(self) -> bool:
        return self.game.pass_action is not None and self.legal_actions == (self.game.pass_action,)

    @property
    def awaits_person(self) -> bool:
        """Whether a person has to choose an action; False if the person can only pass."""
        return not self.is_over and self.seats[self.to_move] is None and not self.can_only_pass

    @property
    def can_undo(self) -> bool:
        return self._history.last_choice is not None

    @property
    def winner(self) -> int | None:
        """The winning seat; None after a draw and before the end."""
        returns = float(self.state.returns)
        return None if returns == 0 else 0 if returns > 0 else 1

    @property
    def result_text(self) -> str | None:
        """The result as a sentence; None before the end."""
        if not self.is_over:
            return None
        return "A draw." if self.winner is None else f"{self.game.presentation.player_names[self.winner]} wins."

    @property
    def result_to_person(self) -> str | None:
        """As `result_text`, addressed to the person if exactly one of the players is a person."""
        if self.winner is None or self.seats.count(None) != 1:
            return self.result_text
        return "You win." if self.seats[self.winner] is None else "You lose."
