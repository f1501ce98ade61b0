"""Fitting a network to a dataset: examples, held-out matches, optimisers, streaming, several processes."""
