// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a peer measures: join and group-by on given tables. All times are in milliseconds on the
/// host's clock, one for each run.

#include "bench/peers/reference.hpp"
#include "bench/workloads/tables/table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warpheap::bench::peers {

struct join_times {
  /// Making the hash table and inserting the build side.
  std::vector<double> insert_ms;
  std::vector<double> count_ms;
  /// Allocating the output and writing it.
  std::vector<double> retrieve_ms;
};

struct group_times {
  /// Making the hash table, finding each row's group and adding the row to it.
  std::vector<double> aggregate_ms;
  /// Writing the groups one behind the other. Empty if the peer does both in one call.
  std::vector<double> retrieve_ms;
};

/// A library with its settings.
struct peer {
  const char* name;
  /// Joins `runs` times. \param wrong how many results were not the expected one
  join_times (*join)(const table& build, const table& probe, const outcome& expected,
                     std::uint64_t runs, std::uint64_t& wrong);
  /// Groups `runs` times: count, sum, minimum and maximum of each key. \param wrong as for `join`
  group_times (*group_by)(const table& input, const outcome& expected, std::uint64_t runs,
                          std::uint64_t& wrong);
};

/// The program's name and the peers in it.
struct program {
  const char* name;
  std::vector<peer> peers;
};
program this_program();

/// What rows say about the machine.
struct machine {
  std::string device, driver, toolkit;
};

/// \throws std::runtime_error if there is no device
machine open_machine();

}  // namespace warpheap::bench::peers
