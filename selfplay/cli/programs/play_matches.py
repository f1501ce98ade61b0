"""Play matches between two players, with running counts.

Players that learn from matches do so.

selfplay play-matches first=random second=perfect matches=1000
selfplay play-matches first=random second=experience matches=200 swap=true
selfplay play-matches first=random second=experience matches=4 show=true
selfplay play-matches first=level:10 'second=level:9?depth=2&epsilon=0.1' run_dir=outputs/try

Results are counted for the players by their names; if both names are equal, by seat.
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.matches import MatchSettings


def play(settings: MatchSettings) -> None:
    from selfplay.matches.match_series import play_match_series

    play_match_series(settings, progress_bar)


def main() -> None:
    run_program(play, MatchSettings, "matches", run="read")
