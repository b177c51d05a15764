"""Secrets from end to end: kept by a person, told to a body, and to nobody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handrail import Context, Handrail, Principal, tool
from handrail.ext.errors import UsageError
from tests.acceptance.command_line import DEADLINE, environment

ADMIN = Principal("acme", "ada", permissions=["secrets.manage"])
BO = Principal("acme", "bo")
VALUE = "t0p-s3cret"


@tool("bank.length", level="read")
async def length(*, ctx: Context) -> int:
    """How long the token is."""
    return len(ctx.secret("BANK_TOKEN"))


@tool("bank.leak", level="read")
async def leak(*, ctx: Context) -> str:
    """Says more than it should."""
    return f"the token is {ctx.secret('BANK_TOKEN')}"


@pytest.mark.req("BY-19")
async def test_a_secret_reaches_bodies_of_its_tenant_and_no_record(database_url: str) -> None:
    async with Handrail([length, leak], database=database_url) as hr:
        await hr.secrets.set("BANK_TOKEN", VALUE, by=ADMIN)
        await hr.secrets.set("BANK_TOKEN", "bo's", by=BO, user="bo")
        assert (await hr.call("bank.length", principal=ADMIN)).result.data == len(VALUE)
        assert (await hr.call("bank.length", principal=BO)).result.data == len("bo's")
        elsewhere = await hr.call("bank.length", principal=Principal("other", "eve"))
        assert elsewhere.code == "SECRET_MISSING"
        told = await hr.call("bank.leak", principal=ADMIN)
        assert VALUE not in str(told.result) and VALUE not in repr(await hr.secrets.list(ADMIN))
        assert not any(VALUE in str(event.to_dict()) for event in hr.log.read("acme"))
        assert [(one.name, one.user) for one in await hr.secrets.list(BO)] == [
            ("BANK_TOKEN", None),
            ("BANK_TOKEN", "bo"),
        ]
        assert await hr.secrets.delete("BANK_TOKEN", by=BO, user="bo")
        assert (await hr.call("bank.length", principal=BO)).result.data == len(VALUE)


@pytest.mark.req("BY-19")
async def test_only_those_who_may_look_after_secrets(sqlite_url: str) -> None:
    async with Handrail([length], database=sqlite_url) as hr:
        with pytest.raises(UsageError, match=r"secrets\.manage"):
            await hr.secrets.set("BANK_TOKEN", VALUE, by=BO)
        with pytest.raises(UsageError, match=r"secrets\.manage"):
            await hr.secrets.set("BANK_TOKEN", VALUE, by=BO, user="ada")
        with pytest.raises(UsageError, match=r"secrets\.manage"):
            await hr.secrets.delete("BANK_TOKEN", by=BO)
        with pytest.raises(UsageError, match="not by agents"):
            await hr.secrets.set("BANK_TOKEN", VALUE, by=ADMIN.spawn("helper"))
        assert await hr.secrets.list(ADMIN) == []


async def test_without_a_database_it_says_where_secrets_come_from() -> None:
    async with Handrail([length], secrets={"BANK_TOKEN": VALUE}) as hr:
        with pytest.raises(UsageError, match="secrets="):
            await hr.secrets.set("BANK_TOKEN", VALUE, by=ADMIN)


@pytest.mark.req("BY-19")
def test_the_command_line_keeps_lists_and_forgets_secrets_and_never_shows_them(
    tmp_path: Path, sqlite_url: str
) -> None:
    def handrail(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "handrail", "secrets", *words, "--tenant", "acme"],
            input=typed,
            cwd=tmp_path,
            env=environment(HANDRAIL_DATABASE=sqlite_url),
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE,
        )

    subprocess.run(
        [sys.executable, "-m", "handrail", "db", "upgrade"],
        cwd=tmp_path,
        env=environment(HANDRAIL_DATABASE=sqlite_url),
        capture_output=True,
        check=True,
        timeout=DEADLINE,
    )
    assert handrail("set", "BANK_TOKEN").returncode == 2
    kept = handrail("set", "BANK_TOKEN", typed=f"{VALUE}\n")
    assert kept.returncode == 0 and VALUE not in kept.stdout + kept.stderr
    listed = handrail("list")
    assert listed.stdout.startswith("BANK_TOKEN\t") and VALUE not in listed.stdout
    assert VALUE.encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("handrail.db*"))
    assert handrail("remove", "BANK_TOKEN").returncode == 0
    gone = handrail("remove", "BANK_TOKEN")
    assert gone.returncode == 3 and "has no secret 'BANK_TOKEN'" in gone.stderr
