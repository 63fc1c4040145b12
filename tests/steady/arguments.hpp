// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/argument_checks.hpp"

#include "requests.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <vector>

namespace warpheap::steady_load {

/// Adds the four arguments that both programs need, by their positions. Returns them.
inline std::vector<CLI::Option*> add_arguments(CLI::App& app, request& to) {
  constexpr std::uint64_t year = 365 * 86400;
  constexpr std::uint64_t address_space = std::uint64_t{1} << 47;
  constexpr std::uint64_t most_lanes = std::uint64_t{1} << 31;
  return {app.add_option("MANAGER", to.manager),
          app.add_option("SECONDS", to.seconds)->check(bench::above(0, year)),
          app.add_option("HEAP_BYTES", to.heap_bytes)->check(bench::whole(1, address_space)),
          app.add_option("LANES", to.lanes)->check(bench::whole(1, most_lanes))};
}

}  // namespace warpheap::steady_load
