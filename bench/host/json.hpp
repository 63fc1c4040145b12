// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/cases/cases.hpp"
#include "bench/host/machine.hpp"
#include "bench/host/row.hpp"

#include <optional>
#include <string>

namespace warpheap::bench {

/// The version of the rows' and the list's format.
inline constexpr int schema = 1;

/// The machine, or why there is none.
struct machine_or_reason {
  std::optional<machine_info> machine;
  std::string reason;
};

/// What the program offers, as one JSON object over several lines.
std::string list_json(const backend_info& backend, const machine_or_reason& where);

/// A row of the results, as one line.
std::string row_json(const backend_info& backend, const machine_or_reason& where,
                     const case_entry& entry, const std::string& manager, const parameters& chosen,
                     const measurement& outcome);

}  // namespace warpheap::bench
