"""The Go Text Protocol, version 2 (Farnebäck, draft 2, 2002), for games on boards of squares.

A controller writes commands, one per line, and an engine answers. `conversation` parses and writes both, `vertices` has
the notation of squares and colours, `moves` the match as sent by the controller, and `process` an engine in another
process. `selfplay.playing.gtp_engine` lets our players act as an engine; `selfplay.players.gtp` plays with any engine.
"""
