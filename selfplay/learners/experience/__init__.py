"""The experience graph: boards met, what followed each, and how scores run back."""
