// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the calls of a trace on pools and, where their headers are given, on their peers, in turn.
// compare.py makes the traces, starts this program and writes the rows.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "replays.hpp"
#include "subjects.hpp"
#include "threads.hpp"

namespace warpheap::bench::host_pools {
namespace {

/// The time of a call in nanoseconds, of those after the warm-up; negative when out of memory.
template <class Subject>
double time_of_a_call(const trace& t, std::uint64_t range) {
  const auto subject = std::make_unique<Subject>(range, t.peak_blocks);
  std::vector<decltype(subject->allocate(0))> blocks(t.asks);
  if (!make_calls(*subject, t, 0, t.warm_up, blocks)) return -1;
  // Other programs on the machine do not count.
  const double start = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  const bool all = make_calls(*subject, t, t.warm_up, t.operations.size(), blocks);
  const double ns = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
  return all ? ns / static_cast<double>(t.operations.size() - t.warm_up) : -1;
}

template <class Subject>
bool completes(const trace& t, std::uint64_t range) {
  const auto subject = std::make_unique<Subject>(range, t.peak_blocks);
  std::vector<decltype(subject->allocate(0))> blocks(t.asks);
  return make_calls(*subject, t, 0, t.operations.size(), blocks);
}

/// The smallest range in which the trace finds memory, to a thousandth of the peak.
template <class Subject>
std::uint64_t smallest_range(const trace& t) {
  const std::uint64_t step = std::max<std::uint64_t>(t.peak / 1000 / granule, 1) * granule;
  if (completes<Subject>(t, t.peak)) return t.peak;
  std::uint64_t low = t.peak;
  std::uint64_t high = t.peak;
  do {
    high += align_down<std::uint64_t>(high / 8, granule) + granule;
    if (high > 8 * t.peak) return 0;
  } while (!completes<Subject>(t, high));
  while (high - low > step) {
    const std::uint64_t middle = align_down<std::uint64_t>((low + high) / 2, granule);
    (completes<Subject>(t, middle) ? high : low) = middle;
  }
  return high;
}

int run(const trace& t, const std::vector<std::string_view>& names, int repeats, bool smallest) {
  // A range in which every subject finds memory without a search for the last hole.
  const std::uint64_t range = align_down<std::uint64_t>(2 * t.peak + (1 << 20), granule);
  std::vector<std::vector<double>> times(names.size());
  std::vector<std::uint64_t> ranges(names.size());
  // In turn: a slow minute of the machine hits all of them.
  for (int repeat = 0; repeat < std::max(repeats, 1); ++repeat) {
    for (std::size_t which = 0; which < names.size(); ++which) {
      for_each_subject([&](std::string_view name, auto* type) {
        using subject = std::remove_pointer_t<decltype(type)>;
        if (name != names[which]) return;
        if (repeats != 0) times[which].push_back(time_of_a_call<subject>(t, range));
        if (smallest && repeat == 0) ranges[which] = smallest_range<subject>(t);
      });
    }
  }
  for (std::size_t which = 0; which < names.size(); ++which) {
    std::vector<double>& all = times[which];
    std::sort(all.begin(), all.end());
    std::printf("{\"manager\":\"%s\",\"events\":%zu,\"peak_bytes\":%llu",
                std::string(names[which]).c_str(), t.operations.size() - t.warm_up,
                static_cast<unsigned long long>(t.peak));
    if (!all.empty()) {
      std::printf(",\"call_ns\":{\"median\":%.2f,\"min\":%.2f},\"repeats\":%d", all[all.size() / 2],
                  all.front(), repeats);
    }
    if (smallest) {
      std::printf(",\"smallest_range_bytes\":%llu", static_cast<unsigned long long>(ranges[which]));
    }
    std::printf("}\n");
  }
  return 0;
}

/// Threads that share a subject, in turn for each subject and number of threads. A line for each
/// turn.
int run_threads(const trace& t, const std::vector<std::string_view>& names, int repeats,
                std::chrono::milliseconds span) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const unsigned threads : {1u, 2u, 4u}) {
      const std::uint64_t range =
          align_down<std::uint64_t>(threads * (2 * t.peak + (1 << 20)), granule);
      for (const std::string_view wanted : names) {
        for_each_subject([&](std::string_view name, auto* type) {
          using subject = std::remove_pointer_t<decltype(type)>;
          if (name != wanted) return;
          const sharing s =
              share<subject>(t.operations, t.asks, range, threads * t.peak_blocks, threads, span);
          std::printf(
              "{\"manager\":\"%s\",\"threads\":%u,\"calls_per_second\":%.0f,\"cpu_ns\":%.2f,"
              "\"fairness\":%.3f,"
              "\"call_ns\":{\"p50\":%.0f,\"p99.9\":%.0f,\"max\":%.0f}}\n",
              std::string(name).c_str(), threads, s.calls_per_second, s.cpu_ns, s.fairness,
              s.p50_ns, s.p999_ns, s.max_ns);
          std::fflush(stdout);
        });
      }
    }
  }
  return 0;
}

/// The library's replay and a bare loop, in turn, and each as often the first of a turn. A line for
/// each turn.
int run_replays(const trace& t, int repeats, std::string_view which) {
  const std::uint64_t range = align_down<std::uint64_t>(2 * t.peak + (1 << 20), granule);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double replay_ns = 0;
    double loop_ns = 0;
    for (int half = 0; half < 2; ++half) {
      const bool is_replay = (repeat + half) % 2 == 0;
      if (is_replay && which != "loop") replay_ns = time_of_replay(t, range);
      if (!is_replay && which != "replay") loop_ns = time_of_loop(t, range);
    }
    std::printf("{\"replay_ns\":%.2f,\"loop_ns\":%.2f}\n", replay_ns, loop_ns);
  }
  return 0;
}

}  // namespace
}  // namespace warpheap::bench::host_pools

int main(int argc, char** argv) {
  using namespace warpheap::bench::host_pools;
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
    for_each_subject(
        [](std::string_view name, auto*) { std::printf("%s\n", std::string(name).c_str()); });
    return 0;
  }
  if (argc == 5 && std::strcmp(argv[1], "replay") == 0) {
    return run_replays(read(argv[2], 0), std::atoi(argv[3]), argv[4]);
  }
  if (argc < 6) {
    std::fprintf(stderr,
                 "usage: warpheap-bench-host-pools list\n"
                 "       warpheap-bench-host-pools TRACE WARM_UP REPEATS SMALLEST SUBJECT...\n"
                 "       warpheap-bench-host-pools threads TRACE REPEATS MILLISECONDS SUBJECT...\n"
                 "       warpheap-bench-host-pools replay TRACE REPEATS replay|loop|both\n");
    return 2;
  }
  if (std::strcmp(argv[1], "threads") == 0) {
    return run_threads(read(argv[2], 0), {argv + 5, argv + argc}, std::atoi(argv[3]),
                       std::chrono::milliseconds(std::atoi(argv[4])));
  }
  const trace t = read(argv[1], std::strtoull(argv[2], nullptr, 10));
  return run(t, {argv + 5, argv + argc}, std::atoi(argv[3]), std::strcmp(argv[4], "1") == 0);
}
