// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/workloads/tables/table.hpp"

#include <string>

namespace warpheap::bench {

/// Reads two columns of a CSV file, named as `FILE:KEY:VALUE`, for example
/// `orders.csv:o_orderkey:o_custkey`. The first line names the columns; fields may be quoted. Cells
/// are whole numbers below 2^32. O(bytes of the file), which is held in memory.
/// \throws usage_error with the file, the line and the reason
table read_csv(const std::string& named);

}  // namespace warpheap::bench
