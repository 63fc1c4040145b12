// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/graph_init/csr.hpp"

#include "bench/host/parameters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>

namespace warpheap::bench {

namespace {

static_assert(std::endian::native == std::endian::little, "CSR files are read as they are stored");

constexpr std::array<char, 8> magic{'W', 'H', 'C', 'S', 'R', '\0', '\0', '\1'};

class csr_file {
 public:
  explicit csr_file(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    if (!in_) refuse("cannot be opened");
    in_.seekg(0, std::ios::end);
    bytes_ = static_cast<std::uint64_t>(in_.tellg());
    in_.seekg(0);
  }

  std::uint64_t bytes() const { return bytes_; }

  template <class T>
  void read(T* values, std::uint64_t count) {
    in_.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in_) refuse("cannot be read");
  }

  [[noreturn]] void refuse(const std::string& why) const { throw usage_error(path_ + ": " + why); }

 private:
  std::string path_;
  std::ifstream in_;
  std::uint64_t bytes_ = 0;
};

void check_structure(const csr_file& file, const csr_graph& graph) {
  if (graph.offsets.front() != 0) {
    file.refuse("offset 0 is " + std::to_string(graph.offsets.front()) + " instead of 0");
  }
  for (std::uint64_t v = 0; v < graph.nodes(); ++v) {
    if (graph.offsets[v] > graph.offsets[v + 1]) {
      file.refuse("offset " + std::to_string(v + 1) + " is " +
                  std::to_string(graph.offsets[v + 1]) + ", below the one before it, " +
                  std::to_string(graph.offsets[v]));
    }
  }
  if (graph.offsets.back() != graph.entries()) {
    file.refuse("the last offset is " + std::to_string(graph.offsets.back()) + " instead of " +
                std::to_string(graph.entries()) + ", the number of entries");
  }
  for (std::uint64_t i = 0; i < graph.entries(); ++i) {
    if (graph.neighbours[i] >= graph.nodes()) {
      file.refuse("entry " + std::to_string(i) + " is vertex " +
                  std::to_string(graph.neighbours[i]) + ", of " + std::to_string(graph.nodes()) +
                  " vertices");
    }
  }
}

}  // namespace

std::uint64_t csr_graph::largest_degree() const {
  std::uint64_t largest = 0;
  for (std::uint64_t v = 0; v < nodes(); ++v) {
    largest = std::max(largest, offsets[v + 1] - offsets[v]);
  }
  return largest;
}

csr_graph read_csr(const std::string& path) {
  csr_file file(path);
  constexpr std::uint64_t head_bytes = magic.size() + 2 * sizeof(std::uint64_t);
  if (file.bytes() < head_bytes) {
    file.refuse("has " + std::to_string(file.bytes()) + " bytes; the head alone has " +
                std::to_string(head_bytes));
  }
  std::array<char, magic.size()> start{};
  file.read(start.data(), start.size());
  if (start != magic) file.refuse("does not start with WHCSR, version 1");
  std::uint64_t nodes = 0;
  std::uint64_t entries = 0;
  file.read(&nodes, 1);
  file.read(&entries, 1);
  // Compared before anything is multiplied, so that no product overflows.
  const std::uint64_t rest = file.bytes() - head_bytes;
  if (nodes > rest / sizeof(std::uint64_t) || entries > rest / sizeof(std::uint32_t) ||
      (nodes + 1) * sizeof(std::uint64_t) + entries * sizeof(std::uint32_t) != rest) {
    file.refuse("has " + std::to_string(file.bytes()) + " bytes, which is not what " +
                std::to_string(nodes) + " nodes and " + std::to_string(entries) + " entries need");
  }
  csr_graph graph;
  graph.offsets.resize(nodes + 1);
  graph.neighbours.resize(entries);
  file.read(graph.offsets.data(), graph.offsets.size());
  file.read(graph.neighbours.data(), graph.neighbours.size());
  check_structure(file, graph);
  return graph;
}

}  // namespace warpheap::bench
