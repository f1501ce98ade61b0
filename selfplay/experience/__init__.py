"""The experience graph: the boards met in matches, which board followed which, and how scores are backed up."""
