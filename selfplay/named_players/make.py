"""Makes players from their names."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selfplay.agents.agent import Agent
from selfplay.checks import folder_of
from selfplay.errors import SelfPlayError, SettingError, shortened
from selfplay.games import Game, make_game
from selfplay.named_players.names import EPSILON, PLAYERS, PlayerName, StandIn, kind_named, parse_name
from selfplay.outside_errors import errors_of_outside
from selfplay.players.checked_player import checked_player
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.runs.folders import RUNS_FOLDER


def make_player(
    text: str | Player,
    game: Game | str,
    run_dir: str | Path | None = None,
    *,
    against_person: bool = False,
    itself: Agent | None = None,
    stand_in: StandIn | None = None,
) -> Player:
    """The player that `text` names; one of this game that has been made already is returned, checked if it is from
    outside this package (`checked_player`).

    Args:
        run_dir: the run of the levels `level:L`, unless the name specifies another; None: the usual one of the game,
            such as outputs/tictactoe.
        against_person: whether it is to play against a person; some players then learn by default.
        itself: the learned agent that `itself` names; a search without an evaluation then searches with its values.
        stand_in: gives untrained agents in place of levels that are yet to be learned, to check a name.

    Raises:
        SettingError: the name is unknown, an option is unknown or out of range, or the player plays another game.
        StageError, InvalidFileError: a file that the player is made from is missing or broken.
        GameTooLargeError: the player needs a game with fewer positions.

    Examples:
        >>> selfplay.make_player("perfect", "tictactoe")
        <PerfectPlayer perfect>
        >>> selfplay.make_player("level:2", "tictactoe", run_dir="outputs/tictactoe")
        <ValueNetPlayer level 2>
    """
    game = make_game(game)
    if not isinstance(text, str):
        if not isinstance(text, Player):
            raise SettingError(f"player={shortened(repr(text))}: must be a player or its name, such as random")
        return checked_player(text, game)
    name = parse_name(text)._replace(against_person=against_person, itself=itself, stand_in=stand_in)
    kind = kind_named(name.kind)
    folder = name.run_dir(RUNS_FOLDER / game.name if run_dir is None else folder_of("run_dir", run_dir))
    with errors_of_outside("player", text, PLAYERS.module_of(name.kind)):
        player = checked_player(kind.make(name, game, folder), game, text)
    if EPSILON.name not in name.given:
        return player
    rate = name.options[EPSILON.name]
    if not 0 <= rate <= 1:
        raise SettingError(f"player {shortened(text)!r}: epsilon must be from 0 to 1")
    return EpsilonGreedyPlayer(game, player, [rate])


@contextmanager
def naming_player(setting: str, text: str) -> Iterator[None]:
    """Errors while the player with this name is made begin with the setting that names it."""
    try:
        yield
    except SelfPlayError as error:
        reason = re.sub("^player '[^']*': ", "", str(error).removeprefix(f"{setting}={text}: "))
        raise SettingError(f"{setting}={shortened(text)}: {reason}") from error


def make_pair(
    first: str | Player, second: str | Player, game: Game, run_dir: str | Path | None = None
) -> tuple[Player, Player]:
    """Two players. Equal names give one player, so that a learner learns only once from each match against itself.

    Different players that call themselves the same are called what they are called here. Raises as `make_player`.
    """
    player = make_player(first, game, run_dir)
    if second == first:
        return player, player
    other = make_player(second, game, run_dir)
    if player.name == other.name:
        for one, text in ((player, first), (other, second)):
            if isinstance(text, str):
                one.name = text
    return player, other


def files_of_player(name: str | PlayerName, run_dir: str | Path) -> list[Path]:
    """The files that a player is made from. Raises SettingError and StageError as `make_player`."""
    parsed = parse_name(name) if isinstance(name, str) else name
    files = kind_named(parsed.kind).files
    return [] if files is None else files(parsed, parsed.run_dir(run_dir))
