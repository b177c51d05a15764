"""The library of tools, and the page of one: its form, its runs, its results."""
