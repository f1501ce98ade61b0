"""What every script shares: flags, composing settings, one line for an error, exit codes, sweeps."""
