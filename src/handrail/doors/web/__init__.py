"""The web app: pages for people, drawn on the server."""
