// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace warpheap::bench {

/// A file of JSON lines for other programs to check: each update, and the edges after it. An edge
/// is the number source * 2^32 + target. Writes nothing if the file's name is "-".
class graph_dump {
 public:
  /// \throws usage_error if the file cannot be written
  explicit graph_dump(const std::string& path);

  bool wanted() const { return wanted_; }
  void write_update(const char* operation, std::uint32_t vertices,
                    const std::vector<std::uint64_t>& batch,
                    const std::vector<std::uint64_t>& refused,
                    const std::vector<std::uint64_t>& edges);
  void write_ranks(const std::vector<double>& ranks);
  void write_triangles(std::uint64_t count);

 private:
  bool wanted_;
  std::ofstream out_;
};

}  // namespace warpheap::bench
