// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/graph/dump.hpp"

#include "bench/host/files.hpp"

#include <nlohmann/json.hpp>

namespace warpheap::bench {

graph_dump::graph_dump(const std::string& path) : wanted_(path != "-") {
  if (!wanted_) return;
  out_.open(path);
  if (!out_) throw cannot_write(path);
}

void graph_dump::write_update(const char* operation, std::uint32_t vertices,
                              const std::vector<std::uint64_t>& batch,
                              const std::vector<std::uint64_t>& refused,
                              const std::vector<std::uint64_t>& edges) {
  if (!wanted_) return;
  out_ << nlohmann::json{{"update", operation},
                         {"vertices", vertices},
                         {"batch", batch},
                         {"refused", refused},
                         {"edges", edges}}
       << '\n';
}

void graph_dump::write_ranks(const std::vector<double>& ranks) {
  if (wanted_) out_ << nlohmann::json{{"pagerank", ranks}} << '\n';
}

void graph_dump::write_triangles(std::uint64_t count) {
  if (wanted_) out_ << nlohmann::json{{"triangles", count}} << '\n';
}

}  // namespace warpheap::bench
