"""What the long runs share with the tests of whole programs."""

from tests.acceptance.conftest import quick
from tests.acceptance.web.conftest import browser, windows

__all__ = ["browser", "quick", "windows"]
