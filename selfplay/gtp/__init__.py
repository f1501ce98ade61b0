"""The Go Text Protocol, version 2 (Farnebäck, draft 2, 2002), for games on boards of squares.

A controller writes commands, one per line, and an engine answers. `conversation` has the form of both, `vertices` the
notation of squares and colours, `moves` the match as the controller tells it, `process` an engine running in another
process. `selfplay.playing.gtp_engine` answers with our players; `selfplay.players.gtp` plays with any engine.
"""
