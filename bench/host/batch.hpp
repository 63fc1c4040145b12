// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>
#include <string>

namespace warpheap::bench {

/// How the measurements of a plan are run.
struct batch_options {
  /// Seconds for a line that names no "time_limit" of its own.
  double time_limit_s = 120;
  /// Goes into every row as "commit", unless it is empty.
  std::string commit;
};

/// Runs a plan: a JSON object a line, {"case": .., "manager": .., parameters ..}, each in a process
/// of its own with a time limit, and prints one row a line, in the order of the plan. A crash or a
/// hang is a row, too. For machines that have nothing but this program.
/// \param name of the plan, for messages
/// \throws usage_error that names the line of the plan that cannot be followed
void run_batch(std::istream& plan, const std::string& name, const batch_options& options,
               std::ostream& rows);

}  // namespace warpheap::bench
