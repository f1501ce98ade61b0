"""The Go Text Protocol, version 2 (Farnebäck, draft 2, 2002), for games on boards of squares.

A controller writes commands, one per line, and an engine answers. `protocol` parses and writes both, and has the
notation of colours and squares; `arguments`, `clock` and `handicap` have what some commands need; `process` is an
engine in another process. `selfplay.playing.gtp_engine` lets our players act as an engine; `selfplay.players.gtp` plays
with any engine.
"""
