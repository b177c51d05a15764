"""Timeline: what happened to calls, in sentences. Pure: events in, entries out; and their rendering."""
