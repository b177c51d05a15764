"""identity: who calls, what they may do, and which tools their tenant has."""
