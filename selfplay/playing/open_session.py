"""Matches in a terminal from the settings: the two players and their session; the menu of the experience graph."""

from collections.abc import Callable

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.players.player_names import make_player
from selfplay.players.random import RandomPlayer
from selfplay.playing.console import Console
from selfplay.playing.console_values import notice_when_slow
from selfplay.playing.session import Players, Session
from selfplay.runs.pretrained import pretrained_agents
from selfplay.runs.run_folder import RunFolder, no_levels_text, prepare_process
from selfplay.settings.choices import PRETRAINED
from selfplay.settings.fields import PERSON
from selfplay.settings.playing import ExperiencePlaySettings, PlaySettings

SMALL_BOARD = 16
"""Squares of a board whose game can be solved at once."""


def open_session(settings: PlaySettings) -> Session:
    """The session that `settings` describe. If they do not specify who moves first, the person is player number 0.

    Raises:
        SettingError: a player's name is unknown, or there are more players than seats.
        StageError: the run does not have the level.
        InvalidFileError: the file of a player is broken or belongs to another game.
        GameTooLargeError: a player needs a game with fewer positions.
    """
    game = prepare_process(settings).game
    seats = [PERSON, None] if settings.asks_who_is_first else [settings.first, settings.second]
    if settings.leaves_a_seat:
        seats[seats.index(None)] = _opponent(settings, game)
    elif settings.opponent is not None or settings.level is not None:
        raise SettingError("opponent and level: first and second already name both players; omit opponent and level")
    # Equal names give one player, so that a learner learns only once from each match against itself.
    players = {
        name: None
        if name is None or name == PERSON
        else make_player(name, game, settings.run_dir, against_person=PERSON in seats)
        for name in seats
    }
    one, other = (players[name] for name in seats)
    return Session(game, (one, other), stream_key(settings.seed, 0, Activity.VERSUS_PERSON))


def _opponent(settings: PlaySettings, game: Game) -> str:
    """The name of the opponent of a person, if first and second do not name it."""
    if settings.opponent is not None:
        return settings.opponent
    level = RunFolder.of(settings).newest_level() if settings.level is None else settings.level
    if settings.level is None and level == 0:
        return PRETRAINED if game.name in pretrained_agents() else _always_there(game)
    how = settings.player
    return f"level:{level}?depth={how.depth}&temperature={how.temperature}"


def _always_there(game: Game) -> str:
    """The name of a strong player that needs no run."""
    if game.features is not None:
        return "search:negascout?depth=4&evaluation=article"
    return "perfect" if game.exact_solver is not None or (game.num_squares or 0) <= SMALL_BOARD else "mcts:rollouts"


def play_at_console(
    settings: PlaySettings, read: Callable[[str], str], write: Callable[[str], None], *, colour: bool = False
) -> None:
    """Play as `settings` say. Raises as `open_session`."""
    with notice_when_slow(write, "Preparing..."):
        session = open_session(settings)
    is_named, run = settings.opponent is not None or settings.level is not None, RunFolder.of(settings)
    if settings.leaves_a_seat and not is_named and run.newest_level() == 0:
        write(no_levels_text(run, session.game.name))
    Console(
        session,
        read,
        write,
        settings,
        colour=colour,
        asks_who_is_first=settings.asks_who_is_first,
        swap=settings.swap,
    ).play()


# ---------------------------------------------------------------------- the experience graph

MODES = {1: "you against it", 2: "the random player against it", 3: "it against itself"}
LEAVING = ("quit", "exit")
NUMBERS = "1"
"""Squares are written as numbers until the person types another notation."""


def play_with_experience(
    settings: ExperiencePlaySettings,
    read: Callable[[str], str],
    write: Callable[[str], None],
    *,
    colour: bool = False,
) -> None:
    """Play in the mode of the settings, or in those that the person chooses from a menu, until the person leaves it.

    After the matches of a mode, and when the person leaves them, the menu is shown again.

    Args:
        read, write: as for `selfplay.playing.console.Console`.

    Raises as `selfplay.players.experience.load_experience_player`.
    """
    # Imported here: other players do not need the database.
    from selfplay.players.experience import load_experience_player

    game = prepare_process(settings).game
    player = load_experience_player(settings.experience.path, game, settings.experience.rule)
    players: dict[int, Players] = {1: (None, player), 2: (RandomPlayer(game), player), 3: (player, player)}
    key = stream_key(settings.seed, 0, Activity.VERSUS_PERSON)

    def play(mode: int, leaving: str) -> None:
        session = Session(game, players[mode], key)
        console = Console(
            session,
            read,
            write,
            settings,
            colour=colour,
            example=NUMBERS,
            for_learning=True,
            swap=mode == 2,
            leaving=leaving,
        )
        if mode == 1:
            console.play()
        else:
            console.watch(settings.matches)

    try:
        if settings.mode is not None:
            play(settings.mode, "leaves")
            return
        while (chosen := _choice(player.status().boards, read, write)) is not None:
            play(chosen, "returns to the menu")
    except (EOFError, KeyboardInterrupt):
        write("")


def _choice(boards: int, read: Callable[[str], str], write: Callable[[str], None]) -> int | None:
    """The mode that the person chooses; None to leave."""
    write(f"The experience graph knows {boards:,} boards.")
    write("\n".join(f"  {mode}  {meaning}" for mode, meaning in MODES.items()))
    while (text := read("Choose 1, 2 or 3 (quit leaves): ").strip().lower()) not in LEAVING:
        if text in map(str, MODES):
            return int(text)
        write("Please write 1, 2, 3 or quit.")
    return None
