"""The settings of every program, checked."""
