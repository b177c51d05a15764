"""Idempotency keys as rows: effects at most once, over processes and crashes."""
