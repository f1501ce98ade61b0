"""The settings of every program, as checked dataclasses."""
