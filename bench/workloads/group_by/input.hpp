// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The rows to group, which the survey's case and its peers have in common.

#include "bench/workloads/tables/fields.hpp"
#include "bench/workloads/tables/generated.hpp"

#include <string_view>
#include <vector>

namespace warpheap::bench {

namespace given {

inline constexpr parameter<std::string_view> input_table{
    {.name = "input_table",
     .unit = "file",
     .about = "the rows to group, as FILE.csv:KEY:VALUE; 'generated': keys drawn at random",
     .role = field_role::facet}};

}  // namespace given

inline std::vector<case_parameter> group_by_parameters() {
  return {{&given::input_table, "generated"},
          {&given::rows, "65536"},
          {&given::distinct_keys, "4096"},
          {&given::key_skew, "1e-9"}};
}

inline table input_side(const parameters& chosen) {
  return chosen_table(chosen[given::input_table], [&] {
    const key_distribution keys{chosen[given::distinct_keys], chosen[given::key_skew]};
    return spread_keys(foreign_keys(chosen[given::rows], keys, 100, chosen[given::seed]));
  });
}

}  // namespace warpheap::bench
