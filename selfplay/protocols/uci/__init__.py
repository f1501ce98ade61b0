"""The Universal Chess Interface, with the variants and moves of Fairy-Stockfish."""
