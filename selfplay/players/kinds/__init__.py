"""The kinds of players: the syntax of their names, their options, and how each is made.

--help reads all of them, so the players themselves are imported only when one is made: torch alone takes 1.5 seconds
to load. A kind from another package may be defined in the file of its player.
"""
