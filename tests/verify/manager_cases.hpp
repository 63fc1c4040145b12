// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The cases that every manager is explored in. A manager becomes a subject with
/// `const registrar added{manager_subject("name", setup<my_manager<...>>{.region_bytes = 4096})};`

#include "scenario.hpp"
#include "small_heap.hpp"

#include "warpheap/core/random.hpp"

#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Two blocks of four lanes: two warps, both partial.
inline constexpr simt::grid two_warps{2, 4};
inline constexpr simt::grid one_warp{1, 8};
inline constexpr int case_lanes = 8;

/// What most cases share: an empty heap in the beginning, and everything freed in the end.
template <class M>
class heap_world {
 public:
  static constexpr simt::grid shape = two_warps;

  explicit heap_world(const setup<M>& how) : heap(how) {}

  void reset(std::uint64_t /*seed*/) { heap.restore(); }
  std::string verdict() { return heap.problem(); }

 protected:
  /// A block, or a finding if there is none though there should be.
  std::byte* must_take(std::uint32_t bytes) {
    std::byte* block = heap.take(bytes);
    if (block == nullptr && heap.how().exact) {
      heap.blocks().note("null although memory is free");
    }
    return block;
  }

  /// Gives a block back if the manager takes any.
  void give(std::byte* block) {
    if (block != nullptr && M::about.frees) heap.give(block);
  }

  small_heap<M> heap;
};

/// Each lane takes a block, fills it, and frees it, twice.
template <class M, simt::grid Shape>
class malloc_free : public heap_world<M> {
 public:
  static constexpr simt::grid shape = Shape;
  using heap_world<M>::heap_world;

  void lane() {
    for (int round = 0; round < 2; ++round) {
      std::byte* block = this->must_take(this->heap.size(0));
      simt::backoff(1);
      this->give(block);
    }
  }
};

/// The odd lanes of each warp wait until the even ones have been served: whoever takes the whole
/// warp for converged waits for lanes that do not come.
template <class M>
class divergent : public heap_world<M> {
 public:
  static constexpr simt::grid shape = one_warp;
  using heap_world<M>::heap_world;

  void reset(std::uint64_t seed) {
    heap_world<M>::reset(seed);
    served_ = 0;
  }

  void lane() {
    const simt::atomic_ref<std::uint32_t> served(served_);
    if (simt::lane_id() % 2 == 0) {
      std::byte* block = this->must_take(this->heap.size(0));
      this->give(block);
      served.fetch_add(1, simt::order::relaxed);
    } else {
      // Ends: the even lanes wait for nobody.
      while (served.load(simt::order::relaxed) != case_lanes / 2) simt::backoff(1);
      this->give(this->must_take(this->heap.size(0)));
    }
  }

 private:
  alignas(8) std::uint32_t served_ = 0;
};

/// Each lane holds blocks of two sizes at once, others than its neighbours.
template <class M>
class mixed_sizes : public heap_world<M> {
 public:
  using heap_world<M>::heap_world;

  void lane() {
    const auto rank = simt::thread_rank();
    std::byte* first = this->must_take(this->heap.size(rank));
    std::byte* second = this->must_take(this->heap.size(rank + 1));
    this->give(first);
    std::byte* third = this->must_take(this->heap.size(rank + 2));
    this->give(second);
    this->give(third);
  }
};

/// Each lane frees the block of a lane of the other warp, which gets it through a mailbox.
template <class M>
class cross_free : public heap_world<M> {
 public:
  using heap_world<M>::heap_world;

  void reset(std::uint64_t seed) {
    heap_world<M>::reset(seed);
    boxes_ = {};
  }

  void lane() {
    constexpr std::uint64_t nothing = 1;  // no block's address
    for (int round = 0; round < 2; ++round) {
      const auto rank = simt::thread_rank();
      std::byte* mine = this->must_take(this->heap.size(0));
      simt::atomic_ref(box(round, rank))
          .store(mine == nullptr ? nothing : reinterpret_cast<std::uint64_t>(mine),
                 simt::order::release);
      // Ends: the other lane has put its block into the box before it waits itself.
      const simt::atomic_ref<std::uint64_t> theirs(box(round, (rank + 4) % case_lanes));
      std::uint64_t found = theirs.load(simt::order::acquire);
      while (found == 0) {
        simt::backoff(1);
        found = theirs.load(simt::order::acquire);
      }
      if (found != nothing) this->heap.give(reinterpret_cast<std::byte*>(found));
    }
  }

 private:
  std::uint64_t& box(int round, std::uint64_t rank) {
    return boxes_[static_cast<std::size_t>(round) * case_lanes + rank];
  }
  alignas(8) std::array<std::uint64_t, 2 * case_lanes> boxes_{};
};

/// Each lane takes and frees at random, two blocks at most at a time.
template <class M>
class churn : public heap_world<M> {
 public:
  using heap_world<M>::heap_world;

  void reset(std::uint64_t seed) {
    heap_world<M>::reset(seed);
    seed_ = seed;
  }

  void lane() {
    random_sequence random(mix64(seed_) ^ mix64(simt::thread_rank() + 1));
    std::byte* held[2] = {};
    for (int step = 0; step < 6; ++step) {
      std::byte*& slot = held[random.below(2)];
      if (slot != nullptr) {
        this->heap.give(slot);
        slot = nullptr;
      } else {
        slot = this->must_take(this->heap.size(random.next()));
      }
    }
    for (std::byte* block : held) this->give(block);
  }

 private:
  std::uint64_t seed_ = 0;
};

/// A heap that is full but for `free_blocks` blocks.
template <class M>
class nearly_full : public heap_world<M> {
 public:
  nearly_full(const setup<M>& how, int free_blocks) : heap_world<M>(how), free_(free_blocks) {
    this->heap.fill_quietly();
    free_ = free_ < this->heap.capacity() ? free_ : this->heap.capacity();
    this->heap.empty_quietly(this->heap.capacity() - free_);
    this->heap.keep_state();
  }

 protected:
  /// The blocks that were free can still be had, no more and no less, and again when they were
  /// freed once more.
  std::string recount() {
    std::string wrong = this->heap.problem();
    for (int round = 0; round < 2 && wrong.empty(); ++round) {
      this->heap.fill_quietly();
      if (this->heap.blocks().count() != free_) {
        return std::to_string(this->heap.blocks().count()) + " blocks can be had, and " +
               std::to_string(free_) + " were free";
      }
      this->heap.empty_quietly();
      wrong = this->heap.problem();
    }
    return wrong;
  }

  int free_;
};

/// As many free blocks as lanes, so all lanes work on the same few words.
template <class M>
class contention : public nearly_full<M> {
 public:
  explicit contention(const setup<M>& how) : nearly_full<M>(how, case_lanes) {}

  void lane() {
    for (int round = 0; round < 3; ++round) {
      std::byte* block = this->heap.take(this->heap.size(0));
      if (block != nullptr) this->heap.give(block);
    }
  }
  std::string verdict() { return this->recount(); }
};

/// Fewer free blocks than lanes: exactly that many lanes get one.
template <class M>
class out_of_memory_case : public nearly_full<M> {
 public:
  explicit out_of_memory_case(const setup<M>& how) : nearly_full<M>(how, 3) {}

  void lane() { this->heap.take(this->heap.size(0)); }

  std::string verdict() {
    const int got = this->heap.blocks().count();
    if (got > this->free_ || (this->heap.how().exact && got != this->free_)) {
      return std::to_string(got) + " lanes got a block, and " + std::to_string(this->free_) +
             " were free";
    }
    return this->recount();
  }
};

/// Lanes of one warp ask until they get a block; those of the other one free theirs meanwhile.
template <class M>
class wait_for_memory : public nearly_full<M> {
 public:
  explicit wait_for_memory(const setup<M>& how) : nearly_full<M>(how, case_lanes / 2) {}

  void reset(std::uint64_t seed) {
    nearly_full<M>::reset(seed);
    this->heap.fill_quietly();
    for (int i = 0; i < case_lanes / 2; ++i) {
      mine_[i] = i < this->heap.blocks().count() ? this->heap.blocks().at(i).start : nullptr;
    }
  }

  void lane() {
    const auto rank = simt::thread_rank();
    if (rank < case_lanes / 2) {
      if (mine_[rank] != nullptr) this->heap.give(mine_[rank]);
    } else if (mine_[rank - case_lanes / 2] != nullptr) {
      // Ends: there is a block for each lane that waits, as soon as the others have freed theirs.
      while (this->heap.take(this->heap.size(0)) == nullptr) simt::backoff(1);
    }
  }
  std::string verdict() { return this->recount(); }

 private:
  std::array<std::byte*, case_lanes / 2> mine_{};
};

/// All lanes take until there is nothing left; then everything is freed and taken once more.
template <class M>
class fill : public heap_world<M> {
 public:
  using heap_world<M>::heap_world;

  void lane() {
    while (this->heap.take(this->heap.size(0)) != nullptr) {
    }
  }

  std::string verdict() {
    auto& all = this->heap;
    const int got = all.blocks().count();
    std::string wrong = all.problem();
    if (wrong.empty()) wrong = all.wrong_capacity();
    if (all.how().exact && got != all.capacity()) wrong = miscount(got);
    if (wrong.empty() && got != all.capacity()) {
      all.fill_quietly();
      if (all.blocks().count() != all.capacity()) wrong = miscount(all.blocks().count());
    }
    if (!wrong.empty() || !M::about.frees) return wrong;
    all.empty_quietly();
    wrong = all.problem();
    if (wrong.empty() && all.fill_quietly() != all.capacity()) {
      wrong = miscount(all.blocks().count()) + ", once it was emptied";
    }
    return wrong.empty() ? all.problem() : wrong;
  }

 private:
  std::string miscount(int got) const {
    return std::to_string(got) + " blocks were had from a heap that holds " +
           std::to_string(this->heap.capacity());
  }
};

/// All cases that the manager's capabilities allow.
template <class M>
std::vector<named_case> manager_cases(const setup<M>& how) {
  std::vector<named_case> cases{
      case_of<malloc_free<M, two_warps>>("malloc_free", how),
      case_of<malloc_free<M, one_warp>>("one_warp", how),
      case_of<divergent<M>>("divergent", how),
      case_of<mixed_sizes<M>>("mixed_sizes", how),
      case_of<fill<M>>("fill", how),
  };
  if (M::about.frees && how.reuses) {
    cases.push_back(case_of<cross_free<M>>("cross_free", how));
    cases.push_back(case_of<churn<M>>("churn", how));
    cases.push_back(case_of<contention<M>>("contention", how));
    cases.push_back(case_of<out_of_memory_case<M>>("out_of_memory", how));
    cases.push_back(case_of<wait_for_memory<M>>("wait_for_memory", how));
  }
  return cases;
}

template <class M>
subject manager_subject(const std::string& name, const setup<M>& how) {
  return {name, subject_kind::manager, manager_cases(how), "", ""};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
