"""Players whose actions are known in advance."""

import torch

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games import Game
from selfplay.games.state import MatchRecord, State
from selfplay.players.player import Player, one_hot_policy, pick_actions


class FirstLegal(Player):
    """Plays the lowest legal action; does not value actions."""

    name = "first legal"

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, state: State, draws: Draws) -> torch.Tensor:
        return self.game.legal_action_mask(state).to(torch.uint8).argmax(dim=1)

    def policy(self, state: State) -> torch.Tensor:
        return one_hot_policy(self.act(state, Draws(0, torch.tensor([0]), 0)), self.game.legal_action_mask(state))


class Drawing(FirstLegal):
    """Plays at random."""

    name = "drawing"

    def act(self, state: State, draws: Draws) -> torch.Tensor:
        return pick_actions(self.game.legal_action_mask(state), draws.bits(Purpose.RANDOM_ACTION))


class Valuing(FirstLegal):
    """Values action a at a / 100, plays the best, and counts requests for values."""

    name = "valuing"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.asked = 0

    def act(self, state: State, draws: Draws) -> torch.Tensor:
        actions = torch.arange(self.game.num_distinct_actions)
        return (self.game.legal_action_mask(state) * (actions + 1)).argmax(dim=1)

    def action_values(self, state: State) -> torch.Tensor:
        self.asked += 1
        mask = self.game.legal_action_mask(state)
        return torch.where(mask, torch.arange(self.game.num_distinct_actions) / 100, torch.nan)


class Narrow(Valuing):
    """Values only the action that it plays, at 0.3, like a search that has tried no other."""

    name = "narrow"

    def action_values(self, state: State) -> torch.Tensor:
        played = one_hot_policy(self.act(state, Draws(0, torch.tensor([0]), 0)), self.game.legal_action_mask(state))
        return torch.where(played > 0, 0.3, torch.nan)


class Learning(Valuing):
    """Plays the lowest legal action, records the matches it is shown, and values every action 1 higher after each."""

    name = "learning"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.seen: list[tuple[int, list[int], float, tuple[int, ...]]] = []

    def act(self, state: State, draws: Draws) -> torch.Tensor:
        return FirstLegal.act(self, state, draws)

    def action_values(self, state: State) -> torch.Tensor:
        return super().action_values(state) + len(self.seen)

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        actions = record.action_sequences()[0].tolist()
        self.seen.append((int(record.match), actions, float(record.states[-1].returns), seats))

    def matches_seen(self) -> int:
        return len(self.seen)

    def status(self) -> str:
        return f"seen {len(self.seen)}"
