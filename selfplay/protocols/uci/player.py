"""A third-party engine as a player, over the Universal Chess Interface."""

from itertools import pairwise

from selfplay.errors import EngineError, IllegalActionError, SettingError
from selfplay.files import user_path
from selfplay.games.game import Game
from selfplay.protocols.engine_player import EnginePlayer, advice
from selfplay.protocols.process import EngineProcess
from selfplay.protocols.uci.notation import PATH_OPTION, VARIANT_OPTION, UciMoves, lines_until, variant_of, variants_in

USUAL_DEPTH = 8


class UciPlayer(EnginePlayer):
    """Plays what an engine answers to `go`, and sends the whole match before.

    Args:
        command: as for `EnginePlayer`
        time_limit: seconds for each answer; those at the start of the program at least 30
        variant: its name of the game; null: that of Fairy-Stockfish, or ours
        variants: the file in which it finds the variant; null: it knows it
        depth: plies that it is told to look ahead; null: 8, or no limit if movetime or nodes is given
        movetime: milliseconds that it is told to take for each move; null: no limit
        nodes: positions that it is told to search for each move; null: no limit
        threads: threads that it is told to use

    Raises as `EnginePlayer`, and SettingError if the protocol does not fit the game.
    """

    protocol = "uci"

    def __init__(
        self,
        game: Game,
        command: str,
        *,
        time_limit: float = 60.0,
        variant: str | None = None,
        variants: str | None = None,
        depth: int | None = None,
        movetime: int | None = None,
        nodes: int | None = None,
        threads: int = 1,
    ) -> None:
        limits = {"depth": depth, "movetime": movetime, "nodes": nodes}
        for name, value in {**limits, "threads": threads}.items():
            if value is not None and value < 1:
                raise SettingError(f"uci:{command}: {name}={value}: must be at least 1")
        given = {name: value for name, value in limits.items() if value is not None} or {"depth": USUAL_DEPTH}
        self.go = " ".join(["go", *(f"{name} {value}" for name, value in given.items())])
        self.variant, self.variants, self.threads = variant or variant_of(game), variants, threads
        self._moves, self._legal = UciMoves(game), dict[str, int]()
        super().__init__(game, command, time_limit)

    def greet(self, engine: EngineProcess, time_limit: float) -> None:
        with advice("run the command by itself; it must speak UCI"):
            offered = lines_until(engine, "uci", "uciok", time_limit)
            if self.variants is not None:
                engine.send(f"setoption name {PATH_OPTION} value {user_path(self.variants)}")
                # It offers the variants of the file from now on.
                offered = lines_until(engine, "uci", "uciok", time_limit)
        if any(line.startswith("option name Threads ") for line in offered):
            engine.send(f"setoption name Threads value {self.threads}")
        with advice(f"name one that is {self.game.presentation.title} by variant=, or a file of variants by variants="):
            if self.variant not in variants_in(offered):
                raise EngineError(f"it does not offer {self.variant} as {VARIANT_OPTION}")
            chosen = f"setoption name {VARIANT_OPTION} value {self.variant}\nisready"
            self._pocket = self._moves.check_variant(lines_until(engine, chosen, "readyok", time_limit))

    def ask_move(self, engine: EngineProcess) -> str:
        if self.untold() is None:
            lines_until(engine, "ucinewgame\nisready", "readyok", self.time_limit)
        self._legal = self._moves.actions(self.match.state)
        engine.send(self._position())
        *_, answer = lines_until(engine, self.go, "bestmove", self.time_limit)
        return [*answer.split(), ""][1]

    def _position(self) -> str:
        """The command that tells the engine the match."""
        match = self.match
        start = f"fen {self._moves.fen(match.start, self._pocket)}" if match.is_set_up else "startpos"
        moves = [self._moves.text(before, after) for before, after in pairwise(match.states)]
        return " ".join(["position", start, *(["moves", *moves] if moves else [])])

    def read_move(self, text: str) -> int:
        if text not in self._legal:
            raise IllegalActionError(f"it played {text or 'nothing'}, which is not legal")
        return self._legal[text]
