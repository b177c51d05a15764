"""The peers' subjects: the tool of `benchmarks.sample_tool`, called in each library's own way."""
