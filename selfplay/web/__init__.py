"""Playing in a browser: a server that keeps no matches, the page that it serves or exports, and the story of a run."""
