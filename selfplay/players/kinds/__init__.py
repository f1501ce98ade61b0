"""The kinds of players: the syntax of their names, their options, and how each is made.

--help reads all of them. So the players are only imported when one is made, because loading torch takes 1.5 seconds. A
kind from another package may be defined in the file of its player.
"""
