# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Children: their output, their deaths, their time limit, and that none is left behind."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from warpheap import process


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_collects_both_streams_and_the_exit_status() -> None:
    code = "import sys; print('out'); print('first\\nlast', file=sys.stderr); sys.exit(3)"
    outcome = process.run(python(code), 30)
    assert (outcome.stdout, outcome.returncode, outcome.timed_out) == ("out\n", 3, False)
    assert outcome.death() == "exit status 3: last"


def test_names_the_signal() -> None:
    outcome = process.run(python("import os; os.kill(os.getpid(), 11)"), 30)
    assert outcome.death() == "SIGSEGV"


def test_time_limit_ends_the_whole_group_even_if_it_ignores_sigterm(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork();"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)"
    )
    start = time.monotonic()
    outcome = process.run(python(code), 1.0)
    assert outcome.timed_out
    assert time.monotonic() - start < 10
    children = [int(word) for word in pids.read_text().split()]
    assert len(children) == 2
    while any(is_alive(pid) for pid in children) and time.monotonic() - start < 10:
        time.sleep(0.01)  # a killed process needs a moment to go
    assert not any(is_alive(pid) for pid in children)


def test_a_grandchild_that_keeps_the_pipe_does_not_hang_us() -> None:
    code = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('done', flush=True)"
    start = time.monotonic()
    outcome = process.run(python(code), 30)
    assert outcome.stdout == "done\n"
    assert time.monotonic() - start < 10


def test_output_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT_BYTES", 1000)
    outcome = process.run(python("print('x' * 1000000)"), 30)
    assert outcome.returncode == 0
    assert len(outcome.stdout) == 1000


def test_cancel_from_another_thread_ends_the_child() -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    start = time.monotonic()
    with pytest.raises(process.CancelledError):
        process.run(python("import time; time.sleep(60)"), 60, cancel)
    assert time.monotonic() - start < 10


def test_missing_program_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        process.run(["/nowhere/at/all"], 1)


def test_sigterm_becomes_an_interrupt_and_the_handler_comes_back() -> None:
    with pytest.raises(KeyboardInterrupt), process.terminate_as_interrupt():
        os.kill(os.getpid(), 15)
        time.sleep(5)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
