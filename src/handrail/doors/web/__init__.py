"""The web door: pages for people, made on the server."""
