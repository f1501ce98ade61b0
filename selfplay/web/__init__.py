"""Playing in a browser: a server that holds matches in memory, the page that it serves, and the story of a run."""
