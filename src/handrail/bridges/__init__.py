"""Bridges: the same tools under the same guard, for agents that others wrote. One module each."""
