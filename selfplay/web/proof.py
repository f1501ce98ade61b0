"""Whether an opponent can lose at all: graded on the spot where the game is small enough, once for each player."""

from selfplay.games import Game
from selfplay.grade_text import never_loses, seats_verdict
from selfplay.grading import Grader
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.web.opponents import Opponent, Roster, mark_of
from selfplay.web.schemas import ProofView

SEARCHED_POSITIONS = 10_000
"""Positions of the largest game in which a search is tried in every one."""
PROOFS_KEPT = 500


class Proofs:
    """What is known of every opponent so far. For one thread at a time."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self._graders: dict[str, Grader] = {}
        self._known: dict[object, ProofView] = {}

    def of(self, game: Game, opponent: Opponent) -> ProofView:
        """What is certain about the opponent. Raises as `Roster.player`."""
        perfect = self.roster.perfect(game)
        if perfect is None or (opponent.view.is_slow and len(perfect.graph) > SEARCHED_POSITIONS):
            text = f"{game.title or game.name} has too many positions to try every line."
            return ProofView(is_unbeatable=None, text=text)
        player = self.roster.player(game, opponent)
        key = (game.name, opponent.view.id, mark_of(opponent), player.matches_seen())
        if key not in self._known:
            if len(self._known) >= PROOFS_KEPT:
                self._known.clear()
            self._known[key] = self._graded(game, opponent.view.label, player)
        return self._known[key]

    def _graded(self, game: Game, label: str, player: Player) -> ProofView:
        if game.name not in self._graders:
            perfect = self.roster.perfect(game)
            assert perfect is not None, "asked only of games that are solved"
            self._graders[game.name] = Grader(perfect.graph)
        grader = self._graders[game.name]
        if isinstance(player, SearchPlayer):
            # Proved is what it does with all the time that its depth takes.
            player = SearchPlayer(player.searcher, player.depth, name=player.name)
        grade = grader.grade(player)
        return ProofView(is_unbeatable=never_loses(grade, grader), text=seats_verdict(label, grade, grader))
