"""The files of a run: its folder and lock, manifests, levels as agents, finished runs."""
