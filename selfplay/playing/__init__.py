"""Matches in which people play: the session, hints, the console, board text, the GTP engine, analysis of a position."""
