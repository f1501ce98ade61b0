"""A session in text: every prompt and answer goes through the functions that are handed in."""

from collections.abc import Callable

from selfplay.errors import ForfeitError, IllegalActionError, NotNowError
from selfplay.players.perfect import perfect_player_of
from selfplay.playing.board_text import boards_side_by_side
from selfplay.playing.hints import hint, optimal_actions, perfect_values
from selfplay.playing.match_history import Ply
from selfplay.playing.open_session import open_session
from selfplay.playing.session import Session, Values
from selfplay.settings.playing import PlaySettings

ANSWERS = {"": True, "y": True, "yes": True, "n": False, "no": False}

COMMANDS = {
    "undo": "take back your last action, and the reply to it",
    "hint": "what the other player would do in your place",
    "values": "show or hide what a player expects of each action (also: values on, values off)",
    "perfect": "show or hide what perfect play makes of each action (also: perfect on, perfect off)",
    "help": "this",
    "quit": "leave; so do exit, Ctrl-C and Ctrl-D",
}
"""What a person can write instead of an action or an answer: words, because one letter can be an action."""

OUTCOMES = {1.0: "wins", 0.0: "draws", -1.0: "loses"}


class _QuitError(Exception):
    """The person has had enough."""


class Console:
    """A session in which people read and write lines.

    Args:
        read: shows a prompt and returns the line that the person writes; EOFError or KeyboardInterrupt leaves.
        write: shows one or more lines.
        asks_who_is_first: ask the one person (player number 0 of the session) before each match who moves first.
        swap: let the two players change seats after every match.
        values: show what a player expects of each action before it acts.
        perfect: show beside it what perfect play gets, and after each action what would have been right.
        colour: mark values with the colours of a terminal.
    """

    def __init__(
        self,
        session: Session,
        read: Callable[[str], str],
        write: Callable[[str], None],
        *,
        asks_who_is_first: bool = True,
        swap: bool = False,
        values: bool = True,
        perfect: bool = False,
        colour: bool = False,
    ) -> None:
        self.session, self.game, self.write = session, session.game, write
        self._read = read
        self.asks_who_is_first = asks_who_is_first and session.players.count(None) == 1
        self.swap, self.colour = swap, colour
        self.shows = {"values": values, "perfect": perfect}

    def play(self) -> None:
        """Play matches until the person leaves."""
        self.write(f"{self._title()}; help lists what you can write, quit leaves")
        try:
            if self.shows["perfect"]:
                self._try_command("perfect", "on")
            if self.asks_who_is_first:
                self._start_match()
            while (again := self._play_on_and_ask()) is not False:
                # None: the end was taken back, and the match goes on.
                if again:
                    self._start_match()
        except (_QuitError, EOFError, KeyboardInterrupt):
            self.write("")

    # ------------------------------------------------------------------ matches

    def _title(self) -> str:
        if self.asks_who_is_first:
            return f"{self.game.name} against {self.session.names[1]}"
        return f"{self.game.name}, {self._seats()}"

    def _seats(self) -> str:
        return ", ".join(
            f"{seat}: {name}"
            for seat, name in zip(self.game.presentation.player_names, self.session.names, strict=True)
        )

    def _start_match(self) -> None:
        first = 1 - self.session.first if self.swap else self.session.first
        if self.asks_who_is_first:
            answer = self._ask_yes_no("Do you want to go first?")
            if answer is None:
                return
            first = 0 if answer else 1
        self.session.new_match(first)
        if self.swap:
            self.write(self._seats())

    def _play_on_and_ask(self) -> bool | None:
        """Play the match at hand to its end and ask for another; None if the end is taken back."""
        while not self.session.is_over:
            if self.session.awaits_person:
                self._person_acts()
            else:
                self._player_acts()
        self._show_end()
        return self._ask_yes_no("Play again?")

    def _show_end(self) -> None:
        self.write(self.game.presentation.board_text(self.session.state))
        self.write(self.session.result_to_person or "")
        if self.session.is_practice:
            self.write("That was practice: the match counts as it first ended.")
        self.write(self.session.standing() or "")

    # ------------------------------------------------------------------ turns

    def _person_acts(self) -> None:
        self.write(self.game.presentation.board_text(self.session.state))
        people = self.session.players.count(None)
        whose = (
            "Your action" if people == 1 else f"Action of {self.game.presentation.player_names[self.session.to_move]}"
        )
        while (text := self._ask(f"{whose} ({self.game.presentation.action_help}): ")) is not None:
            try:
                self._show_verdict(self.session.play(self.game.string_to_action(text)))
                return
            except IllegalActionError as error:
                self.write(str(error))

    def _player_acts(self) -> None:
        subject = self._subject()
        if self.session.can_only_pass:
            self.session.advance()
            self.write(f"{subject} can only pass.")
            return
        values = self._show_values(asked=self.shows["values"])
        try:
            ply = self.session.advance()
        except ForfeitError as error:
            self.write(f"{error}.")
            return
        verb = "play" if subject == "You" else "plays"
        how = {None: "", True: " at random", False: " greedily"}[ply.is_random]
        value = "" if values is None else f", value {values[ply.action]:+.2f}"
        self.write(f"{subject} {verb} {ply.text}{how}{value}.")
        self._show_verdict(ply)

    def _subject(self) -> str:
        """Who is to move, as a sentence begins."""
        seat, seats = self.session.to_move, self.session.seats
        if seats.count(None) == 1:
            return "You" if seats[seat] is None else "It"
        name = self.game.presentation.player_names[seat]
        return name if seats[seat] is None else f"{name} ({self.session.names[seat]})"

    # ------------------------------------------------------------------ values

    def _show_values(self, *, asked: bool) -> Values | None:
        """Show what there is to show of each action here; returns what the player expects if that was `asked`."""
        values, adviser = self.session.action_values() if asked else None, self.session.adviser()
        perfect = perfect_values(self.session) if self.shows["perfect"] else None
        columns = []
        if values is not None and adviser is not None:
            columns.append((f"What {adviser.name} expects of each action:", values))
        if perfect is not None:
            columns.append(("What perfect play gets:", perfect))
        if columns:
            self.write(boards_side_by_side(self.game, self.session.state, columns, colour=self.colour))
        elif None not in self.session.seats:
            self.write(self.game.presentation.board_text(self.session.state))
        return values

    def _show_verdict(self, ply: Ply) -> None:
        """Say what would have been right, if perfect play is shown."""
        if not self.shows["perfect"]:
            return
        before = len(self.session.plies) - 1
        values, right = perfect_values(self.session, before), optimal_actions(self.session, before)
        if values is None or right is None:
            return
        outcome, best = OUTCOMES[float(values[ply.action])], OUTCOMES[float(values[right[0]])]
        if ply.action in right:
            self.write(f"Perfect play: {ply.text} {outcome}, and nothing is better.")
        else:
            self.write(f"Perfect play: {ply.text} {outcome}; right would have been {self._names(right)} ({best}).")

    def _give_hint(self) -> None:
        given = hint(self.session)
        self._show_values(asked=True)
        self.write(f"{given.source} would play {given.text}, value {given.value:+.2f}.")
        right = optimal_actions(self.session)
        if self.shows["perfect"] and right is not None:
            self.write(f"Perfect play: {self._names(right)}.")

    def _names(self, actions: tuple[int, ...]) -> str:
        return " or ".join(map(self.game.action_to_string, actions))

    # ------------------------------------------------------------------ what the person writes

    def _ask_yes_no(self, question: str) -> bool | None:
        """The answer to a question; None if the person takes something back instead."""
        while (answer := self._ask(f"{question} [Y/n] ")) is not None:
            if answer.lower() in ANSWERS:
                return ANSWERS[answer.lower()]
            self.write("Please answer y or n.")
        return None

    def _ask(self, prompt: str) -> str | None:
        """What the person writes that is no command; None if a command took something back."""
        while True:
            text = self._read(prompt).strip()
            word, _, argument = text.lower().partition(" ")
            if word not in COMMANDS and word != "exit":
                return text
            if self._try_command(word, argument.strip()) and word == "undo":
                return None

    def _try_command(self, word: str, argument: str) -> bool:
        """Obey a command; if that cannot be done now, say why."""
        try:
            self._run_command(word, argument)
        except NotNowError as error:
            self.write(str(error))
            return False
        return True

    def _run_command(self, word: str, argument: str) -> None:
        if word in ("quit", "exit"):
            raise _QuitError
        if word == "undo":
            self.write(f"Taken back: {', '.join(ply.text for ply in self.session.undo())}.")
        elif word == "hint":
            self._give_hint()
        elif word == "help":
            self.write(f"An action: {self.game.presentation.action_help}")
            self.write("\n".join(f"{name:8} {meaning}" for name, meaning in COMMANDS.items()))
        else:
            self._show_or_hide(word, argument)

    def _show_or_hide(self, what: str, argument: str) -> None:
        if argument not in ("", "on", "off"):
            raise NotNowError(f"write {what} on or {what} off")
        shown = argument == "on" or (argument == "" and not self.shows[what])
        if what == "perfect" and shown and perfect_player_of(self.game) is None:
            self.shows[what] = False
            raise NotNowError(f"{self.game.name} is too large to be solved")
        self.shows[what] = shown
        self.write(f"{what} {'on' if shown else 'off'}")


def play_at_console(
    settings: PlaySettings, read: Callable[[str], str], write: Callable[[str], None], *, colour: bool = False
) -> None:
    """Play as `settings` say. Raises as `selfplay.playing.open_session.open_session`."""
    Console(
        open_session(settings),
        read,
        write,
        asks_who_is_first=settings.asks_who_is_first,
        swap=settings.swap,
        values=settings.values,
        perfect=settings.perfect,
        colour=colour,
    ).play()
