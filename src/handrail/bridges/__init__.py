"""Bridges: the same tools in the hands of other frameworks, and foreign tools in ours. One module each."""
