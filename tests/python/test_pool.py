# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every policy through the C interface, against a model, with calls that Hypothesis makes up."""

import bisect
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from warpheap import native

if native.find() is None:
    pytest.skip("the library of the pools is not built", allow_module_level=True)

from warpheap.pool import Pool, policies, upstreams

OURS = [name for name in policies() if not name.startswith("cuda_")]
GRANULE = 256
LIMIT = 1 << 20


class PoolMachine(RuleBasedStateMachine):
    """A pool and what it handed out: a sorted list of (address, size)."""

    blocks = Bundle("blocks")
    policy = "tlsf"

    @initialize(region=st.sampled_from([1 << 14, 1 << 16, 1 << 20]))
    def make(self, region: int) -> None:
        self.pool = Pool(self.policy, upstream="reserved", limit_bytes=LIMIT, region_bytes=region)
        self.held: list[tuple[int, int]] = []
        self.calls = [0, 0, 0]

    @rule(
        target=blocks,
        size=st.integers(1, 1 << 16) | st.integers(1, 2000),
        alignment=st.sampled_from([1, 256, 1024, 65536]),
        stream=st.sampled_from([0, 16, 32]),
    )
    def allocate(self, size: int, alignment: int, stream: int) -> int:
        try:
            address = self.pool.allocate(size, stream, alignment)
        except MemoryError:
            self.calls[2] += 1
            assert self.pool.stats().last_failed_bytes == size
            return 0
        self.calls[0] += 1
        usable = self.pool.usable_bytes(address)
        assert usable >= size
        assert address % max(alignment, GRANULE) == 0
        place = bisect.bisect(self.held, (address, 0))
        if place < len(self.held):
            assert address + usable <= self.held[place][0]
        if place:
            below, size_below = self.held[place - 1]
            assert below + size_below <= address
        self.held.insert(place, (address, usable))
        return address

    @rule(address=consumes(blocks), stream=st.sampled_from([0, 16, 32, native.NO_STREAM]))
    def deallocate(self, address: int, stream: int) -> None:
        if not address:
            return
        self.pool.deallocate(address, stream)
        self.calls[1] += 1
        self.held = [block for block in self.held if block[0] != address]
        with pytest.raises(ValueError, match=f"{address:#x}"):
            self.pool.deallocate(address, stream)

    @rule(address=blocks, inside=st.integers(1, 5000))
    def free_something_else(self, address: int, inside: int) -> None:
        foreign = address + inside
        if all(foreign != block for block, _ in self.held):
            with pytest.raises(ValueError, match="not a live block"):
                self.pool.deallocate(foreign)

    @rule(address=blocks, keep=st.integers(1, 70000))
    def truncate(self, address: int, keep: int) -> None:
        known = dict(self.held)
        if address not in known:
            return
        try:
            taken = self.pool.truncate(address, keep)
        except ValueError as refused:
            assert "cannot be cut" in str(refused)
            return
        kept = min(known[address], -(-keep // GRANULE) * GRANULE)
        assert taken == known[address] - kept
        self.held = sorted((known | {address: kept}).items())

    @rule(keep=st.integers(0, LIMIT))
    def trim(self, keep: int) -> None:
        before = self.pool.stats().reserved_bytes
        assert self.pool.trim(keep) == before - self.pool.stats().reserved_bytes
        assert self.pool.stats().reserved_bytes >= min(before, keep)

    @invariant()
    @precondition(lambda self: hasattr(self, "pool"))
    def agrees(self) -> None:
        self.pool.check()
        stats = self.pool.stats()
        assert [stats.allocations, stats.deallocations, stats.failures] == self.calls
        assert stats.blocks == len(self.held)
        assert stats.bytes_in_use >= sum(size for _, size in self.held)
        assert stats.reserved_bytes <= LIMIT
        assert stats.peak_bytes >= stats.bytes_in_use

    def teardown(self) -> None:
        if not hasattr(self, "pool"):
            return
        for address, _ in self.held:
            self.pool.deallocate(address, native.NO_STREAM)
        assert self.pool.stats().bytes_in_use == 0
        self.pool.trim()
        assert self.pool.stats().reserved_bytes == 0, "everything merged and went back"
        self.pool.close()


@pytest.mark.parametrize("policy", OURS)
def test_policy_agrees_with_its_model(policy: str) -> None:
    machine = type("Machine", (PoolMachine,), {"policy": policy})
    machine.TestCase.settings = settings(
        max_examples=15,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    machine.TestCase("runTest").runTest()


def test_names_are_listed_in_errors() -> None:
    with pytest.raises(ValueError, match=r"'tslf'.*tlsf"):
        Pool("tslf", upstream="reserved")
    with pytest.raises(ValueError, match=r"'gpu'.*virtual_memory"):
        Pool("tlsf", upstream="gpu")
    assert set(OURS) >= {"tlsf", "segregated_fit", "slabs_over_tlsf", "best_fit_bitmask"}
    assert "reserved" in upstreams()


def test_an_error_of_the_driver_is_not_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "last_error", lambda: "cannot allocate device memory: why")
    driver_failed = 3  # WARPHEAP_ERROR
    with pytest.raises(RuntimeError, match="cannot allocate device memory: why"):
        native.expect(driver_failed)


def test_statistics_are_those_of_the_c_interface() -> None:
    header = Path(__file__).parents[2] / "include/warpheap/host/c/pool_stats.h"
    assert (
        tuple(re.findall(r"^  uint64_t (\w+);", header.read_text(), re.MULTILINE)) == native.STATS
    )


def test_threads_take_the_parts_of_a_pool_in_turn() -> None:
    with Pool("tlsf", upstream="reserved", parts=2) as pool:
        for regions in (1, 2, 2):
            thread = threading.Thread(target=pool.allocate, args=(1000,))
            thread.start()
            thread.join()
            assert pool.stats().regions == regions
    with pytest.raises(ValueError, match="a pool of 2000 parts"):
        Pool("tlsf", upstream="reserved", parts=2000)


# Run by itself: a process cannot take back the limit on its addresses.
THOUSAND_POOLS = """
import resource
from warpheap.pool import Pool
resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, 8_000_000_000))
pools = [Pool(upstream="host") for _ in range(1000)]
blocks = [pool.allocate(1000) for pool in pools]
assert all(pool.usable_bytes(block) == 1024 for pool, block in zip(pools, blocks))
for pool, block in zip(pools, blocks):
    pool.deallocate(block)
    pool.close()
"""


def test_a_thousand_pools_work_with_8_gb_of_addresses() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(
        [sys.executable, "-c", THOUSAND_POOLS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_closed_pool_is_refused() -> None:
    with Pool("tlsf", upstream="reserved") as pool:
        address = pool.allocate(1000)
        assert pool.stats().bytes_in_use == 1024
        pool.deallocate(address)
        assert not pool.closed
    assert pool.closed
    for call in (pool.stats, lambda: pool.allocate(1000), lambda: pool.deallocate(address)):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_most_calls_need_no_function_that_gives_up_the_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Pool("tlsf", upstream="reserved") as pool:
        kept = [pool.allocate(1000) for _ in range(10)]
        pool.deallocate(kept.pop())
        with monkeypatch.context() as without:
            without.setattr(pool, "_library", None)
            blocks = [pool.allocate(500 * n) for n in range(1, 50)]
            for address in blocks:
                pool.deallocate(address)
        assert pool.stats().allocations == 10 + 49
        assert pool.stats().deallocations == 1 + 49
        assert pool.stats().blocks == 9
        pool.check()


def test_a_pool_without_parts_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^parts is 0: a pool has at least one part$"):
        Pool("tlsf", upstream="reserved", parts=0)


def test_a_name_with_a_null_character_is_refused() -> None:
    refusal = r"policy is 'tlsf\\x00junk': a name must not contain a null"
    with pytest.raises(ValueError, match=refusal):
        Pool("tlsf\0junk", upstream="reserved")
    with pytest.raises(ValueError, match=r"upstream is 'host\\x00'"):
        Pool("tlsf", upstream="host\0")


@pytest.mark.parametrize("bad", [-1, 1 << 64])
def test_sizes_out_of_range_are_refused_with_the_limit(bad: int) -> None:
    wanted = rf"is {bad}: a number from 0 to {(1 << 64) - 1} is needed"
    sizes = ("initial_bytes", "limit_bytes", "region_bytes", "granule_bytes")
    for option in (*sizes, "spare_percent", "parts"):
        with pytest.raises(ValueError, match=f"{option} {wanted}"):
            Pool("tlsf", upstream="reserved", **{option: bad})
    with Pool("tlsf", upstream="reserved") as pool:
        block = pool.allocate(1000)
        calls: dict[str, Callable[[], int]] = {
            "size": lambda: pool.allocate(bad),
            "alignment": lambda: pool.allocate(1, alignment=bad),
            "keep_bytes": lambda: pool.trim(bad),
        }
        for name, call in calls.items():
            with pytest.raises(ValueError, match=f"^{name} {wanted}"):
                call()
        with pytest.raises(ValueError, match=f"^size {wanted}"):
            pool.truncate(block, bad)
        assert pool.usable_bytes(block) == 1024
