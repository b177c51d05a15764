"""A small business toolset: customer records of several tenants, from search to a deletion that is refused.

Run `python -m examples.records` in a clone. `examples/test_records.py` shows how such tools are tested.
"""
