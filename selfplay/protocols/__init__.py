"""The protocols in which a controller and an engine tell each other what to do, by lines of text.

Each protocol is a file or folder with both directions: our player of third-party engines (a subclass of
`engine_player.EnginePlayer`), and our engine, which lets others play against our players (a subclass of
`line_engine.LineEngine`). `commands` and `clock` have what commands of several protocols share; `process` is an engine
in another process.
"""
