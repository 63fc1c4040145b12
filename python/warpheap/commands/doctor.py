# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap doctor``: what is installed, what is missing, and how to fix it."""

from dataclasses import asdict
from pathlib import Path
from typing import Optional

import typer
from rich.table import Table
from rich.text import Text

from warpheap.commands import options
from warpheap.console import out, print_json, steps
from warpheap.doctor import Finding, checks
from warpheap.errors import EXIT_FAILED, guarded


@guarded
def doctor(
    build_dir: Optional[Path] = options.build_dir(), as_json: bool = options.json_output()
) -> None:
    """Look at compilers, GPU, Python packages and built programs.

    Exits with 1 if something that is needed is missing.
    """
    wanted = list(checks(build_dir))
    findings = []
    with steps("looking", len(wanted)) as progress:
        for name, check in wanted:
            progress.now(name)
            findings.append(check())
            progress.advance(name)
    healthy = all(finding.ok for finding in findings if finding.needed)
    if as_json:
        print_json({"schema": 1, "ok": healthy, "checks": [asdict(f) for f in findings]})
    else:
        out.print(_table(findings))
        for finding in findings:
            if not finding.ok:
                need = "needed" if finding.needed else "optional"
                line = f"{finding.name} ({need}): {finding.remedy}"
                out.print(line, soft_wrap=True)
        verdict = ("all requirements are met", "green") if healthy else ("not ready", "red")
        out.print(Text(*verdict))
    if not healthy:
        raise typer.Exit(EXIT_FAILED)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("doctor")(doctor)


def _table(findings: list[Finding]) -> Table:
    table = Table()
    for heading in ("", "what", "found", "for"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        missing = ("missing", "red") if finding.needed else ("absent", "yellow")
        mark = Text(*(("ok", "green") if finding.ok else missing))
        table.add_row(mark, finding.name, finding.found, finding.purpose)
    return table
