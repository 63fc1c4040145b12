// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Small heaps of the manager `warpheap` that are full, but for what a case is about.

#include "manager_world.hpp"
#include "untracked.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A heap that is full of blocks of one size, as a lane has found that asked for one more.
class full_heap : public heap_world {
 protected:
  full_heap(const any_setup& how, std::uint32_t bytes) : heap_world(how), bytes_(bytes) {
    heap.run_quietly([&] {
      while (std::byte* const block = heap.take(bytes_)) all_.push_back(block);
    });
    std::sort(all_.begin(), all_.end());
  }

  /// The `i`-th block by address.
  std::byte* block(std::size_t i) const { return all_.at(i); }
  void free_quietly(const std::vector<std::size_t>& blocks) {
    heap.run_quietly([&] {
      for (const std::size_t i : blocks) heap.give(block(i));
    });
  }
  /// The present state is that in which schedules begin; lanes free these blocks, and no others.
  void begin_here(const std::vector<std::size_t>& to_free) {
    for (const std::size_t i : to_free) heap.blocks().remove(block(i));
    heap.keep_state();
    to_free_ = to_free;
  }
  void adopt_again() {
    for (const std::size_t i : to_free_) heap.adopt(block(i), bytes_);
  }

 private:
  std::uint32_t bytes_;
  std::vector<std::byte*> all_;
  std::vector<std::size_t> to_free_;
};

/// Two neighbouring chunks of a class become empty: the last block of the second one is freed by a
/// lane that then wants both chunks as one block, as does another lane. One of them is served.
/// \tparam InOneWarp whether the lanes search together
template <bool InOneWarp>
class empty_chunks_make_a_run : public full_heap {
 public:
  static constexpr simt::grid shape{InOneWarp ? 1 : 2, InOneWarp ? 2 : 1};

  explicit empty_chunks_make_a_run(const any_setup& how) : full_heap(how, 60) {
    free_quietly({4, 5, 6, 7, 8, 9, 10});
    begin_here({11});
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    adopt_again();
    served_ = 0;
  }
  void lane() {
    if (simt::thread_rank() == 0) heap.give(block(11));
    if (heap.take(512) != nullptr) ++served_;
  }
  std::string verdict() {
    if (served_ == 1) return heap.problem();
    return std::to_string(served_) + " lanes were served by two chunks";
  }

 private:
  untracked<int> served_ = 0;
};

/// A lane that wants a large block collects two empty chunks, and may then take two others, which
/// come first and are freed meanwhile. Another lane wants such a block as well. While nobody takes
/// the collected ones, it may not be refused: they were in the first one's hand for a moment only.
class collected_for_nobody : public full_heap {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit collected_for_nobody(const any_setup& how) : full_heap(how, 60) {
    free_quietly({4, 5, 6, 7, 8, 9, 10, 11});
    heap.run_quietly([this] { freed_ = heap.take(512); });
    free_quietly({20, 21, 22, 23, 24, 25, 26, 27});
    heap.blocks().remove(freed_);
    begin_here({});
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    heap.adopt(freed_, 512);
    is_refused_ = false;
  }
  void lane() {
    if (simt::thread_rank() == 0) {
      heap.give(freed_);
    } else if (heap.take(512) == nullptr) {
      is_refused_ = true;
    }
  }
  std::string verdict() {
    const std::string wrong = heap.problem();
    if (!wrong.empty() || !is_refused_) return wrong;
    for (int i = 0; i < heap.blocks().count(); ++i) {
      if (heap.blocks().at(i).start == block(20)) return "";
    }
    return "null, and two empty chunks were there all the time";
  }

 private:
  std::byte* freed_ = nullptr;
  untracked<bool> is_refused_ = false;
};

/// One chunk is nobody's, and the rest is full. A lane frees a block, and then takes that chunk as
/// a large one. So there is a chunk or a slot at any time, and another lane that wants a slot may
/// not be refused, as it would be if it looked for slots before that, and for chunks after it.
class chunk_or_slot : public full_heap {
 public:
  static constexpr simt::grid shape{2, 1};

  explicit chunk_or_slot(const any_setup& how) : full_heap(how, 60) {
    free_quietly({4, 5, 6, 7});
    heap.run_quietly([this] { heap.give(heap.take(256)); });
    begin_here({40});
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    adopt_again();
    is_refused_ = false;
  }
  void lane() {
    if (simt::thread_rank() == 0) {
      heap.give(block(40));
      heap.take(256);
    } else if (heap.take(60) == nullptr) {
      is_refused_ = true;
    }
  }
  std::string verdict() {
    return is_refused_ ? "null, and a chunk or a slot was free at any time" : heap.problem();
  }

 private:
  untracked<bool> is_refused_ = false;
};

/// An empty chunk of a class is wanted by two lanes that have other classes, while a third one
/// takes a block of it and gives it back. Nothing else is free.
class two_close_one_chunk : public full_heap {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit two_close_one_chunk(const any_setup& how) : full_heap(how, 60) {
    free_quietly({4, 5, 6, 7});
    begin_here({});
  }
  void lane() {
    if (simt::thread_rank() != 0) {
      heap.take(128);
    } else if (std::byte* const mine = heap.take(60)) {
      heap.give(mine);
    }
  }
};

/// Nothing is free but a chunk that blocks of another size have left empty. Lanes of a part of a
/// warp want blocks, more than a word of it has. Another lane frees a block meanwhile, which does
/// not mean that these lanes have lost what they looked for: while the chunk is there, none of them
/// may be refused.
class empty_chunk_for_a_part : public heap_world {
 public:
  static constexpr simt::grid shape{2, 4};

  explicit empty_chunk_for_a_part(const any_setup& how) : heap_world(how) {
    heap.run_quietly([&] {
      std::byte* const other = heap.take(128);
      while (std::byte* const block = heap.take(60)) freed_ = block;
      heap.give(other);
    });
    heap.blocks().remove(freed_);
    heap.keep_state();
  }
  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    heap.adopt(freed_, 60);
    refused_ = 0;
  }
  void lane() {
    if (simt::block_rank() != 0) {
      if (simt::lane_id() == 0) heap.give(freed_);
    } else if (simt::lane_id() != 3 && heap.take(60) == nullptr) {
      ++refused_;
    }
  }
  std::string verdict() {
    const std::string wrong = heap.problem();
    if (!wrong.empty() || refused_ == 0) return wrong;
    // Only an empty chunk serves this size.
    bool is_left = false;
    heap.run_quietly([&] { is_left = heap.take(128) != nullptr; });
    return is_left ? "null, and an empty chunk was there all the time" : "";
  }

 private:
  std::byte* freed_ = nullptr;
  untracked<int> refused_ = 0;
};

/// As many offers as lanes that want one, from the start, while others make more. Parts of warps,
/// in a heap that is marked as dry.
class offers_for_all : public full_heap {
 public:
  static constexpr simt::grid shape{4, 2};

  explicit offers_for_all(const any_setup& how) : full_heap(how, 60) {
    free_quietly({0, 17});
    begin_here({32, 49});
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    adopt_again();
    refused_ = 0;
  }
  void lane() {
    if (simt::lane_id() != 0) return;
    const std::uint64_t rank = simt::block_rank();
    if (rank < 2) {
      heap.give(block(rank == 0 ? 32 : 49));
    } else if (heap.take(60) == nullptr) {
      ++refused_;
    }
  }
  std::string verdict() {
    if (refused_ == 0) return heap.problem();
    return std::to_string(refused_) + " lanes got null, and there was an offer for each";
  }

 private:
  untracked<int> refused_ = 0;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
