"""What the parity tests share."""

from tests.acceptance.conftest import forked_cli

__all__ = ["forked_cli"]
