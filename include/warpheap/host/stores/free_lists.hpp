// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include "warpheap/host/stores/block_table.hpp"

namespace warpheap::host {

/// `Count` doubly linked lists of free blocks, last in, first out. The links are in the records of
/// the block table. Every function O(1).
template <std::size_t Count, class Table = block_table>
class free_lists {
 public:
  using index = block_table::index;

  index head(std::size_t list) const { return heads_[list]; }
  bool empty(std::size_t list) const { return heads_[list] == block_table::none; }

  void push(Table& table, std::size_t list, index which) {
    const index next = heads_[list];
    table[which].list_prev = block_table::none;
    table[which].list_next = next;
    table[next].list_prev = which;
    heads_[list] = which;
  }

  /// Removes the first block of a list that has one, and returns whether the list is empty now.
  bool pop(Table& table, std::size_t list) {
    const index next = table[heads_[list]].list_next;
    table[next].list_prev = block_table::none;
    heads_[list] = next;
    return next == block_table::none;
  }

  void remove(Table& table, std::size_t list, index which) {
    const auto [prev, next] = std::pair{table[which].list_prev, table[which].list_next};
    table[next].list_prev = prev;
    table[prev].list_next = next;
    // No branch: processors cannot predict which block of its list is removed. The addresses of all
    // stores are also known early, so no later load waits for them.
    const bool is_first = __builtin_expect_with_probability(prev == block_table::none, 1, 0.5);
    const index head = heads_[list];
    heads_[list] = is_first ? next : head;
  }

  /// The first of the first `limit` blocks of the list that has at least `bytes` bytes, or none.
  index first_that_fits(const Table& table, std::size_t list, std::size_t bytes,
                        std::size_t limit) const {
    index which = heads_[list];
    for (; which != block_table::none && limit != 0; which = table[which].list_next, --limit) {
      if (table[which].bytes >= bytes) return which;
    }
    return block_table::none;
  }

 private:
  std::array<index, Count> heads_{};
};

}  // namespace warpheap::host
