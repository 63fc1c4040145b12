// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/statistics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace warpheap::bench {

/// A value of a row; `monostate` stands for null.
using field = std::variant<std::monostate, bool, std::uint64_t, double, std::string, summary>;

/// The outcome of one measurement, without what was asked for.
struct measurement {
  std::string status = "ok";
  std::optional<std::string> reason;
  /// Requests that were answered with null although memory was to be had, over all runs.
  std::optional<std::uint64_t> null_returns;
  /// Blocks whose contents changed, that overlap another block or are not aligned.
  std::optional<std::uint64_t> corrupted;
  std::optional<summary> malloc_ms, free_ms;
  /// Whatever else the case measures, in this order.
  std::vector<std::pair<std::string, field>> more;

  void add(std::string name, field value) { more.emplace_back(std::move(name), std::move(value)); }
};

}  // namespace warpheap::bench
