"""Outgoing HTTP to addresses that are checked and pinned."""
