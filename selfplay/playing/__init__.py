"""A match with people in it: the session, hints, the console, board text, the GTP engine, analysis of a position."""
