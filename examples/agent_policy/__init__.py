"""Agents and their policies in a YAML file: what each may call, and what a sub-agent is left with.

Run `python -m examples.agent_policy` in a clone. README.md in this folder does the same at the command line.
"""
