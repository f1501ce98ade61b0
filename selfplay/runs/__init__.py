"""The files of a run: its folder, manifests, files written whole, checkpoints."""
