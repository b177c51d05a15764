"""What every test may rely on: `async def` tests run, and Hypothesis has no deadline."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Give an `async def` test a fresh loop, and each example of a `@given` one too."""
    test = pyfuncitem.obj
    given = getattr(test, "hypothesis", None)
    if given is not None and inspect.iscoroutinefunction(given.inner_test):
        given.inner_test = _blocking(given.inner_test)
        return None
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    _blocking(test)(**{name: value for name, value in pyfuncitem.funcargs.items() if name in names})
    return True


def _blocking(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs), debug=False)

    return run
