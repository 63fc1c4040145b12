// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace warpheap::bench {

using graph_keys = std::vector<std::uint64_t>;

/// The edges that a graph should have. Added batches are only merged when the edges are read: a
/// graph that grows to 100 million edges in 100 batches is copied 7 times, not 100 times.
class edge_set {
 public:
  /// \pre ascending, without duplicates
  void add(graph_keys keys) { runs_.push_back(std::move(keys)); }

  /// \pre ascending
  void remove(const graph_keys& keys) {
    graph_keys left;
    std::set_difference(all().begin(), all().end(), keys.begin(), keys.end(),
                        std::back_inserter(left));
    runs_.front() = std::move(left);
  }

  /// Ascending. O(n log batches) after batches were added.
  const graph_keys& all() {
    // Neighbours in pairs, so that runs of similar sizes are merged.
    for (std::size_t step = 1; step < runs_.size(); step *= 2) {
      for (std::size_t i = 0; i + step < runs_.size(); i += 2 * step) {
        runs_[i] = united(std::exchange(runs_[i], {}), std::exchange(runs_[i + step], {}));
      }
    }
    runs_.resize(1);
    return runs_.front();
  }

  /// The number of targets of all sources that occur in the keys. \param keys ascending
  std::uint64_t targets_of_sources(const graph_keys& keys) {
    std::uint64_t sum = 0;
    auto from = all().begin();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t source = keys[i] >> 32;
      if (i != 0 && source == keys[i - 1] >> 32) continue;
      from = std::lower_bound(from, all().end(), source << 32);
      const auto to = std::lower_bound(from, all().end(), (source + 1) << 32);
      sum += static_cast<std::uint64_t>(to - from);
      from = to;
    }
    return sum;
  }

 private:
  static graph_keys united(const graph_keys& one, const graph_keys& other) {
    graph_keys both(one.size() + other.size());
    both.erase(std::set_union(one.begin(), one.end(), other.begin(), other.end(), both.begin()),
               both.end());
    return both;
  }

  std::vector<graph_keys> runs_{graph_keys()};
};

}  // namespace warpheap::bench
