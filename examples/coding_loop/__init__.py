"""A coding agent's loop: a scripted model finds a bug, has its repair approved, and runs the tests.

Run `python -m examples.coding_loop` in a clone. It needs no network and works in a temporary folder. The loop
is in loop.py.
"""
