"""Matches in which people play: the session, hints and the judge, results in words, the console, analysis."""
