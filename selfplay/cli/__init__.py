"""The common parts of all scripts: flags, composing settings, one-line errors, exit codes, sweeps."""
