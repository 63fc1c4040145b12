// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "untracked.hpp"

#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// For the account of a replay: a lane has made a step that is about no single block.
/// \param text composes what it was, if there is an account
template <class Compose>
void remark_step(const Compose& text) {
  if (!simt::traced()) return;
  const std::string composed = text();
  simt::remark(composed.c_str());
}

/// Which blocks are held, at every moment, and the first thing that was wrong with one.
class ledger {
 public:
  static constexpr int most_blocks = 512;

  struct entry {
    std::byte* start;
    std::uint32_t bytes;
    std::uint32_t tag;
  };

  /// \param begin, end the region that blocks must lie in
  void reset(std::byte* begin, std::byte* end, std::size_t alignment) {
    begin_ = begin;
    end_ = end;
    alignment_ = alignment;
    count_ = 0;
    peak_ = 0;
    taken_ = 0;
    given_ = 0;
    problem_[0] = 0;
  }

  /// A malloc has returned `block`. Gives the tag that its contents shall have.
  WARPHEAP_UNTRACKED std::uint32_t add(void* block, std::uint32_t bytes) {
    auto* start = static_cast<std::byte*>(block);
    if (start < begin_ || start + bytes > end_) note("a block outside the heap", start, bytes);
    if (reinterpret_cast<std::uintptr_t>(start) % alignment_ != 0) {
      note("a block that is not aligned", start, bytes);
    }
    for (int i = 0; i < count_; ++i) {
      const entry& other = blocks_[i];
      if (start < other.start + other.bytes && other.start < start + bytes) {
        note("a block that overlaps one that is held", start, bytes);
      }
    }
    const auto tag = static_cast<std::uint32_t>(++taken_);
    if (count_ == most_blocks) {
      note("more blocks than the ledger holds", start, bytes);
    } else {
      blocks_[count_++] = {start, bytes, tag};
      peak_ = peak_ > count_ ? peak_ : count_;
    }
    return tag;
  }

  /// `block` is about to be freed; gives what `add` was told.
  WARPHEAP_UNTRACKED entry remove(void* block) {
    auto* start = static_cast<std::byte*>(block);
    for (int i = 0; i < count_; ++i) {
      if (blocks_[i].start != start) continue;
      const entry found = blocks_[i];
      blocks_[i] = blocks_[--count_];
      ++given_;
      return found;
    }
    note("a free of a block that nobody holds", start, 0);
    return {start, 0, 0};
  }

  /// Keeps the first problem only: the others follow from it.
  WARPHEAP_UNTRACKED void note(const char* what, const std::byte* block, std::uint32_t bytes) {
    if (problem_[0] != 0) return;
    std::snprintf(problem_.data(), problem_.size(), "%s: %u bytes at offset %td", what, bytes,
                  block - begin_);
    remark_problem();
  }
  WARPHEAP_UNTRACKED void note(const char* what) {
    if (problem_[0] != 0) return;
    std::snprintf(problem_.data(), problem_.size(), "%s", what);
    remark_problem();
  }

  /// For the account of a replay: a lane has called `what` for a block of `bytes` bytes, or has got
  /// null.
  WARPHEAP_UNTRACKED void remark(const char* what, const std::byte* block,
                                 std::uint32_t bytes) const {
    if (!simt::traced()) return;
    std::array<char, 160> text;
    if (block == nullptr) {
      std::snprintf(text.data(), text.size(), "%s of %u bytes: null", what, bytes);
    } else {
      std::snprintf(text.data(), text.size(), "%s of %u bytes: block at offset %td", what, bytes,
                    block - begin_);
    }
    simt::remark(text.data());
  }

  std::string problem() const { return problem_.data(); }
  int count() const { return count_; }
  const entry& at(int i) const { return blocks_[i]; }
  int peak() const { return peak_; }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t given() const { return given_; }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (int i = 0; i < count_; ++i) sum += blocks_[i].bytes;
    return sum;
  }

 private:
  WARPHEAP_UNTRACKED void remark_problem() const {
    if (!simt::traced()) return;
    std::array<char, 192> text;
    std::snprintf(text.data(), text.size(), "WRONG from here on: %s", problem_.data());
    simt::remark(text.data());
  }

  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t alignment_ = 16;
  std::array<entry, most_blocks> blocks_;
  int count_ = 0;
  int peak_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t given_ = 0;
  std::array<char, 160> problem_{};
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
