// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/cases/support.hpp"

#include <map>
#include <string>
#include <vector>

namespace warpheap::bench {

/// A case of the survey. Adding one means a file that defines its function and an entry in the
/// table of cases.cpp.
struct case_entry {
  std::string name, about;
  /// The case's parameters and their standard values; an empty one must be given or is unlimited.
  std::vector<std::pair<std::string, std::string>> standards;
  measurement (*run)(const case_run& c);
  /// Asks for blocks, so that the manager's scope matters.
  bool allocates = true;
  bool needs_frees = false;
  /// The manager must hand out numbered pages.
  bool needs_pages = false;
  /// Lanes must be able to read a clock.
  bool needs_clock = false;

  bool has_parameter(const std::string& parameter) const;
  std::vector<std::string> modes() const;
};

const std::vector<case_entry>& all_cases();

/// Null if there is no such case.
const case_entry* find_case(const std::string& name);

/// The parameters of a case from the values that are given.
/// \throws usage_error for a parameter that the case does not have, or a bad value
parameters parameters_of(const case_entry& entry, const std::map<std::string, std::string>& given,
                         std::uint64_t default_heap_bytes);

/// Runs a case. What the manager does not claim becomes `skipped`, what the device or the manager
/// does wrong becomes `failed`, both with the reason.
/// \throws usage_error for files that cannot be used
measurement run_case(const case_entry& entry, const case_run& c);

// One a file.
measurement measure_init(const case_run& c);
measurement measure_alloc(const case_run& c);
measurement measure_walk_steps(const case_run& c);
measurement measure_graph_init(const case_run& c);
measurement measure_latency(const case_run& c);
measurement measure_fragmentation(const case_run& c);
measurement measure_utilization(const case_run& c);
measurement measure_growth(const case_run& c);
measurement measure_churn(const case_run& c);
measurement measure_holes(const case_run& c);
measurement measure_exhaustion(const case_run& c);

}  // namespace warpheap::bench
