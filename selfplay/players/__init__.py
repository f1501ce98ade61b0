"""Players, which choose actions, a file for each kind, and learned agents with their files."""
