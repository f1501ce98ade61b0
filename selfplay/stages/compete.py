"""Matches between the two trained policies of a tabular learner, one for each seat (selfplay compete)."""

from dataclasses import fields

from selfplay.matches.match_series import play_match_series
from selfplay.matches.running_results import RunningResults
from selfplay.settings.common import CommonSettings
from selfplay.settings.matches import MatchSettings
from selfplay.settings.tabular import CompeteSettings


def compete(settings: CompeteSettings) -> RunningResults:
    """Play the matches and log their results. The tables do not learn from them.

    Raises InvalidFileError if the run has no such tables.
    """
    player = f"tabular:{settings.tables}?epsilon={settings.epsilon}"
    common = {field.name: getattr(settings, field.name) for field in fields(CommonSettings)}
    return play_match_series(
        MatchSettings(
            **common,
            first=player,
            second=player,
            matches=settings.matches,
            swap=False,
            learn=False,
            report_every=settings.matches,
            show=settings.show,
        )
    )
