"""Tree search in plain Python, one node an object: what the compiled search must agree with."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from selfplay.compute.random_numbers import below, fold
from selfplay.games.game import Game
from selfplay.games.rules import Position, Rules
from selfplay.search.mcts.gumbel import gumbel_number, halving_schedule
from selfplay.search.mcts.puct import dirichlet

Evaluate = Callable[[Position, np.int64], tuple[float, dict[int, float]]]
"""(position, word) to the value and the logit of each action."""


@dataclass
class ReferenceNode:
    position: Position
    number: int
    actions: list[int]
    value: float = 0.0
    proved: bool = False
    prior: dict[int, float] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    mean: dict[int, float] = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)
    children: dict[int, "ReferenceNode"] = field(default_factory=dict)

    def lost(self, action: int, proves: bool) -> bool:
        return proves and action in self.exact and self.mean[action] <= -1

    def walk(self) -> Iterator["ReferenceNode"]:
        yield self
        for child in self.children.values():
            yield from child.walk()


def keep(root: ReferenceNode, position: Position, most: int) -> ReferenceNode | None:
    """What is kept of a tree for a position one or two plies later: the nodes below it that were added first."""
    near = [node for child in root.children.values() for node in (child, *child.children.values())]
    fitting = sorted((node for node in near if node.position == position), key=lambda node: node.number)
    if not fitting:
        return None
    nodes = sorted(fitting[0].walk(), key=lambda node: node.number)
    numbers = {id(node): number for number, node in enumerate(nodes[:most])}
    for node in nodes[:most]:
        node.number = numbers[id(node)]
        node.children = {action: child for action, child in node.children.items() if id(child) in numbers}
    return fitting[0]


class ReferenceSearch:
    """One tree. `rule` has begin(node, word), at_root(node, lost), below(node, lost), where lost(action) is a bool.

    `at_root` gives the actions of the next simulations, `below` one action.
    """

    def __init__(self, game: Game, evaluate: Evaluate, rule, simulations: int, proves: bool, words) -> None:
        self.game, self.evaluate, self.rule, self.proves = game, evaluate, rule, proves
        self.count, (self.root_word, self.leaf_word) = 0, words
        self.simulations = simulations

    def run(self, position: Position, kept: ReferenceNode | None = None) -> ReferenceNode:
        """`kept`: the tree of `keep`, which the search continues."""
        root = self.add(position) if kept is None else kept
        self.count = len(list(root.walk()))
        if root.proved:
            root.prior = dict.fromkeys(root.actions, 1 / len(root.actions))
        if not root.proved:
            if kept is None:
                self.expand(root)
            self.rule.begin(root, self.root_word)
        done = 0
        while done < self.simulations and not root.proved:
            for action in self.rule.at_root(root, lambda action: root.lost(action, self.proves)):
                if done < self.simulations and not root.proved:
                    self.simulate(root, action)
                    done += 1
        return root

    def add(self, position: Position) -> ReferenceNode:
        bits = self.game.rules.legal_actions(position)
        actions = [a for a in range(self.game.num_distinct_actions) if bits >> a & 1] or [self.game.pass_action]
        node = ReferenceNode(position, self.count, actions)
        self.count += 1
        node.visits, node.mean = dict.fromkeys(actions, 0), dict.fromkeys(actions, 0.0)
        node.prior = dict.fromkeys(actions, 0.0)
        if self.proves:
            for action in actions:
                end = self.end_value(self.after(node, action))
                if end is not None:
                    node.exact.add(action)
                    node.mean[action] = end
            self.prove(node)
        return node

    def after(self, node: ReferenceNode, action: int) -> Position:
        return self.game.rules.play(node.position, action)

    def end_value(self, position: Position) -> float | None:
        """The return of the player who has made the last move."""
        rules = self.game.rules
        if rules.legal_actions(position) or not rules.is_terminal(position):
            return None
        return turned(rules, position, float(rules.return_to_move(position)))

    def prove(self, node: ReferenceNode) -> None:
        known = [node.mean[action] for action in node.exact]
        if known and (max(known) >= 1 or len(known) == len(node.actions)):
            node.value, node.proved = max(known), True

    def expand(self, node: ReferenceNode) -> None:
        node.value, logits = self.evaluate(node.position, fold(self.leaf_word, np.int64(node.number)))
        largest = max(logits[action] for action in node.actions)
        odds = {action: math.exp(logits[action] - largest) for action in node.actions}
        node.prior = {action: odd / sum(odds.values()) for action, odd in odds.items()}

    def simulate(self, node: ReferenceNode, action: int | None = None) -> float:
        """One simulation, which may begin with this action; the result to the player to move."""
        if action is None:
            action = self.rule.below(node, lambda action: node.lost(action, self.proves))
        if action not in node.exact and action not in node.children:
            position = self.after(node, action)
            end = self.end_value(position)
            if end is not None:
                node.exact.add(action)
                node.mean[action] = end
            else:
                child = node.children[action] = self.add(position)
                if not child.proved:
                    self.expand(child)
                return self.take(node, action, child, child.value)
        if action in node.exact:
            node.visits[action] += 1
            return node.mean[action]
        child = node.children[action]
        return self.take(node, action, child, self.simulate(child))

    def take(self, node: ReferenceNode, action: int, child: ReferenceNode, value: float) -> float:
        node.visits[action] += 1
        if child.proved:
            node.exact.add(action)
            node.mean[action] = turned(self.game.rules, child.position, child.value)
            self.prove(node)
            return node.value if node.proved else node.mean[action]
        value = turned(self.game.rules, child.position, value)
        node.mean[action] += (value - node.mean[action]) / node.visits[action]
        return value


def turned(rules: Rules, position: Position, value: float) -> float:
    """The value of a position to the player who has made the last move."""
    is_same = rules.moves_again is not None and rules.moves_again(position)
    return value if is_same else 0.0 - value


def first_best(scores: dict[int, float]) -> int:
    return max(scores, key=lambda action: scores[action])


class ReferencePuct:
    def __init__(self, c_init=1.25, c_base=19652.0, unvisited=0.2, noise=0.0, alpha=1.0) -> None:
        self.c_init, self.c_base, self.unvisited, self.noise, self.alpha = c_init, c_base, unvisited, noise, alpha

    def begin(self, node, word) -> None:
        shares = np.zeros(len(node.actions))
        dirichlet(self.alpha, word, shares)
        for action, share in zip(node.actions, shares, strict=True):
            node.prior[action] = (1 - self.noise) * node.prior[action] + self.noise * share

    def below(self, node, lost) -> int:
        total = 1 + sum(node.visits.values())
        c = self.c_init + math.log((1 + total + self.c_base) / self.c_base)
        scores = {}
        for action in node.actions:
            known = node.visits[action] or action in node.exact
            q = node.mean[action] if known else node.value - self.unvisited
            u = c * math.sqrt(total) * node.prior[action] / (1 + node.visits[action])
            scores[action] = -math.inf if lost(action) else q + u
        return first_best(scores)

    def at_root(self, node, lost) -> list[int]:
        return [self.below(node, lost)]


class ReferenceUct:
    def __init__(self, c=1.4) -> None:
        self.c = c

    def begin(self, node, word) -> None:
        pass

    def below(self, node, lost) -> int:
        total, scores = sum(node.visits.values()), {}
        for action in node.actions:
            visits = node.visits[action]
            bound = math.inf if visits == 0 else node.mean[action] + self.c * math.sqrt(math.log(total) / visits)
            scores[action] = -math.inf if lost(action) else bound
        return first_best(scores)

    def at_root(self, node, lost) -> list[int]:
        return [self.below(node, lost)]


class ReferenceGumbel:
    def __init__(self, simulations, c_visit=50.0, c_scale=1.0, considered=16, gumbel_scale=0.0) -> None:
        self.c_visit, self.c_scale, self.considered, self.gumbel_scale = c_visit, c_scale, considered, gumbel_scale
        self.simulations = simulations

    def begin(self, node, word) -> None:
        numbers = [gumbel_number(fold(word, np.int64(i))) for i in range(len(node.actions))]
        self.g = {a: self.gumbel_scale * g for a, g in zip(node.actions, numbers, strict=True)}

    def sigma(self, node, q: float) -> float:
        return 0.5 * (self.c_visit + max(node.visits.values())) * self.c_scale * (q + 1)

    def completed(self, node) -> dict[int, float]:
        visited = [action for action in node.actions if node.visits[action]]
        total, missing = sum(node.visits.values()), node.value
        if visited:
            weighted = sum(node.prior[action] * node.mean[action] for action in visited)
            share = sum(node.prior[action] for action in visited)
            missing = (node.value + total * weighted / share) / (1 + total)
        known = {*visited, *node.exact}
        return {action: node.mean[action] if action in known else missing for action in node.actions}

    def logits(self, node) -> dict[int, float]:
        return {a: math.log(node.prior[a]) + self.sigma(node, q) for a, q in self.completed(node).items()}

    def at_root(self, node, lost) -> list[int]:
        number = min(len(node.actions), self.considered)
        schedule = halving_schedule(number, self.simulations)[sum(node.visits.values()) :]
        scores = {a: self.g[a] + logit for a, logit in self.logits(node).items() if not lost(a)}
        best_first = sorted(scores, key=lambda a: (node.visits[a] != schedule[0], -scores[a]))
        return best_first[: schedule.count(schedule[0])]

    def policy(self, node) -> dict[int, float]:
        logits = self.logits(node)
        largest = max(logits.values())
        odds = {a: math.exp(logit - largest) for a, logit in logits.items()}
        return {a: odd / sum(odds.values()) for a, odd in odds.items()}

    def below(self, node, lost) -> int:
        total = 1 + sum(node.visits.values())
        policy = self.policy(node)
        return first_best({a: -math.inf if lost(a) else policy[a] - node.visits[a] / total for a in node.actions})


def rollout_evaluation(game: Game, rollouts: int) -> Evaluate:
    """The mean return of random matches, with uniform logits."""
    rules = game.rules

    def rollout(position: Position, word: np.int64) -> float:
        ply, sign = 0, 1.0
        while True:
            legal = [a for a in range(64) if rules.legal_actions(position) >> a & 1]
            if not legal and rules.is_terminal(position):
                return sign * float(rules.return_to_move(position))
            action = game.pass_action
            if legal:
                action = legal[int(below(fold(word, np.int64(ply)), np.int64(len(legal))))]
            position = rules.play(position, action)
            sign = turned(rules, position, sign)
            ply += 1

    def evaluate(position: Position, word: np.int64) -> tuple[float, dict[int, float]]:
        results = [rollout(position, fold(word, np.int64(number))) for number in range(rollouts)]
        return sum(results) / rollouts, dict.fromkeys(range(game.num_distinct_actions), 0.0)

    return evaluate


def afterstate_evaluation(game: Game, lead: Callable[[Position], float], temperature: float) -> Evaluate:
    """The largest value of a following position, `lead` to the player to move there or the return at the end."""
    rules = game.rules

    def value(position: Position) -> float:
        return turned(
            rules, position, float(rules.return_to_move(position) if rules.is_terminal(position) else lead(position))
        )

    def evaluate(position: Position, word: np.int64) -> tuple[float, dict[int, float]]:
        legal = [a for a in range(64) if rules.legal_actions(position) >> a & 1]
        values = {action: value(rules.play(position, action)) for action in legal}
        return max(values.values()), {action: one / temperature for action, one in values.items()}

    return evaluate
