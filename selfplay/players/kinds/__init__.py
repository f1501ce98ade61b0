"""The kinds of players that names can stand for: syntax, options and how each is made.

--help reads all of them, so the players themselves are imported when one is made: torch alone takes 1.5 seconds to
load. A kind from another package may stand in the file of its player.
"""
