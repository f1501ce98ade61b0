"""Players by name: the syntax of their names, their options, and how each is made."""
