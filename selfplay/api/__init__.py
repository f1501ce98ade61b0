"""The public functions of the package that take games, players and settings by name."""
