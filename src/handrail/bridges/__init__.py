"""Bridges: the same tools under the same guard, for agents that others wrote; and foreign tools, for ours."""
