"""The protocol of the Gomocup tournament, for Gomoku."""
