"""Figures of the comparison of all levels, one subject per file; selfplay.figures.figure_files finds them."""
