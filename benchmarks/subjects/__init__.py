"""Our own subjects, each timed in a process that holds nothing else."""
