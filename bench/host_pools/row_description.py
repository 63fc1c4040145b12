# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the rows of compare.py say. Replays, which have some of the fields, describe those."""

from warpheap.row_fields import CaseFields, Description, Field


def _result(name: str, unit: str, kind: str, about: str, better: str = "less") -> Field:
    return Field(name, unit, kind, "result", about, better=better)


_MACHINE = (
    Field("machine", role="identity", about="its processor, and how many the program sees"),
    Field("load", kind="number", about="of the machine when the run began, as uptime says it"),
)
_CALLS = (
    _result("call_cpu_ns", "ns", "summary", "mean processor time of a call"),
    _result("instructions", "instructions", "number", "of a call, by callgrind"),
    Field("smallest_range_bytes", "bytes", "integer", about="in which the trace finds memory"),
    _result("smallest_over_peak", "ratio", "number", "that over the peak"),
)
_MAKING = (
    _result("make_ns", "ns", "summary", "processor time of making it for 1 GiB"),
    _result("bookkeeping_bytes", "bytes", "integer", "of the process's heap, with one block"),
)
_REPLAY = (
    _result("replay_cpu_ns", "ns", "summary", "mean processor time of a call"),
    _result("loop_cpu_ns", "ns", "summary", "the same in a bare loop"),
    _result("over_loop", "ratio", "number", "median of the turns' ratios"),
    _result("replay_instructions", "instructions", "number", "of a call, by callgrind"),
    _result("loop_instructions", "instructions", "number", "the same in a bare loop"),
)
_SLOTS = Field("slots", "slots", "integer", "axis", "for blocks of all threads", "{} slots")
_THREADS = (
    _result("most_calls_per_second", "calls/s", "number", "of all threads, at most", "more"),
    _result("cpu_ns", "ns", "number", "mean processor time of a call, with the clocks"),
    _result("fairness", "", "number", "calls of the slowest thread over the fastest's", "more"),
    _result("single_call_ns", "ns", "summary", "of every 16th call, with the clock"),
)
_EVERY = (*_MACHINE, *_CALLS, *_MAKING, *_REPLAY, _SLOTS, *_THREADS)


def _case(name: str, about: str, parameters: tuple[str, ...], *fields: Field | str) -> CaseFields:
    names = [known if isinstance(known, str) else known.name for known in fields]
    return CaseFields(
        name, about, parameters=dict.fromkeys(parameters), fields=("repeats", *names, "load")
    )


_CASES = (
    _case(
        "host_pools",
        "the calls of a trace on a pool on the host or on one of its peers",
        ("trace", "events"),
        "peak_bytes",
        *_CALLS,
    ),
    _case("host_pools_making", "making such a pool", (), *_MAKING),
    _case(
        "host_pools_replay",
        "the calls of 'warpheap replay', compared with a bare loop over the same pool",
        ("trace", "events"),
        *_REPLAY,
    ),
    _case(
        "host_pools_threads",
        "threads that share such a pool, and each make the calls of the same trace",
        ("trace", "slots", "threads"),
        "calls_per_second",
        *_THREADS,
    ),
)
DESCRIBED = Description(
    {known.name: known for known in _EVERY}, {case.name: case for case in _CASES}
)
