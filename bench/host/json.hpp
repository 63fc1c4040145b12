// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/case.hpp"

#include <string>

namespace warpheap::bench {

/// The version of the rows' and the list's format.
inline constexpr int schema = 1;

/// What the program offers, as one JSON object over several lines.
/// \param there null, with the reason, if there is no device
std::string list_json(const backend_info& backend, const machine_info* there,
                      const std::string& reason);

/// A row of the results, as one line. \param there null if the device was not opened
std::string row_json(const backend_info& backend, const machine_info* there,
                     const case_entry& entry, const std::string& manager, const parameters& chosen,
                     const measurement& outcome);

}  // namespace warpheap::bench
