// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The two sides of a join, which the survey's case and its peers have in common.

#include "bench/workloads/tables/fields.hpp"
#include "bench/workloads/tables/generated.hpp"

#include <string_view>
#include <vector>

namespace warpheap::bench {

namespace given {

inline constexpr parameter<std::string_view> build_table{
    {.name = "build_table",
     .unit = "file",
     .about = "the side that is hashed, as FILE.csv:KEY:VALUE; 'generated': each key once",
     .role = field_role::facet}};
inline constexpr parameter<std::string_view> probe_table{
    {.name = "probe_table",
     .unit = "file",
     .about = "the other side, as FILE.csv:KEY:VALUE; 'generated': keys drawn at random",
     .role = field_role::facet}};
inline constexpr parameter<double> match_percent{
    {.name = "match_percent",
     .unit = "%",
     .about = "of the generated probe rows, have a key of the build side",
     .role = field_role::facet,
     .phrase = "{} match"},
    {.least = 0, .most = 100},
    100.0};

}  // namespace given

inline std::vector<case_parameter> join_parameters() {
  return {{&given::build_table, "generated"},
          {&given::probe_table, "generated"},
          {&given::rows, "65536"},
          {&given::distinct_keys, "65536"},
          {&given::key_skew, "1e-9"},
          {&given::match_percent, "100"}};
}

inline table build_side(const parameters& chosen) {
  return chosen_table(chosen[given::build_table], [&] {
    return primary_keys(chosen[given::distinct_keys], chosen[given::seed]);
  });
}

inline table probe_side(const parameters& chosen) {
  return chosen_table(chosen[given::probe_table], [&] {
    const key_distribution keys{chosen[given::distinct_keys], chosen[given::key_skew]};
    return foreign_keys(chosen[given::rows], keys, chosen[given::match_percent],
                        chosen[given::seed]);
  });
}

}  // namespace warpheap::bench
