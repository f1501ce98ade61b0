"""Playing in a browser: a server with matches in memory, the page that it serves, and the story of a run."""
