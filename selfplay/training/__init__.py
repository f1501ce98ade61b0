"""Fitting a network to a dataset: examples, held-out matches, optimisers, several processes."""
