// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast the CPU model is: lanes a second of the executor, schedules a second of the explorer.
// These numbers bound how much a test can do in its time. They say nothing about a GPU.
#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

namespace {

using namespace warpheap;

alignas(64) std::uint64_t counter = 0;

struct empty_lane {
  void operator()() const {}
};

struct add_alone {
  void operator()() const {
    simt::atomic_ref(counter).fetch_add(std::uint64_t{1}, simt::order::relaxed);
  }
};

/// What an allocation of a whole group costs: one atomic, and every lane gets its share.
struct add_together {
  void operator()() const {
    const simt::group callers = simt::coalesced(&counter);
    std::uint64_t first = 0;
    if (callers.is_leader()) {
      first = simt::atomic_ref(counter).fetch_add(static_cast<std::uint64_t>(callers.size()),
                                                  simt::order::relaxed);
    }
    // Used, so that nothing is optimised away.
    if (callers.broadcast(first) == UINT64_MAX) simt::backoff(1);
  }
};

template <class Lane>
void print_lanes(const device& on, const char* what, const Lane& lane) {
  constexpr std::uint64_t lanes = 1'000'000;
  constexpr int runs = 7;
  double best_ms = 1e300;
  for (int i = 0; i < runs; ++i) {
    best_ms = std::min(best_ms, on.start(simt::grid::covering(lanes), lane).ms());
  }
  std::printf("%-40s %8.1f million lanes/s\n", what, static_cast<double>(lanes) / best_ms / 1e3);
}

/// Ten atomics of a lane, as managers mix them: it looks, claims, publishes and counts.
struct ten_atomics {
  alignas(64) static inline std::uint32_t words[32] = {};

  void operator()() const {
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    const simt::atomic_ref<std::uint32_t> head(words[0]), count(words[1]);
    for (std::uint32_t round = 0; round < 2; ++round) {
      const std::uint32_t seen = head.load(simt::order::acquire);
      const simt::atomic_ref<std::uint32_t> flags(words[2 + (seen + rank) % 30]);
      const std::uint32_t before = flags.load(simt::order::relaxed);
      flags.fetch_or(before + 1, simt::order::acq_rel);
      head.store(seen + rank, simt::order::release);
      count.fetch_add(1, simt::order::relaxed);
    }
  }
};

void print_schedules(const char* name, simt::strategy how, simt::memory_model memory) {
  constexpr std::uint64_t schedules = 50'000;
  constexpr int runs = 5;
  simt::explorer explorer({2, 4});
  double best_s = 1e300;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      explorer.run({how, seed, memory}, ten_atomics{});
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best_s = std::min(best_s, took.count());
  }
  const bool weak = memory == simt::memory_model::weak;
  std::printf("2 warps of 4 lanes, 10 atomics, %-8s %-10s %8.0f thousand schedules/s\n", name,
              weak ? "weak" : "sequential", static_cast<double>(schedules) / best_s / 1e3);
}

}  // namespace

int main() {
  try {
    const device on = device::cpu();
    std::printf("%s\n", on.properties().name.c_str());
    print_lanes(on, "empty lane", empty_lane{});
    print_lanes(on, "one atomic per lane", add_alone{});
    print_lanes(on, "one atomic per group, broadcast", add_together{});
    for (const auto memory : {simt::memory_model::sequential, simt::memory_model::weak}) {
      print_schedules("sticky", simt::strategy::sticky, memory);
      print_schedules("uniform", simt::strategy::uniform, memory);
      print_schedules("pct", simt::strategy::pct, memory);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "executor-speed: %s\n", failure.what());
    return 1;
  }
  return 0;
}
