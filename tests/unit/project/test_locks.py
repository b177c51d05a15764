"""The lock files: complete, hashed, in step with what was asked for, and naming no host."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[3]
LOCKS = sorted((REPOSITORY / "requirements").glob("*.txt"))


def pins(lock: Path) -> dict[str, tuple[str, int]]:
    """The version and the number of hashes of each locked package."""
    joined = lock.read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]
    found: dict[str, tuple[str, int]] = {}
    for line in lines:
        pinned = re.match(r"(?P<name>[\w.-]+)(?:\[[\w, -]+\])?==(?P<version>[^\s;]+)", line)
        assert pinned, f"{lock.name}: {line.split()[0]} is not pinned"
        found[canonicalize_name(pinned["name"])] = (pinned["version"], line.count("--hash=sha256:"))
    return found


def unmet(wanted: Iterable[str], lock: Path) -> list[str]:
    """The requirements that a lock does not hold, or holds in a version they exclude."""
    locked = pins(lock)
    return [
        line
        for line in wanted
        if (name := canonicalize_name((requirement := Requirement(line)).name)) not in locked
        or locked[name][0] not in requirement.specifier
    ]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_package_has_a_hash(lock: Path) -> None:
    assert [name for name, (_, hashes) in pins(lock).items() if not hashes] == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_no_lock_names_a_host_or_an_index(lock: Path) -> None:
    assert re.findall(r"\S*://\S*|--(?:\w+-)*index\S*|--find-links\S*|\s@\s.*", lock.read_text()) == []


def test_the_development_lock_meets_pyproject() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    wanted += [line for extra in extras.values() for line in extra if not line.startswith("handrail[")]

    assert unmet(wanted, REPOSITORY / "requirements/dev.txt") == [], "run `make lock`"


def test_the_lock_of_the_peers_meets_what_was_asked() -> None:
    asked = (REPOSITORY / "requirements/peers.in").read_text().splitlines()
    wanted = [line for line in asked if line and not line.startswith("#")]

    assert unmet(wanted, REPOSITORY / "requirements/peers.txt") == [], "run `make lock`"


def test_peers_are_measured_with_the_packages_that_handrail_uses() -> None:
    ours = pins(REPOSITORY / "requirements/dev.txt")
    theirs = pins(REPOSITORY / "requirements/peers.txt")

    assert {name: theirs[name] for name in ours.keys() & theirs.keys()} == {
        name: ours[name] for name in ours.keys() & theirs.keys()
    }
