"""Tools whose bodies run in a process of their own: they have to stand at the top of an importable module."""

import asyncio
import atexit
import base64
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, SecretStr, computed_field

from handrail import Attachment, BaseTool, Context, Result, Retry, ToolError, define, tool
from handrail.core.run.process import ProcessDied
from handrail.ext.compat import get_tenant_id_for_tool
from handrail.ext.tools import current

IGNORES_SIGTERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); time.sleep(600)"
)


@tool("calc.add", level="read", isolation="process")
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool("calc.add_later", level="read", isolation="process")
async def add_later(a: int, b: int = 1) -> int:
    """Add two numbers after a turn of the loop."""
    await asyncio.sleep(0)
    return a + b


class Multiply(BaseTool):
    """Multiply two numbers."""

    id = "calc.multiply"
    level = "read"
    isolation = "process"

    def execute(self, a: int, b: int) -> int:
        return a * b


class Raise(BaseTool):
    """Raise a number to the power it was made with."""

    id = "calc.raise"
    level = "read"
    isolation = "process"

    def __init__(self, power: int) -> None:
        self.power = power

    def execute(self, a: int) -> int:
        return int(a**self.power)


cube = Raise(3)


async def _negate() -> dict[str, Any]:
    await asyncio.sleep(0)
    return {
        "description": "Negate a number.",
        "level": "read",
        "isolation": "process",
        "paramSchema": {"a": {"type": "integer"}},
        "requiredParams": ["a"],
        "execute": negated,
    }


def negated(args: Any) -> int:
    return -int(args.a)


negate = define("calc.negate", lambda init: _negate())


class Leg(BaseModel):
    to: str
    takes: timedelta = timedelta(hours=1)


class Trip(BaseModel):
    day: date
    legs: list[Leg]
    pin: SecretStr
    days: int = Field(default=None)  # type: ignore[assignment]


class Booked(BaseModel):
    day: date
    legs: list[Leg]
    digits: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def stops(self) -> int:
        return len(self.legs)


@tool("trips.book", level="read", isolation="process", input=Trip)
def book(trip: Trip) -> Booked:
    """Book a trip."""
    assert type(trip.day) is date and trip.days is None
    return Booked(day=trip.day, legs=trip.legs, digits=len(trip.pin.get_secret_value()))


@tool("notes.report", level="read", isolation="process")
def report() -> Result:
    """Report with a picture."""
    return Result(
        data={"rows": 2},
        summary="Two rows.",
        metadata={"pages": 1},
        attachments=(
            Attachment("image/png", "dot.png", data=b"\x89PNG\x00\xff"),
            Attachment("text/plain", "all.txt", ref="blob:1"),
        ),
    )


@tool("calls.fail", level="write", isolation="process")
def fail(how: str) -> Any:
    """Fail in one of many ways."""
    match how:
        case "tool":
            raise ToolError("There is no such note.", code="NO_NOTE")
        case "value":
            raise ValueError("seven is no colour")
        case "exit":
            sys.exit(3)
        case "cancelled":
            raise asyncio.CancelledError
        case "stop":
            raise StopIteration
        case "gone":
            os.write(2, b"the disk is on fire")
            os._exit(7)
        case "half":
            os.write(_channel(), b'{"result": {"value": "all')
            os._exit(7)
        case "bytes":
            return b"\xff\xfe"
        case "words":
            return {"error": "No, thank you.", "code": "POLITE"}


def _channel() -> int:
    """The descriptor of the socket over which the answer goes, as the process was told."""
    return int(sys.argv[1])


@tool("calls.speak", level="read", isolation="process")
def speak(*, ctx: Context) -> str:
    """Tell progress and output, and print a lot."""
    sys.stdout.write("printed")
    sys.stderr.write("x" * 3_000_000)
    os.write(1, b"written\n" * 10_000)
    subprocess.run(["echo", "from a child"], check=True)
    ctx.metadata(title="Half", done=0.5)
    ctx.append_output("one ")
    threads = [threading.Thread(target=ctx.append_output, args=("+" * 100_000,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "said"


@tool("calls.identity", level="read", isolation="process")
async def identity(*, ctx: Context) -> dict[str, Any]:
    """Say who calls, as seen from here."""
    assert isinstance(ctx, Context) and current() is ctx and not ctx.signal.aborted
    return {
        "tenant": get_tenant_id_for_tool(),
        "user": ctx.user_id,
        "agent": ctx.agent_id,
        "roles": sorted(ctx.principal.roles),
        "permissions": sorted(ctx.permissions),
        "capabilities": sorted(ctx.capabilities),
        "source": ctx.source,
        "session": ctx.session_id,
        "call": ctx.call_id,
        "run": ctx.run_id,
        "key": ctx.idempotency_key,
        "pid": os.getpid(),
        "cwd": str(Path.cwd()),
        "env": os.environ.get("HANDRAIL_TEST_COLOUR"),
    }


@tool("calls.secret", level="read", isolation="process")
def secret(what: str, *, ctx: Context) -> Any:
    """Ask the context for something that is alive."""
    if what == "wait":
        return ctx.call_and_wait("calc.add", {"a": 1}).status
    return ctx.secret("TOKEN") if what == "secret" else asyncio.run(ctx.call("calc.add", {"a": 1}))


@tool("texts.make", level="read", isolation="process")
def make_text(size: int = 0, encoded: str = "") -> str:
    """Make a long text, or the one that is encoded."""
    return base64.b64decode(encoded).decode("utf-8", "surrogatepass") or "é" * size


@tool("work.stubborn", level="write", isolation="process", writes=lambda args: ["desk"])
def stubborn(*, ctx: Context) -> None:
    """Ignore every request to stop, together with a child that ignores them too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", IGNORES_SIGTERM], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    ctx.metadata(pids=[os.getpid(), child.pid])
    time.sleep(600)


@tool("work.tidy", level="write", isolation="process")
def tidy(path: str, *, ctx: Context) -> None:
    """Work until interrupted, then tidy up."""
    heard: list[bool] = []
    ctx.signal.on_abort(lambda: heard.append(True))
    try:
        ctx.metadata(pids=[os.getpid()])
        time.sleep(600)
    finally:
        Path(path).write_text(f"tidied {heard}")


@tool("work.tidy_later", level="write", isolation="process")
async def tidy_later(path: str, *, ctx: Context) -> None:
    """The same, awaiting."""
    try:
        ctx.metadata(pids=[os.getpid()])
        await asyncio.sleep(600)
    finally:
        await asyncio.to_thread(Path(path).write_text, "tidied")


@tool("work.leave", level="write", isolation="process")
def leave(path: str, *, ctx: Context) -> str:
    """Leave something to be done at exit."""

    def late() -> None:
        time.sleep(0.3)
        Path(path).write_text(f"done at exit, hurried: {ctx.signal.aborted}")

    atexit.register(late)
    return "left"


@tool("work.daemon", level="write", isolation="process")
def daemon(then: str, *, ctx: Context) -> str:
    """Start a child that holds on to what it inherits, then end."""
    child = subprocess.Popen([sys.executable, "-c", IGNORES_SIGTERM], stdin=subprocess.DEVNULL)
    pid = os.fork()  # one that also has the channel
    if pid == 0:
        time.sleep(600)
    ctx.metadata(pids=[child.pid, pid])
    if then == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    return "started"


def _effect(path: str, ctx: Context) -> str:
    with Path(path).open("a") as file:
        file.write("effect\n")
    if len(Path(path).read_text().splitlines()) == 1:
        ctx.metadata(pids=[os.getpid()])
        time.sleep(600)
    return "done"


@tool("work.pay", level="write", isolation="process")
def pay(path: str, *, ctx: Context) -> str:
    """Have an effect; the first time, wait to be killed."""
    return _effect(path, ctx)


@tool("work.put", level="write", isolation="process", idempotent=True)
def put(path: str, *, ctx: Context) -> str:
    """The same, but doing it twice is fine."""
    return _effect(path, ctx)


@tool("work.look", level="read", isolation="process")
def look(path: str, *, ctx: Context) -> str:
    """The same, but it changes nothing of value."""
    return _effect(path, ctx)


@tool(
    "calc.fail_once",
    level="read",
    isolation="process",
    retry=Retry(first=0, on=(OSError, ProcessDied, "BUSY")),
)
def fail_once(how: str, mark: str) -> str:
    """Fail at the first attempt, in some way."""
    if not Path(mark).exists():
        Path(mark).touch()
        match how:
            case "BUSY" | "BROKEN":
                raise ToolError("It is busy.", code=how)
            case "later":
                raise ToolError("Later.", code="LATER", retry_after=0)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case _:
                raise {"ConnectionResetError": ConnectionResetError, "ValueError": ValueError}[how](how)
    return "done"


@tool("calc.write_once", level="write", isolation="process")
def write_once(mark: str) -> str:
    """Die at the first attempt."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"
