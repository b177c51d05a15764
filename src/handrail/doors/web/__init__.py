"""The web door: pages for people."""
