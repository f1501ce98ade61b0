"""One file for each stage of a run, each readable from top to bottom."""
