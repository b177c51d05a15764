"""REST under /api: parses what comes over HTTP, calls the one way, and tells what came of it."""
