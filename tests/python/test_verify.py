# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap verify``: findings, replays, mutants, limits."""

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from conftest import Run, Start
from warpheap import explorer
from warpheap.console import Steps


def test_findings_are_printed_with_their_replay(run: Run) -> None:
    result = run("verify", "--schedules", "100")
    assert result.returncode == 1
    assert "24 combinations" in result.stdout
    assert "1 findings" in result.stdout
    finding = "finding: seed=42 strategy=pct memory=weak subject=buggy case=churn: I3: page 5"
    assert finding in result.stdout
    assert "replay: warpheap verify --replay buggy/churn/pct/weak/42" in result.stdout
    assert "no finding is evidence, not proof" in result.stdout


def test_no_finding_exits_with_0(run: Run) -> None:
    result = run(
        "verify", "--manager", "sound", "--case", "fill", "--strategy", "pct", "--memory", "sc"
    )
    assert result.returncode == 0
    assert "1 combinations, 10,000 schedules, 0 findings" in result.stdout


def test_budget_reaches_the_program(run: Run) -> None:
    assert run("verify", "--manager", "buggy", "--schedules", "41").returncode == 0
    assert run("verify", "--manager", "buggy", "--schedules", "42").returncode == 1


def test_json_has_one_line_a_combination(run: Run) -> None:
    result = run("verify", "--json", "--manager", "buggy", "--manager", "ring")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == 12
    found = [line for line in lines if line["status"] == "failed"]
    assert [line["replay"] for line in found] == ["buggy/churn/pct/weak/42"]


@pytest.mark.parametrize("seed, status", [(42, 1), (41, 0)])
def test_replay_prints_the_account(run: Run, seed: int, status: int) -> None:
    result = run("verify", "--replay", f"buggy/churn/pct/weak/{seed}")
    assert result.returncode == status
    assert f"schedule of seed {seed} with [brackets]" in result.stdout


def test_the_largest_seed_is_replayed_as_it_is(run: Run) -> None:
    result = run("verify", "--replay", "buggy/churn/pct/weak/18446744073709551615")
    assert result.returncode == 0
    assert "schedule of seed 18446744073709551615 " in result.stdout


def test_mutants_are_rejected_and_replayed(run: Run) -> None:
    result = run("verify", "--mutants")
    assert result.returncode == 0
    assert "2 mutants, 2 rejected, 0 not" in result.stdout
    assert "by lost_unlock/churn/pct/weak/7: I3" in result.stdout
    assert "SIGABRT: assertion failed" in result.stdout


def test_a_hunt_goes_deeper_in_rounds_and_never_repeats_a_seed(run: Run) -> None:
    result = run("verify", "--mutants", "--json", "--manager", "deep", FAKE_MUTANTS="deep")
    (line,) = map(json.loads, result.stdout.splitlines())
    assert (line["rejected"], line["seed"]) == (True, 2500)


def test_a_hunt_keeps_to_its_time(run: Run) -> None:
    arguments = ("verify", "--mutants", "--manager", "survivor", "--seconds", "1", "--json")
    result = run(*arguments, FAKE_MUTANTS="survivor", FAKE_SLEEP="0.4")
    assert result.returncode == 1
    (line,) = map(json.loads, result.stdout.splitlines())
    assert 1 <= line["hunt_s"] < 5


def test_a_surviving_mutant_fails(run: Run) -> None:
    result = run("verify", "--mutants", FAKE_MUTANTS="survivor")
    assert result.returncode == 1
    assert "SURVIVED  survivor" in result.stdout


def test_a_mutant_whose_replay_finds_nothing_fails(run: Run) -> None:
    result = run("verify", "--mutants", "--json", FAKE_MUTANTS="forgetful")
    assert result.returncode == 1
    lines = {line["name"]: line for line in map(json.loads, result.stdout.splitlines())}
    assert (lines["forgetful"]["rejected"], lines["forgetful"]["replayed"]) == (False, False)
    assert lines["lost_unlock"]["replayed"] is True


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--manager", "nosuch"), "unknown subject 'nosuch'; known subjects: sound, buggy, ring"),
        (("--strategy", "fair"), "unknown strategy 'fair'; known strategies: sticky, uniform, pct"),
        (("--memory", "strong"), "unknown memory 'strong'; known memories: sc, weak"),
        (("--manager", "ring", "--case", "churn"), "unknown case 'churn'; known cases: push_pop"),
        (("--replay", "buggy/churn/pct/weak"), "--replay needs SUBJECT/CASE/STRATEGY/MEMORY/SEED"),
        (("--replay", "a/b/c/d/1"), "unknown subject 'a'"),
        (
            ("--replay", "buggy/churn/pct/weak/99999999999999999999999"),
            "the seed 99999999999999999999999 is above 18446744073709551615",
        ),
        (("--replay", "buggy/churn/pct/weak/" + "9" * 5000), "is above 18446744073709551615"),
        (
            ("--replay", "buggy/churn/pct/weak/4²"),
            "--replay needs SUBJECT/CASE/STRATEGY/MEMORY/SEED",
        ),
        (("--seed", str(2**64)), "18446744073709551615"),
    ],
)
def test_bad_names_exit_with_2(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run("verify", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    "arguments", [("--replay", "{}/churn/pct/sc/1"), ("--mutants", "--manager", "{}")]
)
def test_of_many_names_the_nearest_are_told(run: Run, arguments: tuple[str, ...]) -> None:
    many = " ".join(f"sound_{letter}_mutant" for letter in "abcdefghijklmnopqrstuvwxyz" * 4)
    for name in ("sound_b_mutan", "nothing_like_it"):
        words = [word.format(name) for word in arguments]
        result = run("verify", *words, FAKE_MUTANTS=many)
        assert result.returncode == 2
        assert len(result.stderr) < 400
        assert f"'{name}'" in result.stderr
        assert "warpheap-verify list' prints all 1" in result.stderr
        assert ("'sound_b_mutant'" in result.stderr) == (name == "sound_b_mutan")


def test_an_error_of_the_program_has_its_prefix_once(run: Run) -> None:
    result = run("verify", "--replay", "sound/nocase/pct/sc/1")
    assert result.returncode == 2
    assert result.stderr == "error: warpheap-verify: unknown case 'nocase' of sound\n"


def test_interrupt_between_two_starts_ends_the_first() -> None:
    """The children of the first items run while the later ones are still being handed over."""
    started, ended = threading.Event(), threading.Event()

    def work(_item: int, cancel: threading.Event) -> None:
        started.set()
        if cancel.wait(20):
            ended.set()

    def items() -> Iterator[int]:
        yield 0
        assert started.wait(20)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(explorer.spread(work, items(), 2, Steps("testing", 2, None)))
    assert ended.is_set()


def test_closing_the_results_ends_what_still_runs() -> None:
    started, ended = threading.Event(), threading.Event()

    def work(item: int, cancel: threading.Event) -> int:
        if item:
            started.set()
            if cancel.wait(20):
                ended.set()
        else:
            assert started.wait(20)
        return item

    with closing(explorer.spread(work, [0, 1], 2, Steps("testing", 2, None))) as results:
        assert next(results) == 0
    assert ended.is_set()


def running(environment: dict[str, str]) -> str:
    """Return the command lines of the processes of this test's programs."""
    shown = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
    lines = shown.stdout.splitlines()
    return "\n".join(line for line in lines if environment["WARPHEAP_BUILD"] in line)


def test_interrupt_ends_all_children(start: Start, environment: dict[str, str]) -> None:
    with start("verify", "--jobs", "2", FAKE_SLEEP="30") as child:
        deadline = time.monotonic() + 60
        while "warpheap-verify run" not in running(environment):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        interrupted = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=30)
    assert time.monotonic() - interrupted < 10
    assert child.returncode == 130
    assert "Traceback" not in message
    assert not running(environment)
