"""The classical learners: tabular values and the experience graph."""
