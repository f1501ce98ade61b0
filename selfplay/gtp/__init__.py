"""The Go Text Protocol, version 2 (Farnebäck, draft 2, 2002), for games on boards of squares.

A controller writes commands, a line each, and an engine answers: `conversation` holds the form of both, `vertices` how
squares and colours are written, `process` an engine that runs beside this program. `engine` lets any of our players
answer; `selfplay.players.gtp` lets any engine play.
"""
