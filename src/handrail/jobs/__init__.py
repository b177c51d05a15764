"""Jobs over workers: calls that outlive processes, on the durable engine. Alone imports it."""
