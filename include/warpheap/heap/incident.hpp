// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

/// A wrong use of a heap that the layer `checked` has seen.
struct incident {
  /// As wide as the others, so that an incident has no padding.
  enum class kind : std::uint64_t { double_free, foreign_free, overrun, leak, unrecorded };
  kind what;
  /// The block; 0 for `unrecorded`.
  std::uint64_t address;
  /// Bytes that the block's malloc asked for; 0 for a foreign pointer; for `unrecorded`, how many
  /// further incidents the log had no room for.
  std::uint64_t bytes;
  /// Rank of the thread that called malloc; for a foreign pointer, of the one that freed it.
  std::uint64_t thread;

  std::string describe() const {
    static constexpr const char* names[]{"double free", "free of a foreign pointer", "overrun",
                                         "leak"};
    char line[160];
    if (what == kind::unrecorded) {
      std::snprintf(line, sizeof line, "%llu further incidents were not recorded",
                    static_cast<unsigned long long>(bytes));
    } else {
      std::snprintf(
          line, sizeof line, "%s: block 0x%llx of %llu bytes, thread %llu",
          names[static_cast<std::uint64_t>(what)], static_cast<unsigned long long>(address),
          static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(thread));
    }
    return line;
  }
};

/// A manager or layer that keeps a record of wrong uses.
template <class M>
concept reports_incidents = requires(const M m, const device& on) {
  { m.incidents(on) } -> std::same_as<std::vector<incident>>;
};

WARPHEAP_END_NAMESPACE
