// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/fields.hpp"
#include "bench/host/requests.hpp"
#include "bench/host/row.hpp"
#include "warpheap/core/error.hpp"

#include <cstdint>
#include <string>

namespace warpheap::bench {

/// Adds up what went wrong over all runs of a case.
class tally {
 public:
  void add(const block_report& report) {
    nulls_ += report.nulls;
    corrupted_ += report.corrupted + report.misaligned;
  }
  void add_nulls(std::uint64_t count) { nulls_ += count; }
  void add_corrupted(std::uint64_t count) { corrupted_ += count; }

  /// For what no manager is to blame for.
  /// \throws error with the name of what failed if anything was wrong
  void expect_none(const std::string& what) const {
    if (nulls_ + corrupted_ == 0) return;
    throw error(what + ": " + std::to_string(nulls_) + " requests were not served and " +
                std::to_string(corrupted_) + " pieces had wrong contents");
  }

  void put_into(measurement& row) const {
    row.add(fields::null_returns, nulls_);
    row.add(fields::corrupted, corrupted_);
  }

 private:
  std::uint64_t nulls_ = 0;
  std::uint64_t corrupted_ = 0;
};

}  // namespace warpheap::bench
