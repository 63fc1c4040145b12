// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Join and group-by with cuCollections' hash tables, as its users write them. All times are in
/// milliseconds on the host's clock, each run's after the one before.

#include "bench/peers/reference.hpp"
#include "bench/workloads/tables/csv.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warpheap::bench::peers {

/// How the hash tables are set up.
enum class settings {
  /// Cooperative groups as large as cuCollections' defaults: 8 for the multimap, 4 for the map.
  standard,
  /// As large as cuDF has them: 2 in its hash join, 1 in its group-by.
  as_cudf,
};

/// Both have tables half full, which is cuDF's load factor too.
inline constexpr double load_factor = 0.5;

struct join_times {
  /// Making the table and inserting the build side.
  std::vector<double> insert_ms;
  std::vector<double> count_ms;
  /// Allocating the output and writing it.
  std::vector<double> retrieve_ms;
  /// All of these.
  std::vector<double> join_ms;
};

struct group_times {
  /// Making the table, finding each row's group and adding the row to it.
  std::vector<double> aggregate_ms;
  /// Writing the groups one behind the other.
  std::vector<double> retrieve_ms;
  /// All of these.
  std::vector<double> group_ms;
};

/// Joins `runs` times. \param wrong how many results were not the expected one
join_times join(settings how, const table& build, const table& probe, const outcome& expected,
                std::uint64_t runs, std::uint64_t& wrong);

/// Groups `runs` times: count, sum, minimum and maximum of each key. \param wrong as of `join`
group_times group_by(settings how, const table& input, const outcome& expected, std::uint64_t runs,
                     std::uint64_t& wrong);

/// What rows say of the machine.
struct machine {
  std::string device, driver, toolkit;
};

/// \throws std::runtime_error if there is no device
machine open_machine();

}  // namespace warpheap::bench::peers
