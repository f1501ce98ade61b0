"""The formats that games read themselves: the moves alone, and in Othello the Generic Game Format."""

from selfplay.errors import SettingError
from selfplay.games import Game, make_game
from selfplay.games.othello_records import ggf_of, is_ggf, width_of_ggf
from selfplay.games.state import State
from selfplay.records import Record, result_of
from selfplay.registry import parts_of_game_name

GGF_GAME = "othello"
"""The game that the Generic Game Format is read and written for."""


class Transcript:
    """The moves of a match, as the game writes them."""

    def is_written_in(self, text: str) -> bool:
        return not text.lstrip().startswith("(") and not is_ggf(text)

    def fits(self, game: Game) -> bool:
        return True

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        if game is None:
            raise SettingError("the moves alone do not say which game they are of")
        start = start or game.start_of_transcript(text)
        actions = game.read_transcript(text, start)
        return [Record(game, actions, start)]

    def write(self, record: Record) -> str:
        return record.game.write_transcript(record.actions) + "\n"


class GenericGameFormat(Transcript):
    """One match of Othello."""

    def is_written_in(self, text: str) -> bool:
        return is_ggf(text) and ("BO[" in text.upper() or "GM[OTHELLO" in text.upper())

    def fits(self, game: Game) -> bool:
        return parts_of_game_name(game.name).base == GGF_GAME

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        game = game or make_game(GGF_GAME, width_of_ggf(text))
        (record,) = super().read(text, game, start)
        return [record._replace(result=result_of(game, record.states()[-1]))]

    def write(self, record: Record) -> str:
        return ggf_of(record.game, record.states(), record.actions, record.players)


TRANSCRIPT, GGF = Transcript(), GenericGameFormat()
