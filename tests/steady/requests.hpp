// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the programs of steady load are asked to do. Each has a `main` in a file of its own, which
/// the C++ compiler compiles for a GPU, too: nvcc need not read the library of the command line.
/// So these names are the same for both models.

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpheap::steady_load {

struct request {
  std::string manager;
  double seconds = 0;
  std::size_t heap_bytes = 0;
  std::uint64_t lanes = 0;
  /// `soak` alone.
  std::uint64_t seed = 1;
  /// `steady` alone: launches are held to their limits, which are for one size of heap and launch.
  bool limited = false;
};

/// The exit status of `steady`: the worst of the managers that were asked for, one after the other.
/// One that fails does not keep the others from running.
int run_steady(const request& asked);
/// Prints the limit of each manager's launches, as `steady limits` does.
void list_limits();
/// The exit status of `soak`.
int run_soak(const request& asked);

}  // namespace warpheap::steady_load
