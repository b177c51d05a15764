"""The tools that ship with Handrail: a folder for each group, a file for each tool."""
