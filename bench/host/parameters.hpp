// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"
#include "warpheap/core/error.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpheap::bench {

/// The command line cannot be followed; the message says why, and what would be possible.
class usage_error : public error {
 public:
  using error::error;
};

/// What a measurement is made with.
struct parameters {
  /// One request a warp, by its lane 0, instead of one a thread.
  bool one_a_warp = false;
  std::uint64_t threads = 0;
  /// Bytes of a request.
  std::uint64_t size_min = 0, size_max = 0;
  distribution sizes = distribution::uniform;
  std::uint64_t heap_bytes = 0;
  /// Warm runs after the first one.
  std::uint64_t iterations = 0;
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  std::uint64_t pages = 0;
  double free_percent = 100;
  /// Path of a CSR file.
  std::string graph;
};

/// A parameter as `list` shows it and the command line takes it (with '-' for '_').
struct parameter_info {
  std::string name, unit, about;
  /// Of a case; empty where there is none.
  std::string standard;
};

/// All parameters that there are, in the order of the row.
const std::vector<parameter_info>& known_parameters();

/// \param given values as text, by name
/// \param standards the values of parameters that are not given, by name
/// \throws usage_error that names the value and what is possible
parameters parse_parameters(const std::map<std::string, std::string>& given,
                            const std::map<std::string, std::string>& standards);

}  // namespace warpheap::bench
