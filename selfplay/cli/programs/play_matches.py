"""Play matches between two players, with running counts.

Players that learn from matches do so.

selfplay play-matches first=random second=perfect matches=1000
selfplay play-matches first=random second=experience matches=200 swap=true
selfplay play-matches first=random second=experience matches=4 show=true
selfplay play-matches first=level:10 'second=level:9?depth=2&epsilon=0.1' run_dir=outputs/try

The last line counts results by player, not by seat.
"""

from selfplay.cli.command import run_program
from selfplay.settings.matches import MatchSettings


def play(settings: MatchSettings) -> None:
    from selfplay.matches.match_series import play_match_series

    print(play_match_series(settings))


def main() -> None:
    run_program(play, MatchSettings, "matches", run="read")
