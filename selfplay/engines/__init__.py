"""Programs that play, which a controller tells what to do by commands, one per line, and the protocols that they speak.

`gtp`, `gomocup`, `nboard` and `uci` read and write the commands, answers and moves of a protocol. `commands` has what
several of them share, `clock` and `handicap` what some commands need; `process` is an engine in another process.
`selfplay.players` plays with any engine; `selfplay.playing` lets our players act as engines.
"""
