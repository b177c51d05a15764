"""The command line: `handrail run --as agent:NAME --json`, each call in a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from handrail import Handrail, Outcome
from handrail.core.define.levels import Source
from tests.acceptance.command_line import environment
from tests.acceptance.forked_cli import ForkedCli
from tests.parity.cases import Case
from tests.parity.compare import Events, Observation, as_json
from tests.parity.people import PEOPLE, TOOLS, write_settings

_EXITS = {"completed": 0, "failed": 1, "refused": 3, "pending": 4, "queued": 4, "cancelled": 130}
"""What the page on the command line says; a wrong argument is a wrong use."""
_EXITS_BY_CODE = {"MISSING_PARAM": 2, "INVALID_PARAM": 2}


class Cli:
    """Runs commands in a folder that has settings and a database."""

    name = "cli"

    def __init__(self, forked_cli: ForkedCli, folder: Path, source: Source = "agent") -> None:
        """With source `cli` a person calls, in their own name."""
        self.source = source
        self._forked_cli = forked_cli
        self._folder = folder
        self._url = f"sqlite:///{folder / 'handrail.db'}"
        write_settings(folder, self._url)
        self._log = Handrail([], database=self._url, worker=False)
        self._seen: dict[str, int] = {}

    @staticmethod
    def spelled(tool: str) -> str:
        return tool

    @staticmethod
    def keyed(key: str) -> str:
        return key

    async def ask(self, case: Case, told: int) -> Observation:
        answer = await asyncio.to_thread(self._stopped if case.cancel else self._run, case)
        return Observation(self._take(PEOPLE[case.who].tenant), answer, "Ctrl-C")

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        told = {
            "status": outcome.status,
            "ok": outcome.ok,
            "code": outcome.code,
            "tool": outcome.tool,
            "call_id": outcome.call_id,
            "run_id": outcome.run_id,
            "approval_id": outcome.approval_id,
            "repairs": [_repair(one) for one in outcome.repairs],
            "result": outcome.result.to_dict(),
        }
        code = _EXITS_BY_CODE.get(outcome.code or "", _EXITS[outcome.status])
        return {"exit": code, "told": as_json(told)}

    def _words(self, case: Case) -> list[str]:
        principal = PEOPLE[case.who]
        file = self._folder / "args.json"
        file.write_text(json.dumps(case.args or {}))
        who = ["--as", f"agent:{principal.agent}"] if principal.agent else []
        return ["run", case.tool, *who, "--json", "--args", f"@{file}"]

    def _environment(self, case: Case) -> dict[str, str]:
        principal = PEOPLE[case.who]
        if principal.tenant == PEOPLE["ops"].tenant:
            return {}
        assert principal.user is not None
        return {
            "HANDRAIL_TENANT": principal.tenant,
            "HANDRAIL_USER": principal.user,
            "HANDRAIL_PERMISSIONS": ",".join(principal.permissions),
        }

    def _run(self, case: Case) -> Any:
        more = self._environment(case)
        done = self._forked_cli(*self._words(case), cwd=self._folder, **{"HANDRAIL_TOOLS": TOOLS, **more})
        return _answer(done.code, done.out, done.err)

    def _stopped(self, case: Case) -> Any:
        """Press Ctrl-C once the body runs."""
        with subprocess.Popen(
            [sys.executable, "-m", "handrail", *self._words(case)],
            cwd=self._folder,
            env=environment(HANDRAIL_TOOLS=TOOLS, **self._environment(case)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stderr is not None
                process.stderr.readline()
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=30)
            finally:
                process.kill()
        return _answer(process.returncode, out, err)

    def _take(self, tenant: str) -> list[dict[str, Any]]:
        after = self._seen.get(tenant, 0)
        events = [one for one in self._log.log.read(tenant) if one.position > after]
        if events:
            self._seen[tenant] = events[-1].position
        return [as_json(one.to_dict()) for one in events]

    async def close(self) -> None:
        await self._log.close()


def _answer(code: int, out: str, err: str) -> Any:
    if not out:
        return {"exit": code, "said": err}
    told = json.loads(out)
    del told["decision"], told["duration_ms"]
    return {"exit": code, "told": told}


def _repair(one: Any) -> dict[str, Any]:
    return {"path": one.path, "kind": one.kind, "before": one.before, "after": one.after}
