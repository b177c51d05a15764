"""Pages: one file a page, each with its routes."""
