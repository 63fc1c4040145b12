// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "exact_memory.hpp"
#include "scenario.hpp"

#include "warpheap/containers/team.hpp"
#include "warpheap/heap/handle.hpp"
#include "warpheap/managers/random_walk/bitmap_pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using pages_of_64 = random_walk::bitmap_pages<random_walk::bitmap_config{
    .search = random_walk::search_kind::independent, .low_water_ppm = 500'000}>;

/// Two warps update adjacencies over one small heap, together and lane by lane, with enough memory
/// and without. Vertex w belongs to warp w, vertex 2 + i to lane i alone. Every owner inserts two
/// runs and deletes a part of them; what it should then hold, given what was refused, is in its
/// book.
template <class Adjacency>
class graph_updates {
 public:
  static constexpr simt::grid shape{2, 4};

  explicit graph_updates(std::size_t heap_bytes)
      : memory_(heap_bytes), manager_(memory_.all(), {}, {.page_bytes = 64}) {}

  void reset(std::uint64_t /*seed*/) {
    manager_.format(0, 1);
    failures_ = {};
    stale_degrees_ = 0;
    for (vertex& v : vertices_) v = vertex{};
  }

  void lane() {
    const handle<pages_of_64> heap(manager_, &failures_);
    const auto rank = static_cast<std::uint32_t>(simt::thread_rank());
    update(heap, simt::warp(), simt::block_rank());
    update(heap, containers::lane_alone{}, 2 + rank);
  }

  std::string verdict() {
    if (stale_degrees_ != 0) return "a member saw another degree than its update has made";
    for (vertex& v : vertices_) {
      std::vector<std::uint32_t> found;
      v.targets.for_each(containers::lane_alone{},
                         [&](std::uint32_t target) { found.push_back(target); });
      std::sort(found.begin(), found.end());
      if (found.size() != v.targets.degree()) return "the degree is not the number of targets";
      if (found != v.expected) {
        return "vertex " + std::to_string(&v - vertices_.data()) + " has " +
               std::to_string(found.size()) + " targets, other ones than the " +
               std::to_string(v.expected.size()) + " that were inserted and not deleted";
      }
    }
    const auto outcome = alone_.run({simt::strategy::sticky, 1}, [this] {
      const handle<pages_of_64> heap(manager_, &failures_);
      for (vertex& v : vertices_) v.targets.clear(heap);
    });
    if (!outcome.stuck.empty()) return outcome.stuck;
    inspection found;
    manager_.inspect(0, 1, found);
    for (const std::uint64_t violations : found.violations) {
      if (violations != 0) return "the heap's invariants do not hold";
    }
    return found.blocks_in_use == 0
               ? ""
               : std::to_string(found.blocks_in_use) + " blocks are in use after the graph's end";
  }

 private:
  /// Stands among the expected targets, where it never is, when an update told a wrong number.
  static constexpr std::uint32_t wrong_count = ~0u;

  struct vertex {
    Adjacency targets{32};
    std::array<std::uint32_t, 8> run{};
    std::array<std::uint32_t, 8> marks{};
    std::vector<std::uint32_t> expected;
  };

  /// Inserts 1, 4, 7, ... and then 0, 2, 4, ..., of which some are there, deletes 2, 3, 4, ..., and
  /// inserts more than there are members between the others, for which there is room.
  template <class Team>
  void update(const handle<pages_of_64>& heap, const Team& members, std::uint32_t v) {
    insert(heap, members, vertices_[v], 1, 3, 5);
    insert(heap, members, vertices_[v], 0, 2, 8);
    fill(members, vertices_[v], 2, 1, 6);
    vertex& of = vertices_[v];
    const std::uint32_t before = of.targets.degree();
    const std::uint32_t erased = of.targets.erase(heap, members, of.run.data(), 6);
    expect_degree(of, before - erased);
    if (members.is_leader()) {
      const std::size_t all = of.expected.size();
      std::erase_if(of.expected, [](std::uint32_t target) { return target >= 2 && target < 8; });
      if (all - of.expected.size() != erased) of.expected.push_back(wrong_count);
    }
    members.sync();
    insert(heap, members, of, 3, 2, 5);
  }

  template <class Team>
  void insert(const handle<pages_of_64>& heap, const Team& members, vertex& of, std::uint32_t first,
              std::uint32_t step, std::uint32_t count) {
    fill(members, of, first, step, count);
    const std::uint32_t fresh =
        of.targets.keep_absent(members, of.run.data(), count, of.marks.data());
    const std::uint32_t before = of.targets.degree();
    const std::uint32_t done = of.targets.insert(heap, members, of.run.data(), fresh);
    expect_degree(of, before + done);
    if (members.is_leader()) {
      std::uint32_t absent = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        absent += !std::binary_search(of.expected.begin(), of.expected.end(), first + i * step);
      }
      if (fresh != absent) of.expected.push_back(wrong_count);
      of.expected.insert(of.expected.end(), of.run.begin(),
                         of.run.begin() + static_cast<std::ptrdiff_t>(done));
      std::sort(of.expected.begin(), of.expected.end());
    }
    members.sync();
  }

  /// By each member, at once: what the collective has changed is there for all.
  void expect_degree(const vertex& of, std::uint32_t degree) {
    if (of.targets.degree() != degree) {
      simt::atomic_ref<std::uint32_t>(stale_degrees_).fetch_add(1, simt::order::relaxed);
    }
  }

  template <class Team>
  static void fill(const Team& members, vertex& of, std::uint32_t first, std::uint32_t step,
                   std::uint32_t count) {
    if (members.is_leader()) {
      for (std::uint32_t i = 0; i < count; ++i) of.run[i] = first + i * step;
      of.marks = {};
    }
    members.sync();
  }

  exact_memory memory_;
  pages_of_64 manager_;
  failure_counts failures_;
  std::uint32_t stale_degrees_ = 0;
  std::array<vertex, 10> vertices_;
  simt::explorer alone_{{1, 1}, 2'000'000};
};

template <class Adjacency>
std::vector<named_case> graph_cases() {
  return {case_of<graph_updates<Adjacency>>("updates", std::size_t{8192}),
          case_of<graph_updates<Adjacency>>("updates_out_of_memory", std::size_t{1024})};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
