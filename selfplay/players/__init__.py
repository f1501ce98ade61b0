"""Players, which choose actions, and the registry of their names."""
