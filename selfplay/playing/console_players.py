"""Sentences of the console about the players: who holds which seat, the score, and whose turn it is."""

from selfplay.matches.running_results import statuses_of
from selfplay.playing.session import Session


class ConsolePlayers:
    """The players of a session in words. If exactly one of them is a person, that person is called "you"."""

    def __init__(self, session: Session) -> None:
        self.session, self.seat_names = session, session.game.presentation.player_names

    def title(self, *, asks_who_is_first: bool) -> str:
        """The game and its players, or the person's opponent while the seats are not known."""
        title = self.session.game.presentation.title
        return f"{title} against {self.session.names[1]}" if asks_who_is_first else f"{title}, {self.seats()}"

    def seats(self) -> str:
        return ", ".join(f"{seat}: {name}" for seat, name in zip(self.seat_names, self.session.names, strict=True))

    def seat_of_person(self) -> str | None:
        """Tells the person, if exactly one plays, which side is theirs."""
        seats = self.session.seats
        return f"You are {self.seat_names[seats.index(None)]}." if seats.count(None) == 1 else None

    def score(self) -> str:
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

    def subject(self) -> str:
        """The player to move, as the subject of a sentence."""
        seat, seats = self.session.to_move, self.session.seats
        if seats.count(None) == 1:
            return "You" if seats[seat] is None else "It"
        name = self.seat_names[seat]
        return name if seats[seat] is None else f"{name} ({self.session.names[seat]})"

    def whose_action(self) -> str:
        """What the person to move is asked for."""
        if self.session.players.count(None) == 1:
            return "Your action"
        return f"Action of {self.seat_names[self.session.to_move]}"
