# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replays a trace on a resource and makes a row of results; docs/host.md lists the fields."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpheap import native
from warpheap.row_fields import CaseFields, Description, Field
from warpheap.traces.resources import Outcome, Resource, Size, Unavailable, in_parts, view
from warpheap.traces.trace import Trace

SCHEMA = 1
CASE = "replay"
# What tells replays apart.
_PARAMETERS = (
    Field("trace", role="facet", about="the log, or the benchmark with its slots"),
    Field("events", "calls", "integer", about="of the trace; 'host_pools' leaves a warm-up out"),
    Field("upstream", role="facet", about="where the pool gets its memory", phrase="over {}"),
    Field(
        "initial_bytes",
        "bytes",
        "integer",
        "facet",
        "taken at the start, for one thread",
        "{} at the start",
    ),
    Field("limit_bytes", "bytes", "integer", "facet", "taken at most; 0: no limit", "limit of {}"),
)
_MEASURED = (
    Field("warm_up", "calls", "integer", about="first calls, which the latencies leave out"),
    Field("repeats", "runs", "integer", about="of the same; of replays, the fastest one counts"),
    Field("malloc_ns", "ns", "summary", "result", "of single calls", better="less"),
    Field("free_ns", "ns", "summary", "result", "of single calls", better="less"),
    Field("call_ns", "ns", "number", "result", "mean after the warm-up", better="less"),
    Field("calls_ns", "ns", "number", "result", "sum of all calls, including the warm-up"),
    Field("clock_ns", "ns", "number", about="what the clock adds to the time of each call"),
    Field("replay_ns", "ns", "number", "result", "the whole trace, with no clock around calls"),
    Field("replay_call_ns", "ns", "number", "result", "the same, per call", better="less"),
    Field("peak_bytes", "bytes", "integer", about="in use at once, at most"),
    Field("span_bytes", "bytes", "integer", about="from the lowest address to the highest"),
    Field("span_over_peak", "ratio", "number", "result", "that over the peak", better="less"),
    Field("reserved_bytes", "bytes", "integer", about="held at once, at most"),
    Field("reserved_over_peak", "ratio", "number", "result", "that over the peak", better="less"),
    Field("moved_bytes", "bytes", "integer", about="of pages that moved"),
    Field("smallest_pool_bytes", "bytes", "integer", about="of a pool that suffices"),
    Field("calls_per_second", "calls/s", "number", "result", "of all threads", better="more"),
    Field("threads_null_returns", "requests", "integer", about="of the replays in threads"),
)
DESCRIBED = Description(
    {known.name: known for known in (*_PARAMETERS, *_MEASURED)},
    {
        CASE: CaseFields(
            CASE,
            "an allocation trace on a pool or on one of its peers",
            parameters=dict.fromkeys([*(known.name for known in _PARAMETERS), "seed", "threads"]),
            fields=tuple(known.name for known in _MEASURED),
        )
    },
)
GRANULE = 256
_START_STEP = 2 << 20
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9}
TIMELINE_POINTS = 400


@dataclass(frozen=True)
class Request:
    """What is to be measured beside the latencies."""

    size: Size
    repeats: int = 3
    smallest: bool = False
    threads: int = 0


Row = dict[str, Any]
Timeline = NDArray[np.uint64]


def start_bytes(trace: Trace, resource: str, limit: int = 0) -> int:
    """Return what a resource starts with if nothing else is asked for: twice the peak in each part,
    as one thread uses one part, and no more than the limit.
    """
    _, parts = in_parts(resource)
    start = parts * (2 * trace.peak_bytes() // _START_STEP + 1) * _START_STEP
    return min(start, limit) if limit else start


def measure(trace: Trace, resource: Resource, request: Request) -> Row:
    """Replay; for an unavailable resource, return a ``skipped`` row with the reason."""
    row: Row = {
        "schema": SCHEMA,
        "case": CASE,
        "manager": resource.name,
        "backend": "cuda" if resource.is_on_device else "cpu",
        "upstream": resource.upstream if resource.is_ours else None,
        "trace": trace.name,
        "events": trace.events,
        "warm_up": trace.warm_up,
        "initial_bytes": request.size.initial,
        "limit_bytes": request.size.limit,
        "status": "ok",
        "reason": None,
    }
    try:
        row |= _latencies(trace, resource, request)
        if request.smallest:
            row["smallest_pool_bytes"] = smallest_pool(trace, resource)
        if request.threads:
            row |= _throughput(trace, resource, request)
    except Unavailable as error:
        return row | {"status": "skipped", "reason": str(error)}
    except (MemoryError, RuntimeError) as error:
        return row | {"status": "failed", "reason": str(error)}
    if row["null_returns"]:
        row |= {"status": "failed", "reason": f"{row['null_returns']} requests got no memory"}
    return row


def _latencies(trace: Trace, resource: Resource, request: Request) -> Row:
    best: Outcome | None = None
    totals = []
    walls = []
    for _ in range(request.repeats):
        with resource.made(request.size) as instance:
            outcome = instance.replay(trace, timed=True)
            stats = _stats(instance) if resource.is_ours else None
        assert outcome.latencies is not None
        totals.append(int(outcome.latencies.sum(dtype=np.uint64)))
        if totals[-1] == min(totals):
            best = outcome
        with resource.made(request.size) as instance:
            walls.append(instance.replay(trace, timed=False).wall_ns)
    assert best is not None
    assert best.latencies is not None
    counted = np.arange(trace.events) >= trace.warm_up
    asks = trace.asks
    peak = trace.peak_bytes()
    calls_ns = min(totals)
    one_range = resource.name != "cuda_malloc" and (stats is None or stats.regions <= 1)
    counted_calls = best.latencies[counted]
    return {
        "null_returns": best.failures,
        "malloc_ns": _summary(best.latencies[asks & counted]),
        "free_ns": _summary(best.latencies[~asks & counted]),
        "calls_ns": calls_ns,
        "call_ns": round(float(counted_calls.mean()), 2),
        "clock_ns": round(best.clock_overhead_ns, 2),
        "replay_ns": min(walls),
        "replay_call_ns": round(min(walls) / max(trace.events, 1), 2),
        "repeats": request.repeats,
        "peak_bytes": peak,
        # Addresses of several regions are not one range.
        "span_bytes": best.span_bytes if one_range else None,
        "span_over_peak": round(best.span_bytes / peak, 4) if peak and one_range else None,
        "reserved_bytes": stats.peak_reserved_bytes if stats else None,
        "moved_bytes": stats.moved_bytes if stats else None,
        "reserved_over_peak": round(stats.peak_reserved_bytes / peak, 4)
        if stats and peak
        else None,
    }


def _summary(latencies: NDArray[np.uint32]) -> dict[str, float] | None:
    if not len(latencies):
        return None
    values = np.percentile(latencies, list(PERCENTILES.values()))
    summary = {name: round(float(v), 1) for name, v in zip(PERCENTILES, values, strict=True)}
    return summary | {"mean": round(float(latencies.mean()), 1), "max": float(latencies.max())}


def smallest_pool(trace: Trace, resource: Resource) -> int:
    """Find the smallest pool, in bytes, in which the whole trace finds memory.

    A search between the peak and eight times that, to a thousandth of the peak. (A pool that is
    larger may fail where a smaller one does not, by the luck of the holes; the search does not know
    about that.)
    """
    low = trace.peak_bytes(GRANULE)
    step = max(low // 1000 // GRANULE, 1) * GRANULE

    def completes(size: int) -> bool:
        try:
            with resource.made(Size(size, size)) as instance:
                return instance.replay(trace, timed=False, stop_at_failure=True).failures == 0
        except MemoryError:
            return False

    if completes(low):
        return low
    high = low
    while not completes(high := high + max(high // 8 // GRANULE, 1) * GRANULE):
        if high > 8 * low:
            raise MemoryError(f"not even {high} bytes are enough")
    while high - low > step:
        middle = (low + high) // 2 // GRANULE * GRANULE
        low, high = (low, middle) if completes(middle) else (middle, high)
    return high


def _throughput(trace: Trace, resource: Resource, request: Request) -> Row:
    traces = in_streams(trace, request.threads, stream_maker(resource))
    # What one thread of a pool in parts starts with is enough for as many as there are parts.
    _, parts = in_parts(resource.name)
    starts = -(-request.threads // parts)
    scaled = Size(request.size.initial * starts, request.size.limit * request.threads)
    best = 0.0
    failures = 0
    for _ in range(request.repeats):
        with resource.made(scaled) as instance:
            wall, failures = instance.replay_threads(traces)
        best = max(best, request.threads * trace.events / wall * 1e9)
    return {
        "threads": request.threads,
        "calls_per_second": round(best),
        "threads_null_returns": failures,
    }


def in_streams(trace: Trace, count: int, make_stream: Callable[[int], int]) -> list[Trace]:
    """Return copies of a trace, each entirely in its own stream."""
    return [
        Trace(
            trace.name,
            trace.operations,
            np.full(trace.events, make_stream(number), dtype=np.uint64),
            trace.warm_up,
        )
        for number in range(count)
    ]


def stream_maker(resource: Resource) -> Callable[[int], int]:
    """Return a function that makes streams: real ones for device memory, numbers for the rest."""
    if not resource.is_on_device:
        return lambda number: 4096 * (number + 1)
    driver = ctypes.CDLL("libcuda.so.1")

    def create(_number: int) -> int:
        device, context = ctypes.c_int(), ctypes.c_void_p()
        stream = ctypes.c_void_p()
        driver.cuDeviceGet(ctypes.byref(device), resource.device)
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        driver.cuCtxSetCurrent(context)
        if driver.cuStreamCreate(ctypes.byref(stream), 1) or not stream.value:
            raise Unavailable("the driver cannot create a stream")
        return stream.value

    return create


def timeline(trace: Trace, resource: Resource, size: Size) -> dict[str, Timeline]:
    """Replay untimed and return what one of our pools holds over time, as one array per field."""
    count = min(TIMELINE_POINTS, trace.events)
    points = (native.TimelinePoint * count)()
    with resource.made(size) as instance:
        instance.expect(
            instance.function("replay_timeline")(
                instance.handle, ctypes.byref(view(trace)), count, points
            )
        )
    return {
        name: np.array([getattr(point, name) for point in points], dtype=np.uint64)
        for name in native.TIMELINE
    }


def _stats(instance: Any) -> Any:
    raw = native.PoolStats()
    instance.function("pool_get_stats")(instance.handle, ctypes.byref(raw))
    return raw
