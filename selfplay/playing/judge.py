"""The judge: the best values of the actions of a position that are known, whoever plays."""

import time
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.estimates import Estimate, Values, estimate_of
from selfplay.players.perfect import endgame_player, perfect_player_of
from selfplay.players.player import Player, PlayerWrapper
from selfplay.search.deadline import current_deadline
from selfplay.search.prover import Proofs, Prover
from selfplay.search.shared_solver import NotSolvedYetError, SharedSolver, Solving

LONGEST_LINE = 10
"""The largest number of actions in a line of best moves."""
MOST_SIMULATIONS = 40_000
"""The most simulations for the values of all actions: with random matches there would be more."""
MOST_FOR_BEST, MOST_FOR_ALL, MOST_FOR_ONE = 8_000_000, 500_000, 5_000_000
"""Positions visited by the searches for proofs, divided by the words of a position: of the result of a position, of its
other actions, and of an action that is compared with one whose result is proved. A million takes 0.1 to 0.4 s."""


class Judge(PlayerWrapper):
    """Gives the best values of actions that are known in a game. They do not depend on the match.

    Exact values come first: those of perfect play, of an exact solver near the end, and results that a search to the
    ends of matches proves. Other actions have the estimates of `player`. Use it in one thread at a time.

    Args:
        player: estimates the values of actions without exact ones.
        prover: proves results; None: nothing is proved.
        background: proves results in the background, which are used when they are known.
    """

    def __init__(
        self, game: Game, player: Player, prover: Prover | None = None, background: SharedSolver | None = None
    ) -> None:
        super().__init__(player)
        self.game, self.prover, self.background = game, prover, background

    def act(self, state: State, draws: Draws) -> Tensor:
        found = [self.estimate(state.select(row)) for row in torch.arange(state.batch_size)[:, None]]
        best = [None if estimate is None else estimate.best for estimate in found]
        return torch.tensor([0 if action is None else action for action in best])

    def estimate(
        self, state: State, played: int | None = None, seconds: float | None = None, *, values_all: bool = False
    ) -> Estimate | None:
        """The exact values of the actions of a position (B = 1), or else the best estimates; None if it is over.

        If the player divides simulations among actions, each that is valued is searched alike.

        Args:
            played: an action that is to be compared with the best one, such as that of the match.
            seconds: how long to wait for the exact values of a game that can be solved; None for no limit.
            values_all: whether to value all actions, and not only these two, if that takes at most `MOST_SIMULATIONS`.
        """
        if bool(state.terminated):
            return None
        perfect = perfect_player_of(self.game)
        solver = endgame_player(self.game, state) if perfect is None else perfect.with_time_limit(seconds)
        if solver is not None:
            with suppress(NotSolvedYetError):
                exact = estimate_of(solver, self.game, state, _draws(1))
                return None if exact is None else exact._replace(is_exact=True)
        unknown = np.full(self.game.num_distinct_actions, np.nan, dtype=np.float32)
        known = self.with_known(Estimate(self.player, state, unknown, False, None, is_exact=False))
        if known.is_exact:
            return known
        estimate = self._estimated(state, played, values_all)
        if estimate is None or self.prover is None or estimate.in_points:
            return estimate
        return self._with_results(estimate, played, self.prover.proofs(state))

    def _estimated(self, state: State, played: int | None, values_all: bool) -> Estimate | None:
        """The values of the player."""
        estimate = estimate_of(self.player, self.game, state, _draws(1))
        if estimate is None or estimate.preferred is None:
            return estimate
        compared = list(dict.fromkeys([estimate.preferred] if played is None else [estimate.preferred, played]))
        legal = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        assert estimate.visits is not None, "it counts its simulations"
        is_quick = int(estimate.visits.sum()) * len(legal) <= MOST_SIMULATIONS
        actions = list(dict.fromkeys([*compared, *(legal if values_all and is_quick else [])]))
        return estimate.with_searched(actions, self._values_after(state, torch.tensor(actions)), compared)

    def _values_after(self, state: State, actions: Tensor) -> Values:
        """The value of each action to the player to move, by a search of the position after it; nan if it is over."""
        before = state.select(torch.zeros_like(actions))
        after = self.game.step_unchecked(before, actions)
        rows = (~after.terminated).nonzero()[:, 0]
        values: Values = np.full(len(actions), np.nan, dtype=np.float32)
        if len(rows) > 0:
            found = self.player.value_actions(after.select(rows), _draws(len(rows)))
            assert found is not None, "it values the actions of all positions"
            assert found.preferred is not None, "it divides its simulations among them"
            value = found.values.gather(1, found.preferred[:, None])[:, 0] * (found.points_per_value or 1.0)
            is_again = (after.current_player == before.current_player)[rows]
            values[rows.numpy()] = torch.where(is_again, value, -value)
        return values

    def _with_results(self, estimate: Estimate, played: int | None, proofs: Proofs) -> Estimate:
        """With the results that are proved.

        If only one of the best action and the one played is proved, the other is searched once more.
        """
        words = self.game.rules.position.num_words
        proofs.prove_best(MOST_FOR_BEST // words)
        proofs.prove(proofs.actions, MOST_FOR_ALL // words)
        estimate = self._with_open_action(estimate, proofs)
        found = estimate.with_results(proofs.results, are_all=proofs.are_all)
        if played is not None and found.best is not None and found.knows(found.best) != found.knows(played):
            proofs.prove([found.best, played], MOST_FOR_ONE // words)
            found = estimate.with_results(proofs.results, are_all=proofs.are_all)
        return found

    def _with_open_action(self, estimate: Estimate, proofs: Proofs) -> Estimate:
        """If the action that the search finds best is proved to lose, the most searched of those that are not is."""
        best, visits = estimate.preferred, estimate.visits
        unproved = [action for action in proofs.actions if np.isnan(proofs.results[action])]
        if best is None or visits is None or proofs.results[best] != -1 or not unproved:
            return estimate
        chosen = max(unproved, key=lambda action: (visits[action], -action))
        values = estimate.values.copy()
        if np.isnan(values[chosen]):
            values[chosen] = self._values_after(estimate.state, torch.tensor([chosen]))[0]
        return estimate._replace(values=values, preferred=chosen)

    def with_known(self, estimate: Estimate) -> Estimate:
        """With the results that are known in the background by now."""
        known = {} if self.background is None else self.background.known(estimate.state)
        if not known or estimate.is_exact or estimate.in_points:
            return estimate
        proved = np.zeros(len(estimate.values), dtype=np.bool_) if estimate.proved is None else estimate.proved
        results: Values = np.where(proved, estimate.values, np.float32(np.nan))
        results[list(known)] = list(known.values())
        legal = self.game.legal_action_mask(estimate.state)[0].numpy()
        return estimate.with_results(results, are_all=not np.isnan(results[legal]).any())

    def solving(self, state: State) -> Solving | None:
        """A position (B = 1) whose results are proved in the background from now on; None if they are not."""
        return None if self.background is None or bool(state.terminated) else self.background.ask(state)

    def line(self, state: State, estimate: Estimate, seconds: float) -> list[int]:
        """The best action of a position (B = 1) by `estimate`, and those that follow if both players take the best.

        After an exact value there are only exact ones. No further action is added after this number of seconds, or
        after the deadline of the context.
        """
        deadline = current_deadline()
        latest = time.monotonic() + min(seconds, deadline.left)
        following: Estimate | None = estimate
        actions: list[int] = []
        while following is not None and following.best is not None and following.is_exact >= estimate.is_exact:
            actions.append(following.best)
            state = self.game.step_unchecked(state, torch.tensor(actions[-1:]))
            left = latest - time.monotonic()
            if len(actions) == LONGEST_LINE or left <= 0:
                break
            following = self.estimate(state, seconds=left)
            if deadline.is_over:
                # The search was cut short.
                break
        return actions


def _draws(size: int) -> Draws:
    """Random numbers that are the same in all matches."""
    return Draws(0, torch.zeros(size, dtype=torch.int64), 0)
