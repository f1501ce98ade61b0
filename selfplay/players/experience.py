"""The player that learns from experience: it does what once led to a win, and takes the square that once led to a loss.

In a board that it knows, with the boards that are known to follow it,

    1. it goes to the one with the best score for itself, if that score is a win for it (above 0 for X, below 0 for O);
    2. else it looks at the worst one: if the other player wins from there, it takes for itself the square by which the
       other would go on to its best board (one level deeper): a block;
    3. else, and in a board that it does not know, it plays a random legal action.

Of equal scores the board that was met first counts.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.match_record import MatchRecord
from selfplay.games.state import State
from selfplay.learners.experience.graph import Squares, Step
from selfplay.learners.experience.store import ExperienceStatus, ExperienceStore, KnownBoard
from selfplay.players.player import Player, one_hot_policy
from selfplay.players.random import RandomPlayer
from selfplay.settings.experience import ExperienceRule

log = logging.getLogger(__name__)

NO_CHOICE = -1
SIGNS = (1, -1)
"""The score of a board that player 0, and player 1, has won."""


class ExperiencePlayer(Player):
    """Plays by a store of experience, and adds each of its matches to it.

    Args:
        learns: whether it learns from its matches; without, the store is only read.
    """

    def __init__(self, store: ExperienceStore, *, learns: bool = True, name: str = "experience") -> None:
        self.store, self.game, self.learns, self.name = store, store.game, learns, name
        self.random = RandomPlayer(store.game)

    def matches_seen(self) -> int:
        return self.store.status().matches

    def status(self) -> ExperienceStatus:
        """The boards known and the machine's own record."""
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
        """float32[B, A] in [-1, 1]: the score of the board that each action makes, to the player to move.

        0 where that board is not known, nan where the action is illegal.
        """
        values = torch.full((state.batch_size, self.game.num_distinct_actions), torch.nan)
        values = values.masked_fill(self.game.legal_action_mask(state), 0.0)
        for row, (player, known, steps) in self._known(state).items():
            scores = {board.squares: SIGNS[player] * board.score for board in known}
            for step in steps:
                values[row, step.action] = scores.get(step.form, 0.0)
        return values

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        whole = State(*map(torch.cat, zip(*record.states, strict=True)))
        self.store.learn(_boards(self.game, whole), int(record.states[-1].returns), seats)

    def _choices(self, state: State) -> Tensor:
        """int64[B]: the action that experience gives; NO_CHOICE where it gives none."""
        choices = torch.full((state.batch_size,), NO_CHOICE)
        for row, (player, known, steps) in self._known(state).items():
            choices[row] = self._choice(known, steps, SIGNS[player])
        return choices

    def _known(self, state: State) -> dict[int, tuple[int, list[KnownBoard], list[Step]]]:
        """For each match whose board is known: who is to move, the boards known to follow, and the legal actions."""
        boards, form = _boards(self.game, state), self.store.form
        forms = [form.of(board) for board in boards]
        following = self.store.following(dict.fromkeys(forms))
        rows = [row for row in range(len(boards)) if following[forms[row]]]
        players, steps = state.current_player.tolist(), form.steps([boards[row] for row in rows])
        return {row: (players[row], following[forms[row]], s) for row, s in zip(rows, steps, strict=True)}

    def _choice(self, known: Sequence[KnownBoard], steps: Sequence[Step], sign: int) -> int:
        """The action in one board, for the player whose wins have this sign."""
        best, worst = _best(known, sign), _best(known, -sign)
        if sign * best.score > 0:
            return _step_to(steps, best).action
        if sign * worst.score == 0:
            return NO_CHOICE
        after_worst = _step_to(steps, worst).squares
        threats = self.store.following([worst.squares])[worst.squares]
        if not threats:
            return NO_CHOICE
        block = _step_to(self.store.form.steps([after_worst])[0], _best(threats, -sign)).action
        return block if any(step.action == block for step in steps) else NO_CHOICE


def _boards(game: Game, state: State) -> list[Squares]:
    return [tuple(squares) for squares in game.squares(state).tolist()]


def _best(boards: Sequence[KnownBoard], sign: int) -> KnownBoard:
    """The first of the best to the player whose wins have this sign."""
    return max(boards, key=lambda board: sign * board.score)


def _step_to(steps: Sequence[Step], board: KnownBoard) -> Step:
    """The lowest action that makes this board."""
    return next(step for step in steps if step.form == board.squares)


def load_experience_player(
    path: str | Path, game: Game, rule: ExperienceRule | None = None, *, learns: bool = True
) -> ExperiencePlayer:
    """The machine with the experience of this file; a file that is not there is made, empty.

    Args:
        rule: None: as the file says, or as `ExperienceRule()` for a new file.

    Raises as ExperienceStore.
    """
    stem = Path(path).stem
    if not Path(path).exists():
        # A path that is mistyped would else pass for a machine that knows nothing.
        log.info("a new memory is begun at %s", path)
    name = stem if stem.startswith("experience") else f"experience {stem}"
    return ExperiencePlayer(ExperienceStore(path, game, rule), learns=learns, name=name)
