"""A series of matches between two players that are chosen by name (selfplay play-matches), and `selfplay.match`."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import torch

from selfplay.checks import SEEDS, Range, whole_number
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.files import user_path, written_whole
from selfplay.games import Game, make_game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import RunningResults, WinDrawLoss
from selfplay.matches.arena import Players, play_matches, results_text
from selfplay.matches.copies import CountedMatches, copies_text, first_matches, openings_text
from selfplay.matches.series import count_matches
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import learners_among
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.records import check_format, record_of, written_record
from selfplay.settings.context import RunContext, computing
from selfplay.settings.matches import MatchSettings

log = logging.getLogger(__name__)

REPORTS = 20


def match(
    first: Player | str,
    second: Player | str,
    *,
    game: Game | str = "tictactoe",
    matches: int = 100,
    seed: int = 0,
    run_dir: str | Path | None = None,
    opening_plies: int | None = None,
) -> WinDrawLoss[int]:
    """The matches that `first` wins, draws and loses against `second`: `match("level:2", "random", matches=100)`.

    The players move first in turns, and do not learn from the matches. The log says if matches are copies of others.

    Args:
        first: a player, or its name as for `make_player`.
        second: the other player, or its name.
        run_dir: the run of the levels that the names refer to; None: the usual one of the game.
        opening_plies: number of random plies at the start, the same in both matches of each consecutive pair. None: 0,
            or `usual_opening_plies` if the players would repeat the same matches.

    Raises as `make_player`, and SettingError if a number is not a whole number or out of range.

    Examples:
        >>> print(selfplay.match("perfect", "random", matches=100))  # tic-tac-toe, unless game says otherwise
        85-15-0
    """
    game, matches = make_game(game), whole_number("matches", matches, Range(1))
    seed = whole_number("seed", seed, Range(*SEEDS))
    players = (make_player(first, game, run_dir), make_player(second, game, run_dir))
    key = stream_key(seed, 0, Activity.NAMED_PLAYERS)
    played = count_matches(game, players, matches, key, None, opening_plies)
    if played.opening_plies and opening_plies is None:
        log.info("%s", openings_text(played.opening_plies))
    if played.evidence.matches < played.results.matches:
        log.info("%s", copies_text(played.distinct, matches))
    return played.results


def play_match_series(settings: MatchSettings, progress: ProgressBar = NoProgress) -> RunningResults:
    """Play the matches that `settings` describe.

    The results so far are logged at intervals. If a progress bar is visible, it shows how many matches the first player
    has won, drawn and lost, and only the last results are logged.

    Raises as `selfplay.named_players.make.make_player`.
    """
    with computing(settings) as context:
        game = context.game
        if settings.sgf is not None:
            check_format("sgf", game)
        first = make_player(settings.first, game, settings.run_dir)
        # Equal names give one player, so that a learner learns only once from each match against itself.
        second = first if settings.second == settings.first else make_player(settings.second, game, settings.run_dir)
        with closing(progress(total=settings.matches, desc="matches")) as bar:
            is_shown, results = not bar.disable, RunningResults()
            plies, tried = _opening_plies(context, (first, second))
            counted = CountedMatches(plies)
            for played in _play(context, (first, second), counted, tried):
                bar.update(played.matches - results.matches)
                results = played
                text = results_text(game, results, first, second, by_player=first.name != second.name)
                won, drawn, lost = results.by_player
                bar.set_postfix_str(f"{won}-{drawn}-{lost}")
                if not is_shown:
                    log.info("%s", text)
    if is_shown:
        log.info("%s", text)
    if counted.has_copies:
        log.info("%s", copies_text(counted.distinct, results.matches))
    return results


def _opening_plies(context: RunContext[MatchSettings], players: Players) -> tuple[int, list[MatchRecord]]:
    """As `first_matches`, unless the settings give the number of plies. If they do not, the log says if there are
    any."""
    settings = context.settings
    if settings.opening_plies is not None:
        return settings.opening_plies, []
    # Players that learn from their matches do not repeat them.
    if settings.learn and learners_among(players):
        return 0, []
    how = settings.matches, _key_of(settings), settings.batch_size, context.device
    plies, tried = first_matches(context.game, players, *how, alternate=settings.swap)
    if plies:
        log.info("%s", openings_text(plies))
    return plies, tried


def _key_of(settings: MatchSettings) -> int:
    return stream_key(settings.seed, 0, Activity.NAMED_PLAYERS)


def _play(
    context: RunContext[MatchSettings], players: Players, counted: CountedMatches, tried: Sequence[MatchRecord]
) -> Iterator[RunningResults]:
    """The results so far, at intervals; the matches are added to `counted`. `tried`: the first ones, played already."""
    settings = context.settings
    learners = learners_among(players) if settings.learn else {}
    every = settings.report_every or (1 if learners else max(1, settings.matches // REPORTS))
    # A series that was interrupted resumes with the next match numbers, as if it had never stopped.
    first_match = max((learner.matches_seen() for learner in learners.values()), default=0)
    end = first_match + settings.matches
    for start in range(first_match, end, every):
        part = range(start, min(start + every, end))
        known = [record for record in tried if int(record.match) in part]
        fresh = play_matches(
            context.game,
            players,
            part[len(known) :],
            _key_of(settings),
            alternate=settings.swap,
            learn=settings.learn,
            opening_plies=counted.opening_plies,
            batch_size=settings.batch_size,
            device=context.device,
        )
        for record in chain(known, fresh):
            for row in range(len(record.match)) if settings.show or settings.sgf is not None else ():
                number = counted.results.matches + row + 1
                if settings.show:
                    log.info("match %d, %s\n", number, _match_text(context.game, record, row, players))
                if settings.sgf is not None:
                    _write_match(settings.sgf, number, context.game, record, row, players)
            counted.add(record)
        yield counted.results


def _write_match(folder: str, number: int, game: Game, record: MatchRecord, row: int, players: Players) -> None:
    """Write the match in row `row` of a record as SGF."""
    actions, first = record.actions_of(row), int(record.seats[row])
    states = [state.select(torch.tensor([row])) for state in (*record.states[: len(actions)], record.states[-1])]
    match = record_of(game, states, actions, (players[first].name, players[1 - first].name))
    path = user_path(folder) / f"match_{number:06}.sgf"
    with written_whole(path) as part:
        part.write_text(written_record(match, "sgf").text, encoding="utf-8")


def _match_text(game: Game, record: MatchRecord, row: int, players: Players) -> str:
    """The match in row `row` of a record of matches between `players`."""
    first, names = int(record.seats[row]), game.presentation.player_names
    seats = ", ".join(f"{name}: {players[seat ^ first].name}" for seat, name in enumerate(names))
    returned = int(record.states[-1].returns[row])
    result = "drawn" if returned == 0 else f"{names[returned < 0]} wins"
    # A match that is forfeited before its first ply has no boards.
    return "\n".join(filter(None, [seats, game.presentation.line_text(record.actions_of(row)), result]))
