// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the calls of a trace on pools and, where their headers are given, on their peers, in turn.
// compare.py makes the traces, starts this program and writes the rows.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "making.hpp"
#include "replays.hpp"
#include "subjects.hpp"
#include "threads.hpp"

namespace warpheap::bench::host_pools {
namespace {

using json = nlohmann::ordered_json;

/// To a hundredth: the rest is noise.
double hundredths(double value) { return std::round(100 * value) / 100; }

json median_and_least(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {{"median", hundredths(all[all.size() / 2])}, {"min", hundredths(all.front())}};
}

/// The time of a call in nanoseconds, of those after the warm-up; negative when out of memory.
template <class Subject>
double time_of_a_call(const trace& t, std::uint64_t range) {
  const auto subject = std::make_unique<Subject>(range, t.peak_blocks);
  std::vector<decltype(subject->allocate(0))> blocks(t.asks);
  if (!make_calls(*subject, t, 0, t.warm_up, blocks)) return -1;
  // Other programs on the machine do not count.
  const std::uint64_t start = host::processor_nanoseconds();
  const bool all = make_calls(*subject, t, t.warm_up, t.operations.size(), blocks);
  const double ns = nanoseconds_since(start);
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

void run_calls(const trace& t, const std::vector<std::string>& names, int repeats, bool smallest) {
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
    json row{{"manager", names[which]},
             {"events", t.operations.size() - t.warm_up},
             {"peak_bytes", t.peak}};
    if (repeats != 0) {
      row["call_cpu_ns"] = median_and_least(times[which]);
      row["repeats"] = repeats;
    }
    if (smallest) row["smallest_range_bytes"] = ranges[which];
    std::cout << row << std::endl;
  }
}

/// Makes each subject in turn. A line for each.
void run_making(const std::vector<std::string>& names, int repeats) {
  std::vector<std::vector<double>> times(names.size());
  std::vector<std::size_t> bytes(names.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t which = 0; which < names.size(); ++which) {
      for_each_subject([&](std::string_view name, auto* type) {
        using subject = std::remove_pointer_t<decltype(type)>;
        if (name != names[which]) return;
        times[which].push_back(time_of_making<subject>());
        if (repeat == 0) bytes[which] = bookkeeping_bytes_of_one<subject>();
      });
    }
  }
  for (std::size_t which = 0; which < names.size(); ++which) {
    std::cout << json{{"manager", names[which]},
                      {"make_ns", median_and_least(times[which])},
                      {"bookkeeping_bytes", bytes[which]}}
              << std::endl;
  }
}

/// Threads that share each subject in turn. A line for each.
void run_threads(const trace& t, const std::vector<std::string>& names, unsigned threads,
                 std::chrono::milliseconds span) {
  const std::uint64_t range =
      align_down<std::uint64_t>(threads * (2 * t.peak + (1 << 20)), granule);
  for (const std::string& wanted : names) {
    for_each_subject([&](std::string_view name, auto* type) {
      using subject = std::remove_pointer_t<decltype(type)>;
      if (name != wanted) return;
      const sharing s =
          share<subject>(t.operations, t.asks, range, threads * t.peak_blocks, threads, span);
      const json call{{"p50", s.p50_ns}, {"p99.9", s.p999_ns}, {"max", s.max_ns}};
      const json row{{"manager", name},
                     {"calls_per_second", std::round(s.calls_per_second)},
                     {"cpu_ns", hundredths(s.cpu_ns)},
                     {"fairness", std::round(1000 * s.fairness) / 1000},
                     {"single_call_ns", call}};
      std::cout << row << std::endl;
    });
  }
}

/// The library's replay and a bare loop, in turn, and each as often the first of a turn. A line for
/// each turn.
void run_replays(const trace& t, int repeats, std::string_view which) {
  const std::uint64_t range = align_down<std::uint64_t>(2 * t.peak + (1 << 20), granule);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double replay_ns = 0;
    double loop_ns = 0;
    for (int half = 0; half < 2; ++half) {
      const bool is_replay = (repeat + half) % 2 == 0;
      if (is_replay && which != "loop") replay_ns = time_of_replay(t, range);
      if (!is_replay && which != "replay") loop_ns = time_of_loop(t, range);
    }
    const json row{{"replay_cpu_ns", hundredths(replay_ns)}, {"loop_cpu_ns", hundredths(loop_ns)}};
    std::cout << row << std::endl;
  }
}

}  // namespace
}  // namespace warpheap::bench::host_pools

int main(int argc, char** argv) {
  using namespace warpheap::bench::host_pools;
  std::string path;
  std::vector<std::string> names;
  std::vector<std::string> known;
  for_each_subject([&](std::string_view name, auto*) { known.emplace_back(name); });
  std::size_t warm_up = 0;
  int repeats = 0;
  int milliseconds = 0;
  unsigned shared_by = 0;
  bool smallest = false;
  std::string which = "both";

  CLI::App app("Runs the calls of a trace on pools and their peers, in turn.");
  app.require_subcommand(1);
  CLI::App* const list = app.add_subcommand("list", "print the subjects");
  CLI::App* const calls = app.add_subcommand("calls", "the time of a call, without a lock");
  CLI::App* const making = app.add_subcommand("making", "the time of making a subject");
  CLI::App* const threads = app.add_subcommand("threads", "threads that share a subject");
  CLI::App* const replay = app.add_subcommand("replay", "the library's replay and a bare loop");
  for (CLI::App* const one : {calls, threads, replay}) {
    one->add_option("trace", path, "64-bit words, as compare.py writes them")
        ->required()
        ->check(CLI::ExistingFile);
  }
  for (CLI::App* const one : {calls, making, replay}) {
    one->add_option("--repeats", repeats, "turns")->check(CLI::NonNegativeNumber);
  }
  for (CLI::App* const one : {calls, making, threads}) {
    one->add_option("subjects", names)->required()->check(CLI::IsMember(known));
  }
  calls->add_option("--warm-up", warm_up, "operations that are not measured");
  calls->add_flag("--smallest", smallest, "also look for the smallest range that serves the trace");
  threads->add_option("--threads", shared_by)->required()->check(CLI::Range(1, 64));
  threads->add_option("--milliseconds", milliseconds, "of a turn")
      ->required()
      ->check(CLI::PositiveNumber);
  replay->add_option("--only", which)->check(CLI::IsMember({"replay", "loop"}));
  CLI11_PARSE(app, argc, argv);

  if (list->parsed()) {
    for (const std::string& name : known) std::cout << name << '\n';
    return 0;
  }
  if (making->parsed()) {
    run_making(names, repeats);
    return 0;
  }
  const trace t = read(path.c_str(), warm_up);
  if (calls->parsed()) run_calls(t, names, repeats, smallest);
  if (threads->parsed()) run_threads(t, names, shared_by, std::chrono::milliseconds(milliseconds));
  if (replay->parsed()) run_replays(t, repeats, which);
  return 0;
}
