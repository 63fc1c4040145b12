// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace warpheap::bench {

/// What became of a program that was run in a process of its own.
struct child_outcome {
  /// "done", "timeout" or "crashed"
  std::string end;
  /// The exit status of a program that is done.
  int status = 0;
  /// For people: the signal or the exit status, and the last line of the standard error.
  std::string reason;
  std::string output;
  double wall_s = 0;
};

/// Runs a program with these arguments in a process group of its own, which is killed after
/// `limit_s` seconds. A program that cannot be started ends with status 127.
/// \throws error if no process can be made
child_outcome run_child(const std::string& program, const std::vector<std::string>& arguments,
                        double limit_s);

}  // namespace warpheap::bench
