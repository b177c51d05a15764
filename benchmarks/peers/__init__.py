"""The peers' subjects: the tool of `benchmarks.task`, called in each library's own way."""
