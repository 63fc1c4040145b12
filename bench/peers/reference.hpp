// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a peer's result is compared with: how many rows it must have, and the sum of their hashes,
/// which does not depend on their order. The hashes are those by which the cases `join` and
/// `group_by` compare pages with two passes; the sums are found on the host, by neither a hash
/// table nor a heap.

#include "bench/workloads/tables/table.hpp"
#include "warpheap/core/hash.hpp"
#include "warpheap/workloads/group_by/requests.hpp"
#include "warpheap/workloads/join/requests.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace warpheap::bench::peers {

/// A result without its order.
struct outcome {
  std::uint64_t rows = 0;
  std::uint64_t digest = 0;

  bool operator==(const outcome&) const = default;
};

inline std::uint64_t hash_of(const join_data::match& match) {
  return mix64(mix64(std::uint64_t{match.key} << 32 | match.build) + match.probe);
}

inline std::uint64_t hash_of(const group_by_data::row_group& group) {
  return mix64(mix64(mix64(mix64(group.sum) + group.count) + group.key) +
               mix64(std::uint64_t{group.min_complement} << 32 | group.max));
}

template <class Row>
outcome outcome_of(const std::vector<Row>& rows) {
  outcome all{rows.size(), 0};
  for (const Row& row : rows) all.digest += hash_of(row);
  return all;
}

/// The rows of a table as key << 32 | value, in order.
inline std::vector<std::uint64_t> ordered(const table& of) {
  std::vector<std::uint64_t> rows(of.rows());
  for (std::uint64_t i = 0; i < of.rows(); ++i) {
    rows[i] = std::uint64_t{of.keys[i]} << 32 | of.values[i];
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

inline std::uint32_t key_of(std::uint64_t row) { return static_cast<std::uint32_t>(row >> 32); }
inline std::uint32_t value_of(std::uint64_t row) { return static_cast<std::uint32_t>(row); }

/// Merges both sides in the order of their keys. O(n log n + matches)
inline outcome expected_join(const table& build, const table& probe) {
  const std::vector<std::uint64_t> left = ordered(build);
  const std::vector<std::uint64_t> right = ordered(probe);
  outcome all;
  std::size_t first = 0;
  for (const std::uint64_t row : right) {
    while (first < left.size() && key_of(left[first]) < key_of(row)) ++first;
    for (std::size_t i = first; i < left.size() && key_of(left[i]) == key_of(row); ++i) {
      ++all.rows;
      all.digest += hash_of(join_data::match{key_of(row), value_of(left[i]), value_of(row)});
    }
  }
  return all;
}

/// Adds up run by run. O(n log n)
inline outcome expected_groups(const table& input) {
  const std::vector<std::uint64_t> rows = ordered(input);
  outcome all;
  for (std::size_t i = 0; i < rows.size();) {
    group_by_data::row_group group{};
    group.key = key_of(rows[i]);
    group.min_complement = ~value_of(rows[i]);  // values of a key ascend
    for (; i < rows.size() && key_of(rows[i]) == group.key; ++i) {
      ++group.count;
      group.sum += value_of(rows[i]);
      group.max = value_of(rows[i]);
    }
    ++all.rows;
    all.digest += hash_of(group);
  }
  return all;
}

/// The largest key that none of the tables has; a hash table marks its empty places with it.
/// \pre the tables do not have all keys
inline std::uint32_t unused_key(const std::vector<const table*>& tables) {
  const auto is_used = [&](std::uint32_t key) {
    return std::any_of(tables.begin(), tables.end(), [&](const table* of) {
      return std::find(of->keys.begin(), of->keys.end(), key) != of->keys.end();
    });
  };
  std::uint32_t key = UINT32_MAX;
  while (is_used(key)) --key;
  return key;
}

}  // namespace warpheap::bench::peers
