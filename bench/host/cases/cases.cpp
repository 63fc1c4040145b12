// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"

#include "warpheap/core/error.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace warpheap::bench {

namespace {

using standards = std::vector<std::pair<std::string, std::string>>;

/// Sizes, heap, runs and seed: what every case that allocates drawn sizes has.
standards with_sizes(standards own, const std::string& size) {
  own.insert(own.end(), {{"size_min", size},
                         {"size_max", size},
                         {"distribution", "uniform"},
                         {"heap_bytes", ""},
                         {"seed", "1"}});
  return own;
}

std::string scope_reason(const case_entry& entry, const case_run& c) {
  switch (c.manager.scope) {
    case manager_scope::object:
      return "hands out objects of types that are fixed when it is compiled; " + entry.name +
             " asks for bytes";
    case manager_scope::warp:
      return c.chosen.one_a_warp ? std::string()
                                 : "serves the threads of a warp together; " + entry.name +
                                       " lets each allocate and free by itself";
    case manager_scope::thread:
    case manager_scope::page:
      break;
  }
  return {};
}

/// Before a manager computes its layout: no product of a heap that the device can hold overflows.
void check_memory(const case_run& c) {
  const machine_info& there = c.on.info();
  if (there.memory_bytes == 0 || c.chosen.heap_bytes <= there.memory_bytes) return;
  throw out_of_memory("cannot allocate " + std::to_string(c.chosen.heap_bytes) +
                      " bytes: " + there.device + " has " + std::to_string(there.memory_bytes) +
                      " bytes of memory");
}

/// Why this manager or this machine cannot run a case; empty if nothing speaks against it.
std::string why_not(const case_entry& entry, const case_run& c) {
  if (entry.needs_clock && !c.on.info().has_clock) {
    return "lanes of this machine cannot look at a clock: there is no time in the " +
           c.on.info().backend + " model";
  }
  if (entry.needs_pages && c.manager.word_bits == 0) {
    return "does not hand out numbered pages by a random walk";
  }
  if (entry.needs_frees && !c.manager.frees) return "cannot free single blocks";
  return entry.allocates ? scope_reason(entry, c) : std::string();
}

}  // namespace

bool case_entry::has_parameter(const std::string& parameter) const {
  return std::any_of(standards.begin(), standards.end(),
                     [&](const auto& own) { return own.first == parameter; });
}

std::vector<std::string> case_entry::modes() const {
  if (!allocates) return {};
  if (has_parameter("mode")) return {"thread", "warp"};
  return {"thread"};
}

const std::vector<case_entry>& all_cases() {
  static const std::vector<case_entry> cases{
      {.name = "init",
       .about = "making a heap, and resetting it",
       .standards = {{"heap_bytes", ""}, {"iterations", "5"}},
       .run = measure_init,
       .allocates = false},
      {.name = "alloc",
       .about = "every thread (or one lane of every warp) allocates once, then frees",
       .standards = with_sizes(
           {{"mode", "thread"}, {"threads", "1024"}, {"iterations", "10"}, {"free_percent", "100"}},
           "16"),
       .run = measure_alloc},
      {.name = "scaling",
       .about = "as alloc, to be run over numbers of threads",
       .standards = with_sizes({{"threads", "1024"}, {"iterations", "10"}}, "16"),
       .run = measure_alloc},
      {.name = "random_walk_steps",
       .about = "steps of random walks for a page, against the equations of their paper",
       .standards = {{"threads", "1024"},
                     {"pages", "1048576"},
                     {"free_percent", "50"},
                     {"iterations", "100"},
                     {"seed", "1"}},
       .run = measure_walk_steps,
       .needs_frees = true,
       .needs_pages = true},
      {.name = "graph_init",
       .about = "every vertex allocates its adjacency and writes it",
       .standards = {{"graph", ""}, {"heap_bytes", ""}, {"iterations", "10"}, {"seed", "1"}},
       .run = measure_graph_init},
      {.name = "latency",
       .about = "clock ticks of single calls, on a fresh and on a warm heap",
       .standards = with_sizes({{"threads", "1024"}, {"iterations", "10"}}, "16"),
       .run = measure_latency,
       .needs_clock = true},
      {.name = "fragmentation",
       .about = "range of the addresses handed out over the bytes asked for, at first and after "
                "rounds of allocating and freeing everything",
       .standards = with_sizes({{"threads", "100000"}, {"rounds", "100"}}, "16"),
       .run = measure_fragmentation,
       .needs_frees = true},
      {.name = "utilization",
       .about = "share of the heap that is handed out at the first null",
       .standards = with_sizes({{"threads", "100000"}}, "16"),
       .run = measure_utilization},
      {.name = "growth",
       .about = "every round allocates and frees half of that, until memory is out",
       .standards = with_sizes({{"threads", "100000"}, {"rounds", "100000"}}, "16"),
       .run = measure_growth,
       .needs_frees = true},
      {.name = "churn",
       .about = "every thread allocates and frees at random, rounds times in one launch",
       .standards =
           with_sizes({{"threads", "262144"}, {"rounds", "64"}, {"iterations", "10"}}, "16"),
       .run = measure_churn,
       .needs_frees = true},
      {.name = "holes",
       .about = "a full heap, every second block freed, the same sizes again; then all freed and "
                "one large block",
       .standards = with_sizes({{"threads", "100000"}}, "16"),
       .run = measure_holes,
       .needs_frees = true},
      {.name = "exhaustion",
       .about = "requests to a full heap until all have their null, then recovery",
       .standards = with_sizes({{"threads", "100000"}, {"iterations", "10"}}, "16"),
       .run = measure_exhaustion},
  };
  return cases;
}

const case_entry* find_case(const std::string& name) {
  for (const case_entry& entry : all_cases()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

parameters parameters_of(const case_entry& entry, const std::map<std::string, std::string>& given,
                         std::uint64_t default_heap_bytes) {
  for (const auto& [name, text] : given) {
    if (entry.has_parameter(name)) continue;
    std::string known;
    for (const auto& own : entry.standards) known += (known.empty() ? "" : ", ") + own.first;
    throw usage_error("the case '" + entry.name + "' has no parameter '" + name +
                      "'; it has: " + known);
  }
  std::map<std::string, std::string> standard(entry.standards.begin(), entry.standards.end());
  if (standard.contains("heap_bytes")) {
    standard["heap_bytes"] = std::to_string(default_heap_bytes);
  }
  const parameters chosen = parse_parameters(given, standard);
  if (entry.has_parameter("graph") && chosen.graph.empty()) {
    throw usage_error("the case '" + entry.name + "' needs --graph FILE.csr");
  }
  return chosen;
}

measurement run_case(const case_entry& entry, const case_run& c) {
  const auto without_result = [](const char* status, std::string reason) {
    measurement row;
    row.status = status;
    row.reason = std::move(reason);
    return row;
  };
  const std::string obstacle = why_not(entry, c);
  if (!obstacle.empty()) return without_result("skipped", obstacle);
  try {
    check_memory(c);
    measurement row = entry.run(c);
    if (row.corrupted.value_or(0) != 0) {
      row.status = "failed";
      row.reason = std::to_string(*row.corrupted) +
                   " times a block was overwritten, overlapped or not aligned";
    }
    return row;
  } catch (const usage_error&) {
    throw;
  } catch (const not_claimed& reason) {
    return without_result("skipped", reason.what());
  } catch (const invalid_argument& reason) {
    return without_result("skipped", reason.what());
  } catch (const out_of_memory& reason) {
    return without_result("skipped", reason.what());
  } catch (const std::exception& reason) {
    return without_result("failed", reason.what());
  }
}

}  // namespace warpheap::bench
