// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Misuse of a heap, as the layer `checked` reports it.

#include "warpheap/core/count_of.hpp"
#include "warpheap/simt/simt.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

/// The lane of a call to malloc or free, and the tag that the call was given (`handle::tagged`).
/// One word, so that lanes can claim and read it at once: { block: 32 | thread in it: 10 | tag: 22
/// }.
struct caller {
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  static constexpr std::uint32_t most_tag = (1u << 22) - 1;

  std::uint64_t word = nobody;

  /// The lane that asks.
  WARPHEAP_DEVICE static caller here(std::uint32_t tag) {
    return {std::uint64_t{simt::block_rank()} << 32 |
            std::uint64_t{simt::thread_in_block() & 1023u} << 22 | (tag & most_tag)};
  }
  /// Whether it is a lane.
  WARPHEAP_HD constexpr bool known() const { return word != nobody; }
  /// Number of its block in the launch.
  WARPHEAP_HD constexpr std::uint32_t block() const {
    return static_cast<std::uint32_t>(word >> 32);
  }
  /// Its number in the block.
  WARPHEAP_HD constexpr std::uint32_t thread() const {
    return static_cast<std::uint32_t>(word >> 22) & 1023u;
  }
  /// Its number in the warp.
  WARPHEAP_HD constexpr std::uint32_t lane() const { return thread() % simt::warp_size; }
  /// What `handle::tagged` was given; 0: nothing.
  WARPHEAP_HD constexpr std::uint32_t tag() const {
    return static_cast<std::uint32_t>(word) & most_tag;
  }

  /// "block 1 thread 2 (lane 2) tag 3", or "nobody".
  std::string describe() const {
    if (!known()) return "nobody";
    std::string text = "block " + std::to_string(block()) + " thread " + std::to_string(thread()) +
                       " (lane " + std::to_string(lane()) + ")";
    if (tag() != 0) text += " tag " + std::to_string(tag());
    return text;
  }
};

/// A misuse of a heap.
struct incident {
  /// As wide as the others, so that an incident has no padding.
  enum class kind : std::uint64_t {
    double_free,     ///< freed by `freed` first, and again by `noticed`
    foreign_free,    ///< free of a pointer outside all blocks
    interior_free,   ///< free of a pointer into `block`, which stays allocated
    overrun,         ///< bytes after `block` were written
    underrun,        ///< bytes before `block` were written
    overwritten,     ///< all bytes between `block` and `other` were written, or some in the middle:
                     ///< either block may be to blame, or neither
    use_after_free,  ///< `block` was written after `freed` had freed it
    damaged_record,  ///< the layer's own record of the block was overwritten
  };
  kind what;
  /// The pointer that was freed; for damage, the first damaged byte.
  std::uint64_t address = 0;
  /// The block that is named, 0 if none is known, and bytes that its malloc asked for.
  std::uint64_t block = 0;
  std::uint64_t bytes = 0;
  /// For `overwritten`: the block that follows, 0 if there is none.
  std::uint64_t other = 0;
  caller allocated{};
  caller freed{};
  /// The call in which it was found; `caller::nobody` if the host found it.
  caller noticed{};

  /// One line: what, where, and who allocated, freed and found it.
  std::string describe() const {
    static constexpr const char* names[]{"double free",
                                         "free of a foreign pointer",
                                         "free of a pointer into a block",
                                         "overrun",
                                         "underrun",
                                         "bytes between blocks overwritten",
                                         "use after free",
                                         "damaged record"};
    std::string text = std::string(names[static_cast<std::uint64_t>(what)]) + ": " + hex(address);
    if (block != 0) text += ", block " + hex(block) + " of " + std::to_string(bytes) + " bytes";
    if (other != 0) text += ", the next one is " + hex(other);
    if (allocated.known()) text += "; allocated by " + allocated.describe();
    if (freed.known()) text += "; freed by " + freed.describe();
    if (noticed.known()) text += how_noticed() + noticed.describe();
    return text;
  }

  /// A wrong free is itself the call in which it was found.
  const char* how_noticed() const {
    switch (what) {
      case kind::double_free:
        return "; freed again by ";
      case kind::foreign_free:
      case kind::interior_free:
        return "; freed by ";
      default:
        return "; found in a call of ";
    }
  }

  /// A number as "0x1f".
  static std::string hex(std::uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
  }
};

/// Blocks of one size and tag that are in use.
struct leak_group {
  static constexpr std::size_t most_examples = 3;
  struct example {
    std::uint64_t address;
    caller allocated;
  };
  std::uint64_t bytes = 0;
  std::uint32_t tag = 0;
  std::uint64_t blocks = 0;
  std::vector<example> examples;

  /// One line: how many, how large, and the examples.
  std::string describe() const {
    std::string text = "leak: " + count_of(blocks, "block") + " of " + std::to_string(bytes) +
                       " bytes" + (tag != 0 ? ", tag " + std::to_string(tag) : "");
    for (std::size_t i = 0; i < examples.size(); ++i) {
      text += (i == 0 ? ", for example " : "; ") + incident::hex(examples[i].address) + " of " +
              examples[i].allocated.describe();
    }
    return text;
  }
};

/// Everything that a heap has found wrong since it was created or reset.
struct incident_report {
  std::vector<incident> incidents;
  /// Further incidents that did not fit into the log.
  std::uint64_t unrecorded = 0;
  /// Blocks in use, in descending order of bytes.
  std::vector<leak_group> leaks;

  /// Whether nothing was found wrong.
  bool empty() const { return incidents.empty() && unrecorded == 0 && leaks.empty(); }

  /// A line for each, but only a few lines however many there are.
  std::vector<std::string> lines() const {
    constexpr std::size_t most = 20;
    std::vector<std::string> text;
    for (std::size_t i = 0; i < incidents.size() && i < most; ++i) {
      text.push_back(incidents[i].describe());
    }
    const std::uint64_t more = unrecorded + (incidents.size() > most ? incidents.size() - most : 0);
    if (more != 0) text.push_back(count_of(more, "further incident"));
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < leaks.size(); ++i) {
      if (i < most) {
        text.push_back(leaks[i].describe());
      } else {
        blocks += leaks[i].blocks;
        bytes += leaks[i].blocks * leaks[i].bytes;
      }
    }
    if (blocks != 0) {
      text.push_back("leak: " + count_of(blocks, "block") + " of " +
                     count_of(leaks.size() - most, "further size") + ", " + std::to_string(bytes) +
                     " bytes in all");
    }
    return text;
  }
};

/// A manager or layer that keeps a record of misuse.
template <class M>
concept reports_incidents = requires(const M m, const device& on) {
  { m.incidents(on) } -> std::same_as<incident_report>;
};

WARPHEAP_END_NAMESPACE
