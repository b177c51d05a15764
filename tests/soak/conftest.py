"""What the long runs share with the tests of whole programs."""

from tests.acceptance.conftest import quick

__all__ = ["quick"]
