"""Proofs whether an opponent can lose: computed on request in small games, otherwise read from the files of the run."""

from functools import partial
from typing import Any

from selfplay.compute.made_once import MadeOnce
from selfplay.errors import GameTooLargeError
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.games.game import SEATS
from selfplay.games.position_graph import enumerate_positions
from selfplay.games.win_draw_loss import share_text
from selfplay.grading.proof import Grader, Lines, count_text, is_unbeatable, lines_text, unbeatable_seats
from selfplay.grading.winning_proof.report import proof_report, read_result
from selfplay.named_players.make import files_of_player
from selfplay.players.capabilities import LearnsFromMatches, capability
from selfplay.players.player import Player
from selfplay.runs.command_lines import command_line
from selfplay.runs.manifest import Manifest
from selfplay.web.game_schemas import OfferedPlayer, ProofView
from selfplay.web.loaded_players import LoadedPlayers, file_version
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.story import story_of

MAX_GRADED_POSITIONS = 10_000
"""The size of the largest game in which every line is tried while a person waits."""
MAX_GRADERS, MAX_PROOFS = 64, 500
"""Number of games of which the positions, and of results, that are kept."""


class OpponentProofs:
    """Proves whether opponents can lose. Methods may be called from several threads."""

    def __init__(self, catalog: OpponentCatalog, players: LoadedPlayers) -> None:
        self.catalog, self._players = catalog, players
        self._graders = MadeOnce[Grader | None](MAX_GRADERS)
        self._known = MadeOnce[ProofView](MAX_PROOFS)

    def of(self, game: Game, opponent: str) -> ProofView:
        """The proof about the opponent with this id. Raises what `OpponentCatalog.opponent` and `LoadedPlayers.lent`
        raise."""
        offer, grader = self.catalog.opponent(game, opponent), self._graders.get(game.name, partial(_grader, game))
        if grader is None:
            return self._from_files(game, offer)
        with self._players.lent(game, offer) as player:
            learner = capability(player, LearnsFromMatches)
            seen = None if learner is None else learner.matches_seen()
            key = (game.name, offer.id, file_version(offer), seen)
            return self._known.get(key, partial(self._graded, game, grader, offer, player))

    def _from_files(self, game: Game, offer: OfferedPlayer) -> ProofView:
        """The results in comparison/levels.csv, or of walks, for the present agent."""
        if (lines := self._compared_lines(game, offer)) is not None:
            return proof_view(lines, lines_verdict(offer.label, lines))
        text = f"{game.presentation.title} has too many positions to try every line while you wait."
        walked = "\n".join(self._walks(game, offer))
        return ProofView(is_unbeatable=None, unbeatable_seats=None, text=walked or text)

    def _compared_lines(self, game: Game, offer: OfferedPlayer) -> tuple[Lines, Lines] | None:
        """The lines that a level loses by comparison/levels.csv, if it was about the present file of the level."""
        run, rows = self.catalog.run(game), story_of(self.catalog, game).comparison
        section = _present(Manifest(run.path), "comparison")
        if not offer.has_fixed_values or offer.file is None or section is None or not run.comparison.exists():
            return None
        if sha256(run.comparison) not in section["files"].values():
            return None
        trained = [row for row in rows if row["level"] > 0]
        for row, agent in zip(trained, section["settings"].get("agents_sha256", []), strict=False):
            if row["level"] == offer.number and agent == sha256(offer.file):
                first, second = (Lines(row[f"losing_lines_{seat}"], row[f"lines_{seat}"]) for seat in SEATS)
                return None if first.total is None else (first, second)
        return None

    def _walks(self, game: Game, offer: OfferedPlayer) -> list[str]:
        """The reports of `selfplay prove` about the opponent, or about searches with its present weights."""
        run, reports = self.catalog.run(game), []
        for table in sorted(run.proofs.glob("*/proof.csv")):
            # A walk that has not ended has no section, but may still have the table of an earlier walk.
            if (section := _present(Manifest(table.parent), "proof")) is None:
                continue
            files = [offer.file] if offer.file is not None else None
            if section["settings"]["player"] == offer.id:
                files = files_of_player(offer.id, run.path)
            if files is not None and section["settings"]["agents_sha256"] == list(map(sha256, files)):
                reports.append(proof_report(read_result(table, command_line("prove"))))
        return reports

    def _graded(self, game: Game, grader: Grader, offer: OfferedPlayer, player: Player) -> ProofView:
        # The proof assumes that a search has enough time for its depth.
        unlimited = player.without_time_limit()
        if unlimited.policy(game.init()) is None:
            text = f"Whether {offer.label} can lose is not known: the chances of its moves are not known in advance."
            return ProofView(is_unbeatable=None, unbeatable_seats=None, text=text)
        grade = grader.grade(unlimited)
        if offer.has_fixed_values or unbeatable_seats(grade.lines):
            return proof_view(grade.lines, grade.verdict(offer.label))
        # The number of lines that a player loses says little if it plays some of them seldom.
        first, second = (share_text(chance, 1, "%") for chance in grader.losses_to_best_replies(unlimited))
        text = (
            f"Against the best replies {offer.label} loses {first} of its matches moving first, {second} moving second."
        )
        return proof_view(grade.lines, text)


def _present(manifest: Manifest, stage: str) -> dict[str, Any] | None:
    """The section of a stage, if it was made with the present code of games and players from outside."""
    section: dict[str, Any] | None = manifest.sections.get(stage)
    return None if section is None or manifest.changed_code(stage, section["settings"]) else section


def _grader(game: Game) -> Grader | None:
    """The grader of the game; None if the game has more than MAX_GRADED_POSITIONS."""
    try:
        return Grader(enumerate_positions(game, MAX_GRADED_POSITIONS))
    except GameTooLargeError:
        return None


def proof_view(lines: tuple[Lines, Lines], text: str) -> ProofView:
    """The proof that follows from the lines that a player loses in each seat."""
    return ProofView(is_unbeatable=is_unbeatable(lines), unbeatable_seats=list(unbeatable_seats(lines)), text=text)


def lines_verdict(name: str, lines: tuple[Lines, Lines]) -> str:
    """As `Grade.verdict`, if the lines are known, but not the seats in which perfect play never loses."""
    proved = unbeatable_seats(lines)
    if len(proved) == 1:
        seat, other = proved[0], 1 - proved[0]
        return (
            f"{name} cannot lose moving {SEATS[seat]}: all {count_text(lines[seat].total)} lines tried. "
            f"Moving {SEATS[other]} it loses {lines_text(lines[other])}."
        )
    first, second = map(lines_text, lines)
    loses = "it can lose" if not proved else "it cannot lose"
    return f"{name} loses {first} lines moving first and {second} moving second: {loses}."
