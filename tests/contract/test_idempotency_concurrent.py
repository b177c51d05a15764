"""A hundred calls at once under one key make one run, in one process and over two."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.backends import KINDS, Backend, backend_of
from tests.contract.keyed_payments import pay, payments_handrail

pytestmark = [pytest.mark.req("BY-12"), pytest.mark.fault("F05")]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


async def test_a_hundred_calls_at_once_make_one_run(place: Backend, tmp_path: Path) -> None:
    hr = payments_handrail(place.process(), tmp_path / "ledger")
    outs = await pay(hr, 100)
    assert Counter(out.status for out in outs) == {"completed": 1, "duplicate": 99}
    assert {out.result.data for out in outs} == {5} and len({out.run_id for out in outs}) == 1
    [later] = await pay(payments_handrail(place.process(), tmp_path / "ledger"), 1)
    assert (later.status, later.result.data) == ("duplicate", 5)
    assert len((tmp_path / "ledger").read_text().splitlines()) == 1


async def test_the_same_key_with_other_arguments_is_refused(place: Backend, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    [first] = await pay(payments_handrail(place.process(), ledger), 1)
    [other] = await pay(payments_handrail(place.process(), ledger), 1, amount=6)
    assert (first.status, other.status, other.code) == ("completed", "refused", "KEY_REUSED")
    assert len(ledger.read_text().splitlines()) == 1


def test_calls_of_two_processes_at_once_make_one_run(rows: Backend, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.contract.keyed_payments", str(rows.url), str(ledger), "50"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None and process.stdout.readline().strip() == "ready"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told: Counter[tuple[str, int]] = Counter()
    for process in both:
        told.update(dict(ast.literal_eval(process.communicate()[0])))
    assert told == {("completed", 5): 1, ("duplicate", 5): 99}
    assert len(ledger.read_text().splitlines()) == 1
