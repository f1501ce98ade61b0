"""The Go Text Protocol, version 2 (Farnebäck, draft 2, 2002), for games on boards of squares."""
