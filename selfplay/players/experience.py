"""A player that uses the experience graph: it repeats moves that led to a win and blocks those that led to a loss.

On a board in the graph, given the boards recorded as following it, the player

    1. moves to the board with the best score for itself if that score is a win (above 0 for X, below 0 for O);
    2. otherwise looks at the worst one: if the opponent wins from there, the player takes the square with which the
       opponent would continue to its best board (a block);
    3. otherwise, and on boards that are not in the graph, plays a random legal action.

Of boards with equal scores, the one that was met first is used.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.experience.graph import BoardStep, Squares
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStatus, ExperienceStore, KnownBoard
from selfplay.files import user_path
from selfplay.games import Game, make_game
from selfplay.games.state import MatchRecord, State
from selfplay.players.player import Player, RandomPlayer, one_hot_policy

log = logging.getLogger(__name__)

NO_CHOICE = -1
SIGNS = (1, -1)
"""The score of a board won by player 0, and of one won by player 1."""


class Choice(NamedTuple):
    """What the rules choose on a board, and why."""

    action: int
    """NO_CHOICE if the action is random."""
    reason: str


UNKNOWN = Choice(NO_CHOICE, "at random, because it knows no board after this one")
UNDECIDED = Choice(NO_CHOICE, "at random, because every known score is 0")
NO_BLOCK = Choice(NO_CHOICE, "at random, because it cannot block the worst known board")


class ReadOnlyExperiencePlayer(Player):
    """Plays by an experience store without changing it."""

    store: ExperienceStore

    def __init__(self, store: ExperienceStore, *, name: str = "experience") -> None:
        self.store, self.game, self.name = store, store.game, name
        self.random = RandomPlayer(store.game)

    def status(self) -> ExperienceStatus:
        """The number of known boards and matches, and the results of the matches."""
        return self.store.status()

    def act(self, state: State, draws: Draws) -> Tensor:
        choices = self._choices(state)
        if not (choices == NO_CHOICE).any():
            return choices
        return torch.where(choices == NO_CHOICE, self.random.act(state, draws), choices)

    def policy(self, state: State) -> Tensor:
        choices = self._choices(state)
        chosen = one_hot_policy(choices.clamp(min=0), self.game.legal_action_mask(state))
        return torch.where((choices == NO_CHOICE)[:, None], self.random.policy(state), chosen)

    def action_values(self, state: State) -> Tensor:
        """float32[B, A] in [-1, 1]: the score, to the player to move, of the board each action leads to.

        nan for illegal actions and for boards that are not known to follow.
        """
        values = torch.full((state.batch_size, self.game.num_distinct_actions), torch.nan)
        for row, (player, known, steps) in self._known(state).items():
            scores = {board.squares: SIGNS[player] * board.score for board in known}
            for step in steps:
                values[row, step.action] = scores.get(step.form, torch.nan)
        return values

    def reason(self, state: State) -> str:
        """Why it chooses as it does in this position (B = 1): a predicted win, a block, or why it plays at random."""
        choices = [self._choice(known, steps, SIGNS[player]) for player, known, steps in self._known(state).values()]
        return choices[0].reason if choices else UNKNOWN.reason

    def _choices(self, state: State) -> Tensor:
        """int64[B]: the action chosen by rule 1 or 2; NO_CHOICE where neither applies."""
        choices = torch.full((state.batch_size,), NO_CHOICE)
        for row, (player, known, steps) in self._known(state).items():
            choices[row] = self._choice(known, steps, SIGNS[player]).action
        return choices

    def _known(self, state: State) -> dict[int, tuple[int, list[KnownBoard], list[BoardStep]]]:
        """For each row with known following boards: the player to move, those boards, and the legal actions."""
        boards, form = _boards(self.game, state), self.store.form
        forms = [form.of(board) for board in boards]
        following = self.store.following(dict.fromkeys(forms))
        rows = [row for row in range(len(boards)) if following[forms[row]]]
        players, steps = state.current_player.tolist(), form.steps([boards[row] for row in rows])
        return {row: (players[row], following[forms[row]], s) for row, s in zip(rows, steps, strict=True)}

    def _choice(self, known: Sequence[KnownBoard], steps: Sequence[BoardStep], sign: int) -> Choice:
        """The choice on one board, for the player whose wins have this sign."""
        best, worst = _best(known, sign), _best(known, -sign)
        if sign * best.score > 0:
            return Choice(
                _step_to(steps, best).action, f"a predicted win, with the best known score {sign * best.score:+.2f}"
            )
        if sign * worst.score == 0:
            return UNDECIDED
        to_worst = _step_to(steps, worst)
        if SIGNS[to_worst.player] == sign:
            # The same player moves again there, so the opponent does not threaten anything.
            return NO_BLOCK
        after_worst = to_worst.squares
        threats = self.store.following([worst.squares])[worst.squares]
        if not threats:
            return NO_BLOCK
        block = _step_to(self.store.form.steps([after_worst])[0], _best(threats, -sign)).action
        if not any(step.action == block for step in steps):
            return NO_BLOCK
        return Choice(block, f"a block, because the worst known score is {sign * worst.score:+.2f}")


class ExperiencePlayer(ReadOnlyExperiencePlayer):
    """Plays by an experience store and adds each of its matches to it."""

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        whole = State(*map(torch.cat, zip(*record.states, strict=True)))
        self.store.learn(_boards(self.game, whole), int(record.states[-1].returns), seats)

    def matches_seen(self) -> int:
        return self.store.status().matches


def _boards(game: Game, state: State) -> list[Squares]:
    return [tuple(squares) for squares in game.squares(state).tolist()]


def _best(boards: Sequence[KnownBoard], sign: int) -> KnownBoard:
    """The first of the best boards for the player whose wins have this sign."""
    return max(boards, key=lambda board: sign * board.score)


def _step_to(steps: Sequence[BoardStep], board: KnownBoard) -> BoardStep:
    return next(step for step in steps if step.form == board.squares)


def load_experience_player(
    path: str | Path, game: Game | str, rule: ExperienceRule | None = None, *, learns: bool = True
) -> ReadOnlyExperiencePlayer:
    """A player with the experience in this file, which is created empty if it does not exist.

    Args:
        rule: how scores are backed up; None for the rule of the file, or `ExperienceRule()` for a new file.
        learns: whether the player adds its matches to the file (an `ExperiencePlayer`).

    Raises as ExperienceStore.

    Examples:
        >>> player = selfplay.load_experience_player("experience.sqlite", "tictactoe")
        >>> players = player, selfplay.RandomPlayer(player.game)
        >>> records = list(selfplay.play_matches(player.game, players, range(10), key=0))
        >>> player.status().matches
        10
    """
    path = user_path(path)
    stem, is_new = path.stem, not path.exists()
    store = ExperienceStore(path, make_game(game), rule)
    if is_new:
        # Otherwise a mistyped path would go unnoticed.
        log.info("created a new experience store at %s", path)
    name = stem if stem.startswith("experience") else f"experience {stem}"
    kind = ExperiencePlayer if learns else ReadOnlyExperiencePlayer
    return kind(store, name=name)
