"""Where the public data sets are, and what happens when they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def corpus(name: str) -> Path:
    """The folder of one data set, for a test module to read while it is collected.

    Without any data sets the module is skipped and says so. A folder that was named but is not there, or
    one that lacks this data set, is an error.
    """
    named = os.environ.get("HANDRAIL_CORPORA")
    corpora = ROOT / (named or "../shared/data")
    if not corpora.is_dir():
        if named:
            pytest.fail("corpora: HANDRAIL_CORPORA is set, but there is no such folder", pytrace=False)
        pytest.skip(
            "corpora: NOT RUN, the data sets are absent; set HANDRAIL_CORPORA to their folder",
            allow_module_level=True,
        )
    if not (corpora / name).is_dir():
        pytest.fail(f"corpora: the folder of the data sets has no {name}", pytrace=False)
    return corpora / name
