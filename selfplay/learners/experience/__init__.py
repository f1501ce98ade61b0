"""The experience graph: the boards met, which board followed which, and how scores are backed up."""
