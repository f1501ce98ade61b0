"""Learning from rows, from matches while they are played, and from the lessons of a search or a solver."""
