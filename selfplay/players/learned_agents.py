"""Names of learned agents: `level:L`, `pretrained`, and those of other kinds of players that have an `agent`.

Such a name is a player, and can stand in names of searches: `mcts:level:12`, `search:negascout?evaluation=pretrained`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from selfplay.players.player_names import PlayerKind, PlayerName, check_argument
from selfplay.players.registry import player_kind
from selfplay.settings.choices import PLAYERS

# The kinds of players import this, and --help reads them without torch.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.runs.learned_agent import LearnedAgent


class NamedAgent(NamedTuple):
    """A learned agent that a part of the name of a player names."""

    kind: PlayerKind
    name: PlayerName
    """The part, with those options of the whole name that its kind has too, such as run_dir."""

    def find(self, game: "Game", run_dir: Path) -> "LearnedAgent":
        """Where it is. Raises SettingError if the name is wrong or names none for this game."""
        assert self.kind.agent is not None, "checked by `named_agent`"
        return self.kind.agent(self.name, game, run_dir)

    def files(self, run_dir: Path) -> list[Path]:
        """The files that determine how it plays. Raises SettingError and StageError as `make_player`."""
        return [] if self.kind.files is None else self.kind.files(self.name, run_dir)


def named_agent(part: str, name: PlayerName, run_dir: Path) -> NamedAgent | None:
    """The learned agent that `part`, a part of `name`, names; None if it does not begin with a kind of learned agents.

    Raises SettingError if it begins with one and does not follow its syntax.
    """
    kind_name, _, argument = part.partition(":")
    if kind_name not in PLAYERS or (kind := player_kind(kind_name)).agent is None:
        return None
    check_argument(part, argument, kind, run_dir)
    defaults = {option.name: option.default for option in kind.options}
    given = {option: value for option, value in name.given.items() if option in defaults}
    return NamedAgent(kind, PlayerName(name.text, kind_name, argument, defaults | given, given))


def agent_syntaxes() -> Iterator[str]:
    """How each kind of learned agents is written, for error messages."""
    for kind in map(player_kind, PLAYERS):
        if kind.agent is not None:
            yield kind.syntax


def make_learned_player(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    """`PlayerKind.make` of kinds with an `agent` and the options depth and temperature."""
    from selfplay.players.levels import load_agent

    agent, options = player_kind(name.kind).agent, name.options
    assert agent is not None, "a kind of learned agents"
    label = name.text.partition("?")[0]
    path = agent(name, game, run_dir).path
    return load_agent(path, label, game, depth=options["depth"], temperature=options["temperature"])
