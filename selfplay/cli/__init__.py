"""The common parts of all scripts: flags, composing settings, one-line errors, exit codes, sweeps."""

import gc

# Imports create many objects and no garbage; see docs/design_notes.md for what this saves. Set here, because every
# script imports this package before anything that takes long.
gc.set_threshold(200_000)
