// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file Group-by in passes over eight bits of the key, the highest first (as in the random-walk
/// paper, after Ashkiani et al.): a pass appends the rows of every chain to up to 256 new ones, in
/// pages of a heap, and then frees the old pages. The paper leaves open what happens to short
/// chains: here they are grouped directly, so that the last passes do not have a chain for every
/// key.

#include "bench/host/call_time.hpp"
#include "bench/workloads/group_by/requests.hpp"
#include "bench/workloads/tables/fields.hpp"

#include <cstdint>
#include <vector>

namespace warpheap::bench {

/// Groups, of which the first `count` are in use.
struct grouped_rows {
  pooled_array<group_by_data::row_group> groups;
  std::uint64_t count;
};

/// What a run over a heap found, and what it used.
struct paged_groups {
  grouped_rows done;
  /// Rows that found no room, which are in no group. Every other row is in its group.
  table lost;
  std::uint64_t passes;
  std::uint64_t peak_pages;
  double free_ms;
};

class radix_group_by {
 public:
  /// \throws out_of_memory with the sizes if the table does not fit
  radix_group_by(machine& on, const table& rows);

  std::uint64_t rows() const { return rows_.rows; }

  /// Groups in pages of a heap, all of which are freed in the end. O(rows)
  /// \param time where to add up the time that warps spend in malloc, in device memory; or null
  paged_groups run(test_heap& heap, std::uint32_t page_bytes, call_time* time = nullptr) const;

  /// Groups without a heap: sorts the rows in passes that count, add up and write, and then
  /// aggregates them. O(rows)
  grouped_rows two_pass() const;

 private:
  machine& on_;
  device_table rows_;
};

/// A sum that is the same for the same groups in any order.
std::uint64_t digest(machine& on, const grouped_rows& found);

}  // namespace warpheap::bench
