"""The command `selfplay`: its programs, and their flags, one-line errors, exit codes and sweeps."""
