"""Story: what happened to calls, in sentences. Pure: events in, lines out, and how lines are drawn."""
