"""The lock files: complete, hashed, in step with what was asked for, and naming no host."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).parents[3]
LOCKS = sorted((REPOSITORY / "requirements").rglob("*.txt"))
PEERS = sorted((REPOSITORY / "requirements/peers").glob("*.in"))
SHARED = ("pydantic", "pydantic-core")
"""What Handrail and every peer stand on: ratios between them mean something only with the same versions."""


def pins(lock: Path) -> dict[str, tuple[str, int]]:
    """The version and the number of hashes of each locked package."""
    joined = lock.read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]
    locked: dict[str, tuple[str, int]] = {}
    for line in lines:
        pinned = re.match(r"(?P<name>[\w.-]+)(?:\[[\w, -]+\])?==(?P<version>[^\s;]+)", line)
        assert pinned, f"{lock.name}: {line.split()[0]} is not pinned"
        locked[canonicalize_name(pinned["name"])] = (pinned["version"], line.count("--hash=sha256:"))
    return locked


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


def requirements(peer: Path) -> list[str]:
    lines = peer.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.stem)
def test_the_lock_of_a_peer_meets_what_was_asked(peer: Path) -> None:
    assert unmet(requirements(peer), peer.with_suffix(".txt")) == [], "run `make lock`"


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.stem)
def test_a_peer_says_which_version_is_too_old_to_be_compared_with(peer: Path) -> None:
    (line,) = requirements(peer)

    assert [bound.operator for bound in Requirement(line).specifier] == [">="]


def test_openai_agents_is_not_older_than_the_version_the_first_budget_is_held_against() -> None:
    version, _ = pins(REPOSITORY / "requirements/peers/openai_agents.txt")["openai-agents"]

    assert Version(version) >= Version("0.24")


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.stem)
def test_peers_are_measured_with_the_pydantic_that_handrail_uses(peer: Path) -> None:
    ours = pins(REPOSITORY / "requirements/dev.txt")
    theirs = pins(peer.with_suffix(".txt"))

    assert {name: theirs[name][0] for name in SHARED} == {name: ours[name][0] for name in SHARED}


def test_every_peer_that_is_measured_has_a_lock_of_its_own() -> None:
    measured = {path.stem for path in (REPOSITORY / "benchmarks/peers").glob("*.py")}
    programs = {"__init__", "fastmcp_server"}

    assert {peer.stem for peer in PEERS} == measured - programs
