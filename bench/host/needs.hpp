// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/machine.hpp"
#include "bench/host/parameters.hpp"

namespace warpheap::bench {

/// What is known of a measurement before the device is opened.
struct wanted {
  const backend_info& backend;
  const manager_info& manager;
  const parameters& chosen;
};

/// What a case asks of a manager or a machine, and the reason for which rows without it are
/// skipped.
struct need {
  const char* name;
  const char* reason;
  bool (*met)(const wanted& w);
};

/// Needs of several cases.
namespace needs {

inline constexpr need bytes{
    "bytes", "hands out objects of types that are fixed when it is compiled, not bytes",
    [](const wanted& w) { return !w.manager.objects; }};
inline constexpr need frees{"frees", "cannot free single blocks",
                            [](const wanted& w) { return w.manager.frees; }};
inline constexpr need runs_out{"runs_out", "never runs out: hands out again what is in use",
                               [](const wanted& w) { return w.manager.runs_out; }};
inline constexpr need frees_to_occupy{
    "frees_to_occupy", "cannot free single blocks: an occupied heap is filled, then partly freed",
    [](const wanted& w) { return w.manager.frees || w.chosen[given::free_percent] >= 100; }};
inline constexpr need clock{
    "clock", "lanes of this machine cannot read a clock: there is no time in the CPU model",
    [](const wanted& w) { return w.backend.has_clock; }};

}  // namespace needs

}  // namespace warpheap::bench
