"""Figures of the trained levels of a run, one subject per file; selfplay.figures.figure_files finds them."""
