"""What the parity tests share."""

from tests.acceptance.conftest import quick

__all__ = ["quick"]
