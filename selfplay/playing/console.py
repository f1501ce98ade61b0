"""A session in a terminal. All input and output goes through two functions that are passed in."""

import time
from collections.abc import Callable, Sequence

from selfplay.errors import ForfeitError, IllegalActionError
from selfplay.matches.arena import statuses_of
from selfplay.playing.console_commands import ALIASES, COMMANDS, LOAD, UNDO, ConsoleCommands
from selfplay.playing.console_text import ConsoleText, one_after_the_other
from selfplay.playing.console_values import PERFECT, VALUES, ConsoleValues, notice_when_slow
from selfplay.playing.open_session import open_session
from selfplay.playing.session import Session
from selfplay.runs.run_folder import no_levels_text
from selfplay.settings.playing import DisplaySettings, PlaySettings
from selfplay.settings.run import Run

ANSWERS = {"": True, "y": True, "n": False}
"""Answers to a question by their first letter."""

CLEAR = "\x1b[2J\x1b[H"
"""Clears the screen of a terminal and begins at its top."""


def play_at_console(
    run: Run[PlaySettings],
    read: Callable[[str], str],
    write: Callable[[str], None],
    *,
    colour: bool = False,
    columns: int | None = None,
) -> None:
    """Play as the settings of a run say. Raises as `open_session`."""
    with notice_when_slow(write, "Preparing..."):
        session = open_session(run)
    settings = run.settings
    is_named = settings.opponent is not None or settings.level is not None
    if settings.leaves_a_seat and not is_named and run.folder.newest_level() == 0:
        write(no_levels_text(run.folder, session.game.name))
    Console(
        session,
        read,
        write,
        settings,
        colour=colour,
        columns=columns,
        asks_who_is_first=settings.asks_who_is_first,
        swap=settings.swap,
    ).play()


class Console:
    """A session in which people read and write lines.

    Args:
        read: shows a prompt and returns the line that the person writes; EOFError or KeyboardInterrupt leaves.
        write: shows one or more lines.
        settings: what is shown.
        asks_who_is_first: ask the one person (player number 0 of the session) before each match who moves first.
        swap: let the two players change seats after every match.
        colour, columns, example: as for `ConsoleText`.
        for_learning: list the legal actions in prompts, and show a person the rates of all results by seat.
        leaving: what quit and Ctrl-C do, for the title: "leaves", "returns to the menu".
    """

    def __init__(
        self,
        session: Session,
        read: Callable[[str], str],
        write: Callable[[str], None],
        settings: DisplaySettings,
        *,
        asks_who_is_first: bool = True,
        swap: bool = False,
        colour: bool = False,
        columns: int | None = None,
        example: str = "",
        for_learning: bool = False,
        leaving: str = "leaves",
    ) -> None:
        self.session, self.game, self.write = session, session.game, write
        self._read, self._leaving = read, leaving
        self.asks_who_is_first = asks_who_is_first and session.players.count(None) == 1
        self.swap = swap
        self.settings, self.for_learning = settings, for_learning
        self.text = ConsoleText(session.game, settings, colour=colour, columns=columns, example=example)
        self.values = ConsoleValues(session, write, self.text)
        self.commands = ConsoleCommands(session, write, self.values, self.text)
        self.seat_names = session.game.presentation.player_names
        self._has_explained = False

    def play(self) -> None:
        """Play matches until the person leaves."""
        self.write(f"{self._title()} (help lists the commands, quit {self._leaving})")
        try:
            if self.values.shows[PERFECT]:
                self.commands.run(PERFECT, "on")
            if self.asks_who_is_first:
                self._start_match()
            else:
                self._write_seat()
            again: bool | None = None
            while again is not False:
                self._finish_match()
                # None: the end was taken back, so the match continues.
                if again := self._ask_yes_no("Play again?"):
                    self._start_match()
        except (EOFError, KeyboardInterrupt):
            self.write("")

    def watch(self, matches: int) -> None:
        """Play this number of matches without a person, without questions, or until KeyboardInterrupt."""
        if self._is_shown:
            self.write(f"{self._title()} (Ctrl-C {self._leaving})")
        try:
            for number in range(matches):
                if number or self.session.is_over:
                    self._start_match()
                self._finish_match()
                self._pause()
        except KeyboardInterrupt:
            self.write("")

    # ------------------------------------------------------------------ matches

    def _start_match(self) -> None:
        first_player = 1 - self.session.first_player if self.swap else self.session.first_player
        if self.asks_who_is_first:
            answer = self._ask_yes_no("Do you want to go first?")
            if answer is None:
                return
            first_player = 0 if answer else 1
        self.session.new_match(first_player)
        if self.swap and self._is_shown:
            self.write(self._seats())
        self._write_seat()

    def _write_seat(self) -> None:
        """Tell the person, if exactly one plays, which side is theirs."""
        seats = self.session.seats
        if seats.count(None) == 1:
            self.write(f"You are {self.game.presentation.name_with_sign(seats.index(None))}.")

    def _finish_match(self) -> None:
        while not self.session.is_over:
            if self.session.awaits_person:
                self._person_acts()
            else:
                self._player_acts()
        if self._is_shown:
            self.write(self.text.board(self.session.match.state))
            self.write(self.session.result_text or "")
        if self.session.is_practice:
            self.write("This was practice: the result that counts is the one before you took back the end.")
        if self.for_learning and None in self.session.players:
            self.write(self.session.results.text(self.seat_names))
        self.write(self._score())

    @property
    def _is_shown(self) -> bool:
        """Whether actions are shown; those of a match with a person always are."""
        return self.settings.show or None in self.session.players

    def _pause(self) -> None:
        if self._is_shown and None not in self.session.players:
            time.sleep(self.settings.pause)

    def _clear(self) -> None:
        if self._is_shown and self.settings.clear:
            self.write(CLEAR)

    # ------------------------------------------------------------------ turns

    def _person_acts(self) -> None:
        self.values.show_to_choose()
        explained = [] if self._has_explained else [self.game.presentation.action_help]
        self._has_explained = True
        while (text := self._ask(self._prompt(explained))) is not None:
            try:
                ply = self.session.play(self.text.read(text, self.session.match.state))
                self._clear()
                self._write_changes()
                self.values.show_verdict(ply)
                return
            except IllegalActionError as error:
                self.write(str(error))

    def _prompt(self, explained: Sequence[str]) -> str:
        is_alone = self.session.players.count(None) == 1
        asked = "Your action" if is_alone else f"Action of {self.seat_names[self.session.match.to_move]}"
        texts = self.text.actions(self.session.match.legal_actions(), self.session.match.state)
        free = [f"free: {one_after_the_other(texts)}"]
        notes = [*explained, *(free if self.for_learning else [])]
        return f"{asked} ({'; '.join(notes)}): " if notes else f"{asked}: "

    def _player_acts(self) -> None:
        subject = self._subject()
        if None not in self.session.players:
            self._clear()
        if self.session.match.can_only_pass:
            self.session.advance()
            self.write(f"{subject} can only pass.")
            return
        estimate = self.values.show(with_values=self.values.shows[VALUES]) if self._is_shown else None
        try:
            with notice_when_slow(self.write):
                ply = self.session.advance()
        except ForfeitError as error:
            self.write(f"{error}.")
            return
        if self._is_shown:
            self.write(self.text.ply(subject, ply, estimate, self.session.match.states[-2]))
            self._write_changes()
            self.values.show_verdict(ply)
            self._pause()

    def _write_changes(self) -> None:
        """Write the number of the board, if it is wanted, and what has been captured, if the last ply has captured."""
        if (number := self.text.number(self.session.match.state)) is not None:
            self.write(number)
        if (captured := self.text.captured(self.session.match)) is not None:
            self.write(captured)

    # ------------------------------------------------------------------ input

    def _ask_yes_no(self, question: str) -> bool | None:
        """The answer to a question; None if the person takes something back instead."""
        while (answer := self._ask(f"{question} [Y/n] ")) is not None:
            if (letter := answer[:1].lower()) in ANSWERS:
                return ANSWERS[letter]
            self.write("Please answer y or n.")
        return None

    def _ask(self, prompt: str) -> str | None:
        """The first line that is not a command; None if a command took something back."""
        while True:
            text = self._read(prompt).strip()
            word, _, argument = text.partition(" ")
            word = ALIASES.get(word.lower(), word.lower())
            if word not in COMMANDS:
                return text
            is_done = self.commands.run(word, argument.strip())
            if is_done and word in (UNDO, LOAD):
                return None
            if is_done and word == PERFECT and self.values.shows[PERFECT] and self.session.awaits_person:
                self.values.show_to_choose()

    # ------------------------------------------------------------------ players in words

    def _title(self) -> str:
        """The game and its players, or the person's opponent while the seats are not known."""
        title = self.game.presentation.title
        return f"{title} against {self.session.names[1]}" if self.asks_who_is_first else f"{title}, {self._seats()}"

    def _seats(self) -> str:
        seats = map(self.game.presentation.name_with_sign, (0, 1))
        return ", ".join(f"{seat}: {name}" for seat, name in zip(seats, self.session.names, strict=True))

    def _score(self) -> str:
        """The results so far: of one person against a player in a few words, otherwise by seat."""
        results, players = self.session.results, self.session.players
        if not results.matches or players.count(None) != 1:
            return self.session.standing() or ""
        person = players.index(None)
        won, drawn, lost = results.by_player if person == 0 else results.by_player[::-1]
        draws = f", drawn: {drawn}" if drawn else ""
        opponents = [player for player in players if player is not None]
        score = f"You: {won}, {opponents[0].name}: {lost}{draws}"
        return "; ".join([score, *statuses_of(*opponents)])

    def _subject(self) -> str:
        """The player to move, as the subject of a sentence; the only person is called "you"."""
        seat, seats = self.session.match.to_move, self.session.seats
        if seats.count(None) == 1:
            return "You" if seats[seat] is None else "It"
        name = self.seat_names[seat]
        return name if seats[seat] is None else f"{name} ({self.session.names[seat]})"
